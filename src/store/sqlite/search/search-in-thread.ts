/** Searches away from the event loop, one after the other. */
import type { Page } from '../../../domain/values/page.ts';
import { moduleBeside, TaskThread } from '../../../runtime/task-thread.ts';
import type { ListedMember } from '../../contract/registry.ts';
import type { MemberSearch } from './member-search.ts';

const MOST_WAITING = 32;

export interface Searching {
  /** @throws RegistryError (as a rejection) `unavailable` when too many wait, or while names are missing */
  members(asked: MemberSearch): Promise<Page<ListedMember>>;
  /** How many are under way. */
  waiting(): number;
  close(): Promise<void>;
}

/** @param file of the registry; the thread opens it with the first search */
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
