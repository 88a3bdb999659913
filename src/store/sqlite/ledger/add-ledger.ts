/**
 * Adds the readings of another copy of a ledger: a restore or a promotion never replaces or drops any. A
 * damaged copy gives what can be read of it.
 */
import type { AddedLedger, LedgerChain } from '../../contract/access-ledger.ts';
import type { Connection } from '../engine/connection.ts';
import { isDamaged } from '../engine/errors.ts';
import { withDatabase } from '../engine/open-database.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import { LEDGER_SCHEMA } from '../schema/migrations/ledger.ts';
import type { LedgerFiles } from './ledger-reader.ts';
import {
  addChain,
  addPeriod,
  endOf,
  idOf,
  insertRow,
  type KeyedRow,
  listChains,
  listPeriods,
  readRows,
} from './ledger-rows.ts';
import { addMonthKeys } from './month-keys.ts';

/** So many rows are added in one transaction. */
const ROWS_AT_ONCE = 1_000;

/**
 * Adds what another ledger has and this one lacks, under its origin; what both have stays as it is. Nothing
 * that retention has removed comes back. May be repeated after it was killed.
 * @param target created when it is missing; none of its chains is open then, so that the next reading begins
 * one of its own
 * @throws StorageError when one of them cannot be opened; the driver's error
 */
export function addLedger(target: LedgerFiles, source: LedgerFiles): AddedLedger {
  addMonthKeys(target.keysFile, source.keysFile);
  const reading = { readOnly: true, waitMs: WAIT_MS.command };
  return withDatabase(source.ledgerFile, reading, (from) =>
    withDatabase(
      target.ledgerFile,
      { schema: LEDGER_SCHEMA, create: true, waitMs: WAIT_MS.command },
      (to) => {
        const chains = listChains(from).map((chain) => addChainOf(to, from, chain));
        return {
          added: chains.reduce((sum, { added }) => sum + added, 0),
          differing: chains.filter(({ isDiffering }) => isDiffering).map(({ origin }) => origin),
          isDamaged: chains.some((chain) => chain.isDamaged),
        };
      },
    ),
  );
}

function addChainOf(to: Connection, from: Connection, source: LedgerChain) {
  const ofOrigin = listChains(to).filter(({ origin }) => origin === source.origin);
  const agreeing = ofOrigin.find((chain) => agree(to, chain, from, source));
  const chain = agreeing?.chain ?? addChain(to, source.origin, false, source);
  const outcome = { added: 0, isDamaged: false };
  const insert = insertRow(to);
  let part: KeyedRow[] = [];
  const write = () => {
    to.transaction.immediate(() => {
      for (const row of part) insert(row);
    });
    part = [];
  };
  for (const period of listPeriods(from, source.chain)) addPeriod(to, chain, period);
  const has = to.prepare<[number], unknown>('SELECT 1 FROM ledger_batches WHERE id = ?');
  const removedThrough = agreeing?.removedThrough ?? 0;
  for (const row of readableRows(from, source.chain, outcome)) {
    const first = row.id - idOf(source.chain, 0);
    const id = idOf(chain, first);
    if (first <= removedThrough || has.get(id) !== undefined) continue;
    outcome.added += row.count;
    if (part.push({ ...row, id }) === ROWS_AT_ONCE) write();
  }
  write();
  const isDiffering = agreeing === undefined && ofOrigin.length > 0;
  return { origin: source.origin, isDiffering, added: outcome.added, isDamaged: outcome.isDamaged };
}

/** Whether one of two chains of an origin is the beginning of the other: a hash commits to all before it. */
function agree(to: Connection, target: LedgerChain, from: Connection, source: LedgerChain): boolean {
  const [ours, theirs] = [endOf(to, target), readableEnd(from, source)];
  // Retention has removed all of it here: there is nothing left to compare with.
  if (theirs.next <= target.removedThrough) return true;
  if (ours.next === theirs.next) return ours.hash === theirs.hash;
  return ours.next > theirs.next
    ? hashAt(to, target, theirs.next) === theirs.hash
    : hashAt(from, source, ours.next) === ours.hash;
}

/** Where a chain ends; of a damaged one, the end of what can be read. */
function readableEnd(db: Connection, source: LedgerChain): { readonly next: number; readonly hash: string } {
  try {
    return endOf(db, source);
  } catch (error) {
    if (!isDamaged(error)) throw error;
  }
  let end = { next: source.removedThrough + 1, hash: source.removedHash };
  for (const { id, count, hash } of readableRows(db, source.chain, { isDamaged: false }))
    end = { next: id - idOf(source.chain, 0) + count, hash };
  return end;
}

/** The hash of the batch that ends before a sequence. */
function hashAt(db: Connection, { chain, removedThrough, removedHash }: LedgerChain, next: number) {
  if (next <= removedThrough + 1) return next === removedThrough + 1 ? removedHash : undefined;
  const row = db.row<{ hash: string; id: number; count: number }>(
    'SELECT id, count, hash FROM ledger_batches WHERE id > ? AND id < ? ORDER BY id DESC LIMIT 1',
    [idOf(chain, 0), idOf(chain, next)],
  );
  return row !== undefined && row.id + row.count === idOf(chain, next) ? row.hash : undefined;
}

/** Rows of a chain, past what of the file is damaged. */
function* readableRows(db: Connection, chain: number, outcome: { isDamaged: boolean }): Generator<KeyedRow> {
  let next: number | undefined = 0;
  // By pages first; one by one around what is damaged.
  for (let pageRows: number | undefined; next !== undefined; ) {
    try {
      for (const row of readRows(db, chain, next, pageRows)) {
        yield row;
        next = row.id - idOf(chain, 0) + row.count;
      }
      return;
    } catch (error) {
      if (!isDamaged(error)) throw error;
      if (pageRows === 1) next = findReadable(db, chain, next);
      outcome.isDamaged = true;
      pageRows = 1;
    }
  }
}

/** The sequence from which rows can be read on, past the next one; undefined when none can. */
function findReadable(db: Connection, chain: number, next: number): number | undefined {
  const ids = db.iterate<{ id: number }>(
    'SELECT id FROM ledger_batches WHERE id >= ? AND id < ? ORDER BY id DESC',
    [idOf(chain, next), idOf(chain + 1, 0)],
  );
  let [lowest, second]: (number | undefined)[] = [];
  try {
    for (const { id } of ids) [lowest, second] = [id, lowest];
    // The row itself is damaged, which is the next one.
    return second === undefined ? undefined : second - idOf(chain, 0);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return lowest === undefined ? undefined : lowest - idOf(chain, 0);
  }
}
