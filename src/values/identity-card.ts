/** The national ID (NID), which identifies a person. */
import { FieldError } from './errors.ts';

export const IDENTITY_CARD = /^[0-9]{16}$/;

/** Possible national ID, perhaps in groups of digits. Telephone numbers have at most 15 digits. */
const IDENTITY_CARD_LIKE = /[0-9](?:[ \u00a0-]?[0-9]){15,}/g;

export const IDENTITY_CARD_ERROR = new FieldError('Expected a national ID of exactly 16 digits.');

/**
 * True for exactly 16 digits. The two check digits are not verified, because their rule is secret. Birth year
 * and sex are never filled in from the digits, because a new card may have a new number.
 */
export const isIdentityCard = (text: string): boolean => IDENTITY_CARD.test(text);

export const parseIdentityCard = (text: string): string | FieldError =>
  isIdentityCard(text) ? text : IDENTITY_CARD_ERROR;

export const mayContainIdentityCard = (text: string): boolean => text.search(IDENTITY_CARD_LIKE) >= 0;

export const hideIdentityCards = (text: string, by = '(hidden)'): string =>
  text.replace(IDENTITY_CARD_LIKE, by);
