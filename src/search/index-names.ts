/** Completes the full-text indexes of names where triggers do not: after large imports and erasures. */

import { wordsOnlySql } from '../registry/stores/member-filters.ts';
import type { Connection } from '../sqlite/connection.ts';
import { addNewRows } from '../sqlite/counts.ts';
import { nextSql } from '../sqlite/declared-totals.ts';
import { isBusy } from '../sqlite/sqlite-errors.ts';

/** Members per transaction: it holds the lock for about 50 ms. */
const BATCH = 10_000;

/** SQL of the first member that an import left unindexed; no row if none. */
export const FIRST_UNINDEXED = 'SELECT first_id FROM unindexed_names';

/**
 * Marks the new members of a large import, and those of an incomplete batch, to be indexed after its lock.
 */
export function leaveUnindexed(db: Connection): void {
  db.exec(`INSERT INTO main.unindexed_names (first_id) SELECT ${nextSql('members')}
    WHERE NOT EXISTS (SELECT 1 FROM main.unindexed_names)`);
}

/**
 * Indexes the remaining members in small transactions, so that other writers wait for one of them at most.
 * @param pause called between two transactions
 * @param batch members per transaction
 * @param most maximum number of transactions
 */
export function indexNames(
  db: Connection,
  {
    pause,
    batch = BATCH,
    most = Number.POSITIVE_INFINITY,
  }: { pause: () => void; batch?: number; most?: number },
): void {
  for (let i = 0; i < most && db.has('main.unindexed_names'); i += 1) {
    db.transaction.immediate(() => indexNext(db, batch));
    pause();
  }
}

/**
 * Indexes the members that a killed import left, unless the registry is busy.
 * @param options as for `indexNames`; by default, everything without pauses
 */
export function indexLeftNames(
  db: Connection,
  options: Parameters<typeof indexNames>[1] = { pause: () => undefined },
): void {
  try {
    indexNames(db, options);
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

function indexNext(db: Connection, batch: number): void {
  const first = db.value<number | undefined>(FIRST_UNINDEXED);
  if (first === undefined) return;
  const last = db.value<number | null>(
    `SELECT max(id) FROM (SELECT id FROM main.members WHERE id >= ? AND id < ${nextSql('members')}
       ORDER BY id LIMIT ?)`,
    [first, batch],
  );
  if (last === null) {
    db.exec('DELETE FROM main.unindexed_names');
    return;
  }
  db.run(
    `INSERT INTO main.member_names (rowid, words)
     SELECT id, words FROM main.member_names_source WHERE id BETWEEN ? AND ?`,
    [first, last],
  );
  db.run('UPDATE main.unindexed_names SET first_id = ?', [last + 1]);
}

/** Rebuilds the indexes: deleted words stay in an index until its segments are merged. */
export function rebuildNames(db: Connection): void {
  db.transaction.immediate(() => {
    addNewRows(db, 'members');
    for (const index of ['member_names', 'cooperative_names'])
      db.exec(`INSERT INTO main.${index} (${index}) VALUES ('rebuild')`);
    db.exec('DELETE FROM main.unindexed_names');
  });
}

// Names of the newest members, whose batch is incomplete, are not in the stored index: each search builds a
// second index of them in memory.

/**
 * SELECT of matching members in both indexes.
 * @param condition in addition to `@match`
 */
export const hitsSql = (columns: string, condition = ''): string =>
  ['member_names', 'new_names']
    .map((index) => `SELECT ${columns} FROM ${index} WHERE ${index} MATCH @match ${condition}`)
    .join(' UNION ALL ');

/** @returns a function that fills the second index; call it in the transaction of a search */
export function openNewNames(db: Connection): () => void {
  db.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.new_names ${wordsOnlySql(", content = ''")}`);
  const forget = db.prepare<[]>("INSERT INTO temp.new_names (new_names) VALUES ('delete-all')");
  const read = db.prepare<[]>(`INSERT INTO temp.new_names (rowid, words)
    SELECT id, words FROM main.member_names_source WHERE id >= ${nextSql('members')}`);
  return () => {
    forget.run();
    read.run();
  };
}
