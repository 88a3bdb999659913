/**
 * The names of the newest members, whose batch is not full yet: they are not in the index of names, and each
 * search makes another of them, in memory.
 */
import type { Connection } from '../engine/connection.ts';
import { nextSql } from '../schema/declared-totals.ts';
import { wordsOnlySql } from '../schema/indexed-names.ts';

/** SELECT of members in either index. @param condition besides `@match` */
export const hitsSql = (columns: string, condition = ''): string =>
  ['member_names', 'new_names']
    .map((index) => `SELECT ${columns} FROM ${index} WHERE ${index} MATCH @match ${condition}`)
    .join(' UNION ALL ');

/** @returns what reads them, in the transaction of a search */
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
