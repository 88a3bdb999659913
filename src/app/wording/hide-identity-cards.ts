/** National IDs in texts for the screen: some cooperatives use them as member codes or in references. */
import { replaceIdentityCards } from '../../domain/membership/identity-card.ts';

/** The same text without anything that may be a national ID. */
export const hideIdentityCards = (text: string): string => replaceIdentityCards(text, '(hidden)');
