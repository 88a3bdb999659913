/** The national ID (NID) by which a person is known. */
import { FieldError } from '../values/errors.ts';

/** Exactly 16 digits and nothing more. */
export const IDENTITY_CARD = /^[0-9]{16}$/;

/**
 * A part of a text that may be a national ID, perhaps in groups: 16 digits or more, as a telephone number has
 * 15 at most.
 */
const IDENTITY_CARD_LIKE = /[0-9](?:[ \u00a0-]?[0-9]){15,}/g;

export const IDENTITY_CARD_ERROR = new FieldError('Expected a national ID of exactly 16 digits.');

/**
 * Whether the text is a national ID: exactly 16 digits and nothing more. The rule of the two check digits is
 * secret, and birth year and sex are never derived: numbers change on re-issue (docs/api.md#members).
 */
export function isIdentityCard(text: string): boolean {
  return IDENTITY_CARD.test(text);
}

export function parseIdentityCard(text: string): string | FieldError {
  return IDENTITY_CARD.test(text) ? text : IDENTITY_CARD_ERROR;
}

export const mayContainIdentityCard = (text: string): boolean => text.search(IDENTITY_CARD_LIKE) >= 0;

/** The same text without anything that may be a national ID: some cooperatives use them as member codes. */
export const hideIdentityCards = (text: string, by = '(hidden)'): string =>
  text.replace(IDENTITY_CARD_LIKE, by);
