/** Members whose names are found once one letter of what was typed is put right. */
import { withOneTypo } from '../../../domain/values/typos.ts';
import type { Connection } from '../engine/connection.ts';
import { matchOfSpellings, orNothing } from './match.ts';

/** A typo in a shorter word makes another name. */
const SHORTEST = 4;
const PLAIN = /^[a-z]+$/;

/**
 * @param words as `parseSearch` gives them
 * @returns the ids of members in whose names all words begin words, one of them with a typo; so many at most
 */
export function findSimilar(db: Connection, words: readonly string[], most: number): number[] {
  const find = db.raw
    .prepare<[match: string, limit: number], number>(
      'SELECT rowid FROM main.member_names WHERE member_names MATCH ? ORDER BY rowid LIMIT ?',
    )
    .pluck();
  const found = new Set<number>();
  words.forEach((word, place) => {
    if (word.length < SHORTEST || !PLAIN.test(word)) return;
    const spellings = words.map((each, i) => (i === place ? withOneTypo(each) : [each]));
    for (const id of orNothing(() => find.all(matchOfSpellings(spellings), most), [])) found.add(id);
  });
  return [...found].slice(0, most);
}
