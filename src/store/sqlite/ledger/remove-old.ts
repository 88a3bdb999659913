/** Retention: the beginning of each chain goes when its time is over (docs/ledger.md#retention). */
import type { LedgerChain } from '../../contract/access-ledger.ts';
import type { Connection } from '../engine/connection.ts';
import { type BatchRow, idOf, listChains, listPeriods, type PeriodRow } from './ledger-rows.ts';
import { destroyMonthKeys } from './month-keys.ts';

export interface RemovalTimes {
  /** Epoch milliseconds: what was read before is removed. */
  readonly beforeMs: number;
  /** Instants after it are of a clock that was ahead, and say nothing. */
  readonly nowMs: number;
}

/** So many batches are removed in one transaction: readings wait for it. */
const BATCHES_AT_ONCE = 500;

/**
 * Removes the next part of what is old: appending goes on between the parts. In the end the keys go that have
 * hashed nothing that is left.
 * @returns how many readings that were; 0 when nothing is old any more
 * @throws the driver's error
 */
export function removeOldReadings(db: Connection, keysFile: string, times: RemovalTimes): number {
  for (const chain of listChains(db)) {
    const removed = removePart(db, chain, times);
    if (removed > 0) return removed;
  }
  const needed = listChains(db).flatMap(({ chain }) => listPeriods(db, chain).map(({ key_id }) => key_id));
  destroyMonthKeys(keysFile, { needed, beforeMs: times.beforeMs });
  return 0;
}

type Dated = Omit<BatchRow, 'entries'>;

function removePart(db: Connection, { chain, removedThrough }: LedgerChain, times: RemovalTimes): number {
  const last = findLastOld(db, chain, times);
  if (last === undefined) return 0;
  const through = last.id - idOf(chain, 0) + last.count - 1;
  const ended = listPeriods(db, chain).filter(endedBy(db, chain, through));
  db.transaction.immediate(() => {
    db.run('DELETE FROM ledger_batches WHERE id > ? AND id <= ?', [idOf(chain, 0), last.id]);
    for (const { first } of ended)
      db.run('DELETE FROM ledger_periods WHERE chain_id = ? AND first = ?', [chain, first]);
    db.run('UPDATE ledger_chains SET removed_through = ?, removed_hash = ?, removed_at = ? WHERE id = ?', [
      through,
      last.hash,
      times.nowMs,
      chain,
    ]);
  });
  return through - removedThrough;
}

/** Whether all of a period goes. The last one stays: the next entry may be of its month. */
function endedBy(db: Connection, chain: number, through: number): (period: PeriodRow) => boolean {
  const firsts = listPeriods(db, chain).map(({ first }) => first);
  return ({ first }) => {
    const next = firsts.find((each) => each > first);
    return next !== undefined && next <= through + 1;
  };
}

/**
 * The last of the first batches that are old. A batch is as old as the newest instant that it or one before
 * it has, of those that are not ahead of now: a clock that stepped back, or was ahead for a while, changes
 * nothing.
 */
function findLastOld(db: Connection, chain: number, { beforeMs, nowMs }: RemovalTimes): Dated | undefined {
  const rows = db.iterate<Dated>(
    `SELECT id, count, first_time, last_time, hash FROM ledger_batches WHERE id > ? AND id < ? ORDER BY id`,
    [idOf(chain, 0), idOf(chain + 1, 0)],
  );
  let newestMs = Number.NEGATIVE_INFINITY;
  let found: Dated | undefined;
  let count = 0;
  for (const row of rows) {
    const ownMs = [row.last_time, row.first_time].find((ms) => ms <= nowMs);
    newestMs = Math.max(newestMs, ownMs ?? Number.NEGATIVE_INFINITY);
    if (newestMs >= beforeMs) break;
    if (newestMs > Number.NEGATIVE_INFINITY) found = row;
    if (found !== undefined && ++count === BATCHES_AT_ONCE) break;
  }
  return found;
}
