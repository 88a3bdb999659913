/** Thread that searches members, so that a long query blocks no requests. */

import type { MemberSearch } from '../registry/members.ts';
import { indexLeftNames } from '../registry/stores/name-index.ts';
import { letOthersWrite } from '../registry/stores/read-model.ts';
import { serveTasks } from '../runtime/task-thread.ts';
import { WAIT_MS } from '../sqlite/connection.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { openMemberSearch } from './member-search.ts';

/** A killed import leaves names unindexed. Each search indexes up to 15 batches, in about a second. */
const LEFT = { pause: letOthersWrite, most: 15 };

serveTasks((file: string) => {
  const db = openDatabase(file, { waitMs: WAIT_MS.serving });
  const search = openMemberSearch(db);
  return {
    members: (memberSearch: MemberSearch) => {
      indexLeftNames(db, LEFT);
      return search(memberSearch);
    },
  };
});
