/** Members whose names are found once one letter of what was typed is put right. */
import { withOneTypo } from '../../../domain/values/typos.ts';
import type { Connection } from '../engine/connection.ts';
import { matchOfSpellings, orNothing } from './match.ts';
import { hitsSql, openNewNames } from './new-names.ts';

/** A typo in a shorter word makes another name. */
const SHORTEST = 4;
const PLAIN = /^[a-z]+$/;

/**
 * @param words as `parseSearch` gives them
 * @returns the ids of members in whose names all words begin words, one of them with a typo; so many at most
 */
export function findSimilar(db: Connection, words: readonly string[], most: number): number[] {
  openNewNames(db)();
  const sql = `${hitsSql('rowid')} ORDER BY rowid LIMIT @most`;
  const find = (match: string) => db.values<number>(sql, { match, most });
  const found = new Set<number>();
  words.forEach((word, place) => {
    if (word.length < SHORTEST || !PLAIN.test(word)) return;
    const spellings = words.map((each, i) => (i === place ? withOneTypo(each) : [each]));
    for (const id of orNothing(() => find(matchOfSpellings(spellings)), [])) found.add(id);
  });
  return [...found].slice(0, most);
}
