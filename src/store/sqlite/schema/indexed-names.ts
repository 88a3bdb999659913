/**
 * What the index of names holds (docs/decisions/0027-search.md). It is part of files in use: whatever is
 * changed here needs a migration that writes the index anew.
 */

/** Not in any name, as texts have no control characters: a word that begins with it is not of the name. */
const MARK = 31;
/** Three characters of any two cooperatives differ, and each is a letter to the tokenizer. */
const [FIRST_LETTER, LETTERS] = [0x4e00, 20_000];

/** Besides `'`; the tokenizer would take U+02BC for a letter. */
const APOSTROPHES = ["''", '’', '‘', 'ʼ', '`', '´'];
const JOINED = APOSTROPHES.reduce((sql, each) => `replace(${sql}, '${each}', '')`, '@name');

/** SQL of the words of a name; those with an apostrophe also as if it were not there. */
const wordsOfName = (name: string): string =>
  `${name} || iif(${name} GLOB '*[${APOSTROPHES.join('')}]*', ' ' || ${JOINED.replace('@name', name)}, '')`;

/** SQL of the words by which a member is found: of the name, its cooperative and its status. */
export function memberWordsSql(row: string): string {
  const cooperative = ['/', '%'].map((part) => `${FIRST_LETTER} + ${row}.cooperative_id ${part} ${LETTERS}`);
  const marked = `char(32, ${MARK}, ${cooperative.join(', ')}, 32, ${MARK})`;
  return `${wordsOfName(`${row}.full_name`)} || ${marked} || substr(${row}.status, 1, 1)`;
}

export const cooperativeWordsSql = (row: string): string => wordsOfName(`${row}.name`);

/** The word that the members of a cooperative have. */
export const wordOfCooperative = (id: number): string =>
  String.fromCharCode(MARK, FIRST_LETTER + Math.floor(id / LETTERS), FIRST_LETTER + (id % LETTERS));

/** The word that the members of a status have: its first letter, which no other status has. */
export const wordOfStatus = (status: string): string => String.fromCharCode(MARK) + status.slice(0, 1);

/** Prefixes of so many letters are in the index themselves. */
const PREFIXES = [3, 4, 5, 6];

const TOKENIZER = `unicode61 remove_diacritics 2 separators 'ʼ' tokenchars '${String.fromCharCode(MARK)}'`;

/** SQL of what follows the name of an index. @param options of FTS5, with a comma before each */
export const indexSql = (options: string): string =>
  wordsOnlySql(`, prefix = '${PREFIXES.join(' ')}'${options}`);

/** The same without the indexed prefixes. */
export const wordsOnlySql = (options: string): string =>
  `USING fts5(words, detail = none, columnsize = 0, tokenize = "${TOKENIZER}"${options})`;
