/** What keeps the indexes of names complete where triggers do not: after large imports and erasures. */
import type { Connection } from '../engine/connection.ts';
import { isBusy } from '../engine/errors.ts';

/** Members of one transaction: it holds the lock for about 50 ms. */
const BATCH = 10_000;

/** SQL of the first member that no search can find yet; without a row, all can be found. */
export const FIRST_UNINDEXED = 'SELECT first_id FROM unindexed_names';

/** Before an import adds many members: theirs are not indexed while it holds the lock. */
export function leaveUnindexed(db: Connection, firstId: number): void {
  db.run(
    `INSERT INTO main.unindexed_names (first_id) SELECT ?
    WHERE NOT EXISTS (SELECT 1 FROM main.unindexed_names)`,
    [firstId],
  );
}

/**
 * Has the names of the members that one transaction adds indexed together, at its end: one by one, by the
 * trigger, they would cost each write two thirds more.
 * @returns to be called before a member is added
 */
export function openNewNames(db: Connection): () => void {
  const leave = db.prepare<[]>(
    `INSERT INTO unindexed_names (first_id) SELECT (SELECT coalesce(max(id), 0) + 1 FROM members)
     WHERE NOT EXISTS (SELECT 1 FROM unindexed_names)`,
  );
  const add = db.prepare<[]>(
    `INSERT INTO member_names (rowid, words) SELECT id, words FROM member_names_source
     WHERE id >= (SELECT first_id FROM unindexed_names)`,
  );
  const clear = db.prepare<[]>('DELETE FROM unindexed_names');
  /** False while names of an import are not indexed: those come first. */
  let isOwn = false;
  const index = (): void => {
    if (!isOwn) return;
    add.run();
    clear.run();
    isOwn = false;
  };
  return () => {
    if (leave.run().changes === 0) return;
    isOwn = true;
    db.transaction.doLast(index);
  };
}

/** What the dropped triggers would have done for new cooperatives. */
export function indexNewCooperatives(db: Connection, firstId: number): void {
  db.run(
    `INSERT INTO main.cooperative_names (rowid, words)
     SELECT id, words FROM main.cooperative_names_source WHERE id >= ?`,
    [firstId],
  );
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
    'SELECT max(id) FROM (SELECT id FROM main.members WHERE id >= ? ORDER BY id LIMIT ?)',
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
    for (const index of ['member_names', 'cooperative_names'])
      db.exec(`INSERT INTO main.${index} (${index}) VALUES ('rebuild')`);
    db.exec('DELETE FROM main.unindexed_names');
  });
}
