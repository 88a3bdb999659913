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

export function parseIdentityCard(text: string): string | FieldError {
  return IDENTITY_CARD.test(text) ? text : IDENTITY_CARD_ERROR;
}

export const mayContainIdentityCard = (text: string): boolean => text.search(IDENTITY_CARD_LIKE) >= 0;

/**
 * Removes all possible national IDs from a text, such as a member code: some cooperatives use national IDs as
 * codes.
 */
export const hideIdentityCards = (text: string, by = '(hidden)'): string =>
  text.replace(IDENTITY_CARD_LIKE, by);
