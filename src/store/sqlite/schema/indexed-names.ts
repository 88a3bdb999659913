/**
 * What the index of names holds (docs/decisions/0027-search.md). It is part of files in use: whatever is
 * changed here needs a migration that writes the index anew.
 */

/** Not in any name, as texts have no control characters: a word that begins with it is not of the name. */
const MARK = 31;
/** Three characters of any two cooperatives differ, and each is a letter to the tokenizer. */
const [FIRST_LETTER, LETTERS] = [0x4e00, 20_000];

/** The word that the members of a cooperative have. */
export const wordOfCooperative = (id: number): string =>
  String.fromCharCode(MARK, FIRST_LETTER + Math.floor(id / LETTERS), FIRST_LETTER + (id % LETTERS));

/** The word that the members of a status have: its first letter, which no other status has. */
export const wordOfStatus = (status: string): string => String.fromCharCode(MARK) + status.slice(0, 1);

const TOKENIZER = `unicode61 remove_diacritics 2 separators 'ʼ' tokenchars '${String.fromCharCode(MARK)}'`;

/** SQL of what follows the name of an index, but for prefixes. @param options of FTS5, a comma before each */
export const wordsOnlySql = (options: string): string =>
  `USING fts5(words, detail = none, columnsize = 0, tokenize = "${TOKENIZER}"${options})`;
