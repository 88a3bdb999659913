/** Faults of a mirror that its tests must notice. */
import type { Fault } from '../../../test/torture/faults.ts';

const FOLLOW = 'deploy/mirror/src/follow.ts';
const READ_AGAIN = 'deploy/mirror/src/read-again.ts';

export const KILLED_AT_COMMIT: Fault = {
  name: 'it is killed before a commit',
  file: 'deploy/mirror/src/database.ts',
  old: "await client.query('COMMIT');",
  planted: "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});",
};

export const POSITION_OUTSIDE: Fault = {
  name: 'the position is stored outside the transaction of the rows',
  file: FOLLOW,
  old: 'await database.transaction(async () => {\n    for (const kind of reloaded)',
  planted:
    'await database.setState({ sequence: last_sequence }); await database.transaction(async () => {\n' +
    '    for (const kind of reloaded)',
};

export const ERASURE_IGNORED: Fault = {
  name: 'an erasure is ignored',
  file: READ_AGAIN,
  old: 'else found.gone.push(id);',
  planted: 'else if (answer.gone !== ERASED) found.gone.push(id);',
};

export const MERGED_KEPT: Fault = {
  name: 'a merge keeps the old member',
  file: READ_AGAIN,
  old: 'else found.gone.push(id);',
  planted: "else if (!answer.gone.startsWith('Merged')) found.gone.push(id);",
};

export const NOT_VACUUMED: Fault = {
  name: 'rows of erased persons stay in the files',
  file: FOLLOW,
  old: 'VACUUM (FULL, ANALYZE)',
  planted: 'SELECT 1 --',
};

/** No fault, but a release before a column was added. */
export const EARLIER_RELEASE: Fault = {
  name: 'it lacks a column',
  file: 'deploy/mirror/src/kinds.ts',
  old: `reference: text("The cooperative's own number of the transaction."),`,
  planted: '',
};

export const CRASHING: Fault = {
  name: 'an error that nobody expects',
  file: FOLLOW,
  old: 'export async function step(mirror: Mirror): Promise<void> {\n',
  planted: "export async function step(mirror: Mirror): Promise<void> { throw new TypeError('planted');\n",
};

export const SHAPE_IGNORED: Fault = {
  name: 'the tables of another release are taken for its own',
  file: FOLLOW,
  old: ' || state.shape !== SHAPE',
  planted: '',
};
