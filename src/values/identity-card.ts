/** The national ID (NID), which identifies a person. */
import { FieldError } from './errors.ts';

export const IDENTITY_CARD = /^[0-9]{16}$/;

/**
 * A possible national ID in a text, perhaps in groups: 16 digits or more; telephone numbers have at most 15.
 */
const IDENTITY_CARD_LIKE = /[0-9](?:[ \u00a0-]?[0-9]){15,}/g;

export const IDENTITY_CARD_ERROR = new FieldError('Expected a national ID of exactly 16 digits.');

/**
 * True for exactly 16 digits and nothing more. The rule of the two check digits is secret, and birth year and
 * sex are never derived: numbers change on re-issue (docs/api.md#members).
 */
export function isIdentityCard(text: string): boolean {
  return IDENTITY_CARD.test(text);
}

/** Sixth digit of a national ID, by gender. */
const SEX_DIGITS: { readonly [gender: string]: string } = { MALE: '8', FEMALE: '7' };
/** No living person was born earlier. */
const FIRST_YEAR = 1900;

/**
 * Returns reasons why a national ID may be mistyped, without personal data: Rwandan ones have a status digit
 * from 1 to 3, the year of birth and the sex. Nothing is derived from these digits, as numbers change on
 * re-issue.
 * @param registered registered data of the persons who are to get the number
 * @param year the current year
 */
export function doubtIdentityCard(
  number: string,
  registered: readonly { readonly gender: string | null; readonly dateOfBirth: string | null }[],
  year: number,
): string[] {
  const [born, sex] = [number.slice(1, 5), number[5] ?? ''];
  const sexDigits: readonly string[] = Object.values(SEX_DIGITS);
  const isOther = (known: readonly (string | undefined)[], found: string) =>
    known.some((each) => each !== undefined && each !== found);
  const years = registered.map(({ dateOfBirth }) => dateOfBirth?.slice(0, 4));
  const sexes = registered.map(({ gender }) => SEX_DIGITS[gender ?? '']);
  const doubts = [
    [!'123'.includes(number[0] ?? ''), 'No national ID begins with the first digit of the new number.'],
    [Number(born) > year, 'By its digits, somebody with the new number is not born yet.'],
    [Number(born) < FIRST_YEAR, 'By its digits, somebody with the new number was born before 1900.'],
    [
      isPlausible(born, year) && isOther(years, born),
      'By its digits, somebody with the new number was born in another year than is registered.',
    ],
    [!sexDigits.includes(sex), 'The sixth digit of the new number is neither 7 nor 8.'],
    [
      sexDigits.includes(sex) && isOther(sexes, sex),
      'By its digits, somebody with the new number has another gender than is registered.',
    ],
  ] as const;
  return doubts.flatMap(([holds, doubt]) => (holds ? [doubt] : []));
}

const isPlausible = (born: string, year: number): boolean =>
  Number(born) >= FIRST_YEAR && Number(born) <= year;

export function parseIdentityCard(text: string): string | FieldError {
  return IDENTITY_CARD.test(text) ? text : IDENTITY_CARD_ERROR;
}

export const mayContainIdentityCard = (text: string): boolean => text.search(IDENTITY_CARD_LIKE) >= 0;

/** Removes anything that may be a national ID: some cooperatives use them as member codes. */
export const hideIdentityCards = (text: string, by = '(hidden)'): string =>
  text.replace(IDENTITY_CARD_LIKE, by);
