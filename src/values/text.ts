/** Validates names, codes and choices. */
import { FieldError, mayEcho } from './errors.ts';
import { mayContainIdentityCard } from './identity-card.ts';
import { say } from './message.ts';

/** Maximum lengths that several fields share, in Unicode code points after trimming (docs/api.md#texts). */
export const MAX_LENGTH = {
  code: 32,
  memberCode: 64,
  reference: 64,
  name: 200,
  place: 100,
  product: 100,
};

// C0 and C1 control characters, except tab, line feed and carriage return, which count as white space
const CONTROLS = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f';
// Direction marks and overrides, zero-width characters, fillers, the soft hyphen and others
const INVISIBLE = '\\p{Default_Ignorable_Code_Point}';
const FORBIDDEN = new RegExp(`[${CONTROLS}${INVISIBLE}]`, 'u');
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

export const BLANK = new FieldError('This field may not be blank.');
const FORBIDDEN_CHARACTER = new FieldError(
  'Control, text-direction and zero-width characters are not allowed.',
);
export const NOT_A_STRING = new FieldError('Not a valid string.');

/** Normalizes text for storage: NFC, trimmed, with white space inside collapsed to single spaces. */
export function parseText(text: string, maxLength: number): string | FieldError {
  // Most values of an import are plain ASCII without extra spaces, and already normalized.
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

export function parseCooperativeCode(text: string): string | FieldError {
  const code = parseText(text, MAX_LENGTH.code);
  if (code instanceof FieldError) return code;
  return COOPERATIVE_CODE.test(code) ? code : new FieldError('Use only the characters A-Z, 0-9 and "-".');
}

/** Allows any letter case for an existing cooperative, because stored codes are in upper case. */
export const parseNamedCode = (text: string): string | FieldError => parseCooperativeCode(text.toUpperCase());

/** Returns, for example, `1 delivery` or `2 deliveries`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

export const isSameIgnoringCase = (one: string, other: string): boolean => foldCase(one) === foldCase(other);

// Converts to upper case first, because Greek has one upper-case sigma and two lower-case sigmas.
const foldCase = (text: string): string => text.normalize('NFC').toUpperCase().toLowerCase();

export function parseChoice<T extends string>(text: string, choices: readonly T[]): T | FieldError {
  if ((choices as readonly string[]).includes(text)) return text as T;
  return new FieldError(mayEcho(text) ? `"${text}" is not a valid choice.` : 'Not a valid choice.');
}

const MAX_USER_LENGTH = 100;

/** Refuses a name that contains a national ID, because an erasure of the person would not remove the ID. */
export function parseUserName(text: string): string | FieldError {
  const name = parseText(text, MAX_USER_LENGTH);
  return typeof name === 'string' && mayContainIdentityCard(name)
    ? new FieldError('Write a name without a national ID.')
    : name;
}
