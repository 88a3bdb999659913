/** What keeps the indexes of names complete where triggers do not: after large imports and erasures. */
import type { Connection } from '../engine/connection.ts';
import { isBusy } from '../engine/errors.ts';
import { nextSql } from '../schema/declared-totals.ts';
import { addNewRows } from '../statistics/stored-totals.ts';

/** Members of one transaction: it holds the lock for about 50 ms. */
const BATCH = 10_000;

/** SQL of the first member that an import has left unindexed; none, when nothing is left. */
export const FIRST_UNINDEXED = 'SELECT first_id FROM unindexed_names';

/** Of a large import: its members, and those of a batch that is not full, are indexed after its lock. */
export function leaveUnindexed(db: Connection): void {
  db.exec(`INSERT INTO main.unindexed_names (first_id) SELECT ${nextSql('members')}
    WHERE NOT EXISTS (SELECT 1 FROM main.unindexed_names)`);
}

/**
 * Indexes the members that are not, in small transactions, so that other writers wait only for one of them.
 * @param pause called between two transactions
 * @param batch members of one transaction
 * @param most transactions
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

/** Indexes what a killed import has left. @param options as `indexNames`; without them, all at once */
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

/** Writes the indexes anew: what was deleted from one stays in it until its parts are merged. */
export function rebuildNames(db: Connection): void {
  db.transaction.immediate(() => {
    addNewRows(db, 'members');
    for (const index of ['member_names', 'cooperative_names'])
      db.exec(`INSERT INTO main.${index} (${index}) VALUES ('rebuild')`);
    db.exec('DELETE FROM main.unindexed_names');
  });
}
