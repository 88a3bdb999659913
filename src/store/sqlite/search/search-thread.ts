/** The module of the thread in which members are searched: a query of theirs cannot be interrupted. */
import { serveTasks } from '../../../runtime/task-thread.ts';
import { openDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { openMemberSearch } from './member-search.ts';

serveTasks((file: string) => ({
  members: openMemberSearch(openDatabase(file, { readOnly: true, waitMs: WAIT_MS.command })),
}));
