/** The expression by which the index of names finds what a search asks for. */
import { MEMBER_STATUSES, type MemberStatus } from '../../../domain/membership/members.ts';
import type { Connection } from '../engine/connection.ts';
import type { Groups } from '../lists/groups.ts';
import { LONGEST_PREFIX, wordOfCooperative, wordOfStatus } from '../schema/indexed-names.ts';

/** With more words than this that begin alike, reading all of them first costs less than naming each. */
const MOST_COMPLETIONS = 100;

const quote = (word: string): string => `"${word}"`;
const anyOf = (words: readonly string[]): string =>
  words.length === 1 ? (words[0] as string) : `(${words.join(' OR ')})`;

/** Nearly all members have it: stepping through all of them takes longer than leaving out the others. */
const MOST_COMMON: MemberStatus = 'active';
const OTHERS = MEMBER_STATUSES.filter((status) => status !== MOST_COMMON);
// NOT binds tighter than AND, so that it is of the last word; the rows are the same.
const NOT_OTHERS = ` NOT ${anyOf(OTHERS.map(wordOfStatus).map(quote))}`;

export const matchOfWords = (words: readonly string[]): string =>
  words.map((word) => `${quote(word)}*`).join(' AND ');

/**
 * What a query of an index finds, or what stands for nothing: where the index has two words, as a letter is
 * newer than its tables, it refuses what was given as one.
 */
export function orNothing<T>(find: () => T, nothing: T): T {
  try {
    return find();
  } catch (error) {
    if (/^fts5: phrase queries/.test((error as Error).message)) return nothing;
    throw error;
  }
}

export function openMatch(db: Connection) {
  const selectWord = db.prepare<[string], { term: string }>(
    'SELECT term FROM member_names_words WHERE term >= ? LIMIT 1',
    'one word: the index is in order of words',
  );

  /**
   * Members by one of their words. Those of a word are read while they are found; those of a prefix that is
   * not in the index would be read and sorted first, all of them, so that its words are named instead.
   */
  function beginningWith(prefix: string): string {
    const indexed = `${quote(prefix)}*`;
    if (prefix.length <= LONGEST_PREFIX || !/^[a-z0-9]+$/.test(prefix)) return indexed;
    const words: string[] = [];
    for (let from = prefix; words.length < MOST_COMPLETIONS; ) {
      const { term } = selectWord.get(from) ?? { term: '' };
      if (!term.startsWith(prefix)) return anyOf(words.length === 0 ? [quote(prefix)] : words.map(quote));
      words.push(term);
      from = `${term}\u0001`;
    }
    return indexed;
  }

  /** @param groups not empty */
  return (words: readonly string[], groups: Groups, status: string | undefined): string =>
    `${[
      ...words.map(beginningWith),
      ...(groups === undefined ? [] : [anyOf(groups.map(wordOfCooperative).map(quote))]),
      ...(status === undefined || status === MOST_COMMON ? [] : [quote(wordOfStatus(status))]),
    ].join(' AND ')}${status === MOST_COMMON ? NOT_OTHERS : ''}`;
}
