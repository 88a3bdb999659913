/**
 * Restores a backup and is killed, as by a power cut, after the given number of changes on disk.
 * Arguments: database, backup, number. It prints what it has changed, and ends with 0 when it is complete.
 */
import { restore } from '../../src/backup/restore-backup.ts';
import { Scheduler, systemClock } from '../../src/runtime/scheduler.ts';
import { Storage } from '../../src/sqlite/storage.ts';

const [, , database = '', folder = '', number = '0'] = process.argv;
let steps = 0;
const storage = new Storage(database, { clock: systemClock, scheduler: new Scheduler(), zone: undefined });
await restore(storage, folder, {
  replace: true,
  now: Date.now,
  systemUser: 'operator',
  onStep(step) {
    process.stdout.write(`${step}\n`);
    steps++;
    if (steps === Number(number)) process.kill(process.pid, 'SIGKILL');
  },
});
