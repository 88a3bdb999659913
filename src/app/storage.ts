/** Storage as the program configures it: its location, the system's clock, the time zone. */

import type { Config } from '../config.ts';
import type { Clock } from '../runtime/clock.ts';
import { Scheduler } from '../runtime/scheduler.ts';
import type { CommitMeasure, EndOfIteration, Storage } from '../store/contract/storage.ts';
import { openStorage } from '../store/sqlite/storage.ts';

export { timeZoneOf, toStorageError } from '../store/sqlite/storage.ts';

/** @param scheduler of the registry that it serves; a command needs none */
export const openConfiguredStorage = (
  config: Pick<Config, 'storage' | 'zone'> & { readonly isZoneSet?: boolean },
  clock: Clock,
  scheduler: EndOfIteration = new Scheduler(),
  measureCommit?: CommitMeasure,
): Storage => {
  const zone = config.isZoneSet === false ? undefined : config.zone;
  return openStorage(config.storage, { clock, scheduler, zone, measureCommit });
};
