/** The expression by which the index of names finds what a search asks for. */
import { MEMBER_STATUSES, type MemberStatus } from '../../../domain/membership/members.ts';
import type { Groups } from '../lists/list-pages.ts';
import { wordOfCooperative, wordOfStatus } from '../schema/indexed-names.ts';

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

/** The same of words with a typo in one of them. @param spellings of the words, in their order */
export const matchOfSpellings = (spellings: readonly (readonly string[])[]): string =>
  spellings.map((words) => anyOf(words.map((word) => `${quote(word)}*`))).join(' AND ');

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

/** @param groups not empty */
export const matchOf = (words: readonly string[], groups: Groups, status: string | undefined): string =>
  `${[
    matchOfWords(words),
    ...(groups === undefined ? [] : [anyOf(groups.map(wordOfCooperative).map(quote))]),
    ...(status === undefined || status === MOST_COMMON ? [] : [quote(wordOfStatus(status))]),
  ].join(' AND ')}${status === MOST_COMMON ? NOT_OTHERS : ''}`;
