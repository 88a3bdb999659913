/** Full-text indexes of names: format, match expressions, and updates that triggers do not make. */

import type { Connection } from '../../sqlite/connection.ts';
import { addNewRows } from '../../sqlite/counts.ts';
import { nextSql } from '../../sqlite/declared-totals.ts';
import type { CooperativeIds } from '../../sqlite/list-pages.ts';
import { isBusy } from '../../sqlite/sqlite-errors.ts';
import { MEMBER_STATUSES, type MemberStatus } from '../members.ts';

// Format and match expressions. Existing files have this format, so a change needs a migration that rebuilds
// the index (docs/decisions/0027-search.md).

/** First character of index words that are not names. It is a control character, so no name contains it. */
const MARK = 31;
/** Range of characters that the tokenizer treats as letters. Two of them encode the id of a cooperative. */
const [FIRST_LETTER, LETTERS] = [0x4e00, 20_000];

const wordOfCooperative = (id: number): string =>
  String.fromCharCode(MARK, FIRST_LETTER + Math.floor(id / LETTERS), FIRST_LETTER + (id % LETTERS));

/** Each status begins with a different letter. */
const wordOfStatus = (status: string): string => String.fromCharCode(MARK) + status.slice(0, 1);

const TOKENIZER = `unicode61 remove_diacritics 2 separators 'ʼ' tokenchars '${String.fromCharCode(MARK)}'`;

/** @param options FTS5 options, each preceded by a comma */
export const wordsOnlySql = (options: string): string =>
  `USING fts5(words, detail = none, columnsize = 0, tokenize = "${TOKENIZER}"${options})`;

const quote = (word: string): string => `"${word}"`;
const anyOf = (words: readonly string[]): string =>
  words.length === 1 ? (words[0] as string) : `(${words.join(' OR ')})`;

/** Status of nearly all members. Excluding the other statuses is faster than matching this status. */
const MOST_COMMON: MemberStatus = 'active';
const OTHERS = MEMBER_STATUSES.filter((status) => status !== MOST_COMMON);
// NOT binds tighter than AND, so the exclusion applies to the last term only. The result is the same.
const NOT_OTHERS = ` NOT ${anyOf(OTHERS.map(wordOfStatus).map(quote))}`;

export const matchOfWords = (words: readonly string[]): string =>
  words.map((word) => `${quote(word)}*`).join(' AND ');

/** @param spellings possible spellings of each word */
export const matchOfSpellings = (spellings: readonly (readonly string[])[]): string =>
  spellings.map((words) => anyOf(words.map((word) => `${quote(word)}*`))).join(' AND ');

/**
 * Returns the result of an index query, or `nothing` if FTS5 refuses the query. FTS5 treats a word as a
 * phrase if the word has a letter that FTS5's Unicode tables lack. This index does not support phrases.
 */
export function orNothing<T>(find: () => T, nothing: T): T {
  try {
    return find();
  } catch (error) {
    if (/^fts5: phrase queries/.test((error as Error).message)) return nothing;
    throw error;
  }
}

/** @param cooperatives undefined or at least one cooperative */
export const matchOf = (words: readonly string[], cooperatives: CooperativeIds, status?: string): string =>
  `${[
    matchOfWords(words),
    ...(cooperatives === undefined ? [] : [anyOf(cooperatives.map(wordOfCooperative).map(quote))]),
    ...(status === undefined || status === MOST_COMMON ? [] : [quote(wordOfStatus(status))]),
  ].join(' AND ')}${status === MOST_COMMON ? NOT_OTHERS : ''}`;

// Indexing of members that an import left unindexed

/** Members per transaction, which holds the lock for about 50 ms. */
const BATCH = 10_000;

/** SELECT of the first member that an import left unindexed; no row if the index is complete. */
export const FIRST_UNINDEXED = 'SELECT first_id FROM unindexed_names';

/** Marks the members of a large import, and all unindexed older members, to be indexed after the commit. */
export const leaveUnindexed = (db: Connection): void =>
  db.exec(`INSERT INTO main.unindexed_names (first_id) SELECT ${nextSql('members')}
    WHERE NOT EXISTS (SELECT 1 FROM main.unindexed_names)`);

interface Indexing {
  /** Called after each transaction. */
  readonly pause: () => void;
  /** Set by tests. */
  readonly batch?: number;
  /** Maximum number of transactions. */
  readonly most?: number;
}

/** Indexes the marked members in small transactions. Other writers wait for one transaction at most. */
export function indexNames(db: Connection, { pause, batch = BATCH, most = Infinity }: Indexing): void {
  for (let i = 0; i < most && db.has('main.unindexed_names'); i += 1) {
    db.transaction.immediate(() => indexNext(db, batch));
    pause();
  }
}

/** Indexes the members that a killed import left unindexed, unless the registry is busy. */
export function indexLeftNames(db: Connection, options: Indexing = { pause: () => undefined }): void {
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

/** Rebuilds the indexes without deleted words, which FTS5 removes only when it merges segments. */
export function rebuildNames(db: Connection): void {
  db.transaction.immediate(() => {
    addNewRows(db, 'members');
    for (const index of ['member_names', 'cooperative_names'])
      db.exec(`INSERT INTO main.${index} (${index}) VALUES ('rebuild')`);
    db.exec('DELETE FROM main.unindexed_names');
  });
}

// The stored index gets new members in batches, and so lacks the newest ones. Each search also indexes the
// names of the newest members in memory.

/**
 * SELECT from both indexes.
 * @param condition to append to the condition on `@match`
 */
export const hitsSql = (columns: string, condition = ''): string =>
  ['member_names', 'new_names']
    .map((index) => `SELECT ${columns} FROM ${index} WHERE ${index} MATCH @match ${condition}`)
    .join(' UNION ALL ');

/** @returns a function that fills the index in memory; call it in the transaction of each search */
export function openNewNames(db: Connection): () => void {
  db.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.new_names ${wordsOnlySql(", content = ''")}`);
  const clear = db.prepare<[]>("INSERT INTO temp.new_names (new_names) VALUES ('delete-all')");
  const read = db.prepare<[]>(`INSERT INTO temp.new_names (rowid, words)
    SELECT id, words FROM main.member_names_source WHERE id >= ${nextSql('members')}`);
  return () => {
    clear.run();
    read.run();
  };
}
