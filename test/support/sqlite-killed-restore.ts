/**
 * Restores a backup and is killed, as by a power cut, after the given number of changes on disk.
 * Arguments: database, backup, number. It prints what it has changed, and ends with 0 when it is complete.
 */
import { restoreBackup } from '../../src/backup/restore-backup.ts';

const [, , database = '', folder = '', number = '0'] = process.argv;
let steps = 0;
const scope = { zone: undefined, monotonicMs: () => performance.now() };
const options = { replace: true, now: Date.now, systemUser: 'operator' };
await restoreBackup(database, folder, scope, options, (step) => {
  process.stdout.write(`${step}\n`);
  steps++;
  if (steps === Number(number)) process.kill(process.pid, 'SIGKILL');
});
