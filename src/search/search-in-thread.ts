/** Searches outside the event loop, one at a time. */

import type { MemberSearch } from '../registry/members.ts';
import type { ListedMember, Searching } from '../registry/registry-store.ts';
import { moduleBeside, TaskThread } from '../runtime/task-thread.ts';
import type { Page } from '../values/errors.ts';

const MOST_WAITING = 32;

/** @param file registry file; the thread opens it with the first search */
export function openSearching(file: string): Searching {
  const thread = new TaskThread<{ members: (asked: MemberSearch) => Page<ListedMember> }>({
    module: moduleBeside(import.meta.url, 'search-thread'),
    setup: file,
    maxWaiting: MOST_WAITING,
  });
  return {
    members: (asked) => thread.run('members', asked),
    waiting: () => thread.underWay,
    close: () => thread.close(),
  };
}
