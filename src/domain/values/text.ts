/** Free text and choices: names, codes and the values that may be chosen. */
import { FieldError, mayEcho } from './errors.ts';
import { say } from './message.ts';

/**
 * Longest values that several places need, in characters (Unicode code points), after trimming
 * (docs/api.md#texts). Others are numbers in the declarations of their fields.
 */
export const MAX_LENGTH = {
  code: 32,
  memberCode: 64,
  reference: 64,
  name: 200,
  place: 100,
  product: 100,
};

// C0 and C1 controls but tab, line feed and carriage return, which are white space.
const CONTROLS = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f';
// Of Unicode: marks and overrides of direction, zero-width characters, fillers, the soft hyphen and others.
const INVISIBLE = '\\p{Default_Ignorable_Code_Point}';
const FORBIDDEN = new RegExp(`[${CONTROLS}${INVISIBLE}]`, 'u');
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

export const BLANK = new FieldError('This field may not be blank.');
const FORBIDDEN_CHARACTER = new FieldError(
  'Control, text-direction and zero-width characters are not allowed.',
);
export const NOT_A_STRING = new FieldError('Not a valid string.');

/**
 * Text as the registry keeps it: NFC, trimmed, inner white space collapsed to one space.
 * @param maxLength in characters (code points)
 */
export function parseText(text: string, maxLength: number): string | FieldError {
  // Nearly every value of an import is plain ASCII without extra spaces, which is its own normal form.
  if (text.length <= maxLength && PLAIN.test(text)) return text;
  if (!text.isWellFormed()) return NOT_A_STRING;
  if (FORBIDDEN.test(text)) return FORBIDDEN_CHARACTER;
  const clean = text.normalize('NFC').trim().replace(/\s+/g, ' ');
  if (clean === '') return BLANK;
  if (clean.length > maxLength && [...clean].length > maxLength) {
    return new FieldError(
      say('Ensure this field has no more than {count} characters.', { count: maxLength }),
    );
  }
  return clean;
}

export const COOPERATIVE_CODE = /^[A-Z0-9-]{1,32}$/;

/** A cooperative's code: 1 to 32 of `A-Z 0-9 -` (docs/api.md#cooperatives). */
export function parseCooperativeCode(text: string): string | FieldError {
  const code = parseText(text, MAX_LENGTH.code);
  if (code instanceof FieldError) return code;
  return COOPERATIVE_CODE.test(code) ? code : new FieldError('Use only the characters A-Z, 0-9 and "-".');
}

/** The same where it names a cooperative that there is, in any letter case: none has a lower-case letter. */
export const parseNamedCode = (text: string): string | FieldError => parseCooperativeCode(text.toUpperCase());

/** A number with what it counts: `1 delivery`, `2 deliveries`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** Whether two texts differ in nothing but the case of their letters, those with accents included. */
export const isSameIgnoringCase = (one: string, other: string): boolean => foldCase(one) === foldCase(other);

/** The first of the texts that is the same, ignoring case. */
export const findIgnoringCase = <T extends string>(text: string, texts: readonly T[]): T | undefined =>
  texts.find((each) => isSameIgnoringCase(each, text));

// By way of upper case, so that the two lower-case sigmas of Greek are one letter.
const foldCase = (text: string): string => text.normalize('NFC').toUpperCase().toLowerCase();

/** One of the given values, or an error that shows the invalid one where it may be shown. */
export function parseChoice<T extends string>(text: string, choices: readonly T[]): T | FieldError {
  if ((choices as readonly string[]).includes(text)) return text as T;
  return new FieldError(mayEcho(text) ? `"${text}" is not a valid choice.` : 'Not a valid choice.');
}
