/** What `status` and the desk know of how a registry is doing. */

import type { Config } from '../../config.ts';
import type { Clock } from '../../runtime/clock.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import type { Storage } from '../../store/contract/storage.ts';
import type { StatusFacts } from './attention.ts';

/**
 * @param command how a command is written that acts on the same registry
 * @throws StorageError (as rejection) when there is no registry of this release
 */
export async function readFacts(
  storage: Storage,
  {
    zone,
    accessLedger: isLedgerOn,
    accessLedgerDays: days,
    clock,
  }: Pick<Config, 'zone' | 'accessLedger' | 'accessLedgerDays'> & { readonly clock: Clock },
  command: StatusFacts['command'],
): Promise<StatusFacts> {
  const now = nowSeconds(clock);
  // Before anything is opened here.
  const isServed = storage.isServed();
  const condition = await storage.readCondition();
  const hasKeys = storage.hasKeys();
  const store = hasKeys ? storage.openKeys('manage') : undefined;
  try {
    const [keys, uses] = [store?.list(now) ?? [], store?.uses(now) ?? []];
    const { location, ledgerFolder } = storage;
    const found = storage.readLedgerCondition({ nowMs: now * 1000, days });
    const ledger = { isLedgerOn, ledgerFolder, ledger: found };
    const lostKeysFile = storage.findLostKeys();
    return { location, condition, ...ledger, lostKeysFile, keys, uses, isServed, now, zone, command };
  } finally {
    store?.close();
  }
}
