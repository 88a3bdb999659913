/** How far two spellings are apart. */

/**
 * The optimal string alignment distance of two words: letters too many, missing, wrong, or swapped with the
 * next; more than `most` when it is larger.
 */
export function countTypos(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const changed = at(last, column - 1) + (isSame ? 0 : 1);
      let typos = Math.min(changed, at(last, column) + 1, at(current, column - 1) + 1);
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwapped) typos = Math.min(typos, at(beforeLast, column - 2) + 1);
      current.push(typos);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, other.length);
}

const at = (row: readonly number[], column: number): number => row[column] as number;

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

/**
 * Every word that one typo turns into this one: a letter missing, too many, wrong, or swapped with the next.
 * @param word of plain letters, in lower case
 */
export function withOneTypo(word: string): string[] {
  const found = new Set<string>();
  for (let i = 0; i <= word.length; i++) {
    const [before, after] = [word.slice(0, i), word.slice(i)];
    for (const letter of LETTERS) {
      found.add(before + letter + after);
      if (after !== '') found.add(before + letter + after.slice(1));
    }
    if (after !== '') found.add(before + after.slice(1));
    if (after.length > 1) found.add(before + after.charAt(1) + after.charAt(0) + after.slice(2));
  }
  found.delete(word);
  return [...found];
}

/** Every number of as many digits that has one other digit, or two neighbours swapped. */
export function withOneWrongDigit(number: string): string[] {
  const found = new Set<string>();
  for (let i = 0; i < number.length; i++) {
    const [before, digit, after] = [number.slice(0, i), number.charAt(i), number.slice(i + 1)];
    for (let other = 0; other <= 9; other++) found.add(`${before}${other}${after}`);
    if (after !== '') found.add(before + after.charAt(0) + digit + after.slice(1));
  }
  found.delete(number);
  return [...found];
}
