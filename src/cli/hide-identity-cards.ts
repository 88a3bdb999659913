/** National IDs in texts for the screen: some cooperatives use them as member codes or in references. */

/** 16 digits or more, perhaps in groups; a telephone number has 15 at most. */
const DIGITS = /[0-9](?:[ \u00a0]?[0-9]){15,}/g;

/** The same text without anything that may be a national ID. */
export const hideIdentityCards = (text: string): string => text.replace(DIGITS, '(hidden)');
