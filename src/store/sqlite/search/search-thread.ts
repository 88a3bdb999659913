/** The module of the thread in which members are searched: a query of theirs cannot be interrupted. */
import { serveTasks } from '../../../runtime/task-thread.ts';
import { openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { letOthersWrite } from '../read-model/refresh.ts';
import { indexLeftNames } from './index-names.ts';
import { type MemberSearch, openMemberSearch } from './member-search.ts';

/** So much of what a killed import has left is made up for by each search: a second. */
const LEFT = { pause: letOthersWrite, most: 15 };

serveTasks((file: string) => {
  const db = openDatabase(file, { waitMs: WAIT_MS.serving });
  const search = openMemberSearch(db);
  return {
    members: (asked: MemberSearch) => {
      indexLeftNames(db, LEFT);
      return search(asked);
    },
  };
});
