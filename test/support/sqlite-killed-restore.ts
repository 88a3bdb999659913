/**
 * Restores a backup and is killed, as by a power cut, after the given number of changes on disk.
 * Arguments: database, backup, number. It prints what it has changed, and ends with 0 when it is complete.
 */
import { restoreBackup } from '../../src/store/sqlite/backup/restore-backup.ts';

const [, , database = '', folder = '', number = '0'] = process.argv;
let steps = 0;
await restoreBackup(database, folder, { replace: true, now: Date.now }, (step) => {
  process.stdout.write(`${step}\n`);
  steps++;
  if (steps === Number(number)) process.kill(process.pid, 'SIGKILL');
});
