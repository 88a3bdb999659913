/** The thread in which the desk does what takes long, as the commands of the same names do it. */
import { openConfiguredStorage } from '../../app/storage.ts';
import type { Config } from '../../config.ts';
import { systemClock } from '../../runtime/clock.ts';
import { serveTasks, type Tasks } from '../../runtime/task-thread.ts';
import { packageVersion } from '../../runtime/version.ts';

export type WorkSetup = Pick<Config, 'storage' | 'zone'>;

export interface BackupInput {
  /** The folder of all backups: this one gets a folder of its own in it, named by the time. */
  readonly parent: string;
  /** Epoch milliseconds. */
  readonly atMs: number;
  /** Where the part that is done is written, up to 1. */
  readonly progress: Float64Array<SharedArrayBuffer>;
}

const openTasks = (config: WorkSetup) => {
  const storage = openConfiguredStorage(config, systemClock);
  return {
    check: () => storage.check(),
    async duplicates() {
      const held = storage.openHeldData();
      try {
        return await held.findDuplicates();
      } finally {
        await held.close();
      }
    },
    async backup({ parent, atMs, progress }: BackupInput) {
      const folder = storage.datedFolderIn(parent, atMs);
      await storage.backUp(folder, {
        program: packageVersion(),
        now: () => atMs,
        onProgress(part) {
          progress[0] = part;
        },
      });
      const { fault, ledgerFault } = await storage.verifyBackup(folder, () => atMs);
      return { folder, fault: fault ?? ledgerFault };
    },
  } satisfies Tasks;
};

export type WorkTasks = ReturnType<typeof openTasks>;

serveTasks(openTasks);
