/** Corrections of who is who: what they are called, and who makes each of them, and why. */

import { mayContainIdentityCard } from './membership/identity-card.ts';
import { FieldError } from './values/errors.ts';
import { parseText } from './values/text.ts';

export const CORRECTION_KINDS = [
  'nid_replace',
  'nid_release',
  'members_merge',
  'members_move',
  'members_transfer',
  'cooperatives_merge',
  'persons_deceased',
  'duplicates_dismiss',
  'duplicates_same_person',
  'entries_remove',
  'persons_erase',
  'row_enter',
] as const;
export type CorrectionKind = (typeof CORRECTION_KINDS)[number];

/** Longest reason, in characters. */
export const MAX_REASON_LENGTH = 500;

/**
 * The reason that is kept with a correction: 1 to 500 characters (docs/correcting.md#every-correction). It
 * stays when a person is erased, so it may not contain a national ID.
 */
export function parseReason(text: string): string | FieldError {
  const reason = parseText(text, MAX_REASON_LENGTH);
  if (reason instanceof FieldError) return reason;
  return mayContainIdentityCard(reason) ? new FieldError('Write the reason without national IDs.') : reason;
}

const MAX_USER_LENGTH = 100;

/**
 * The name of who makes a correction or runs a command: 1 to 100 characters. Like the reason, it stays when a
 * person is erased.
 */
export function parseUserName(text: string): string | FieldError {
  const name = parseText(text, MAX_USER_LENGTH);
  return typeof name === 'string' && mayContainIdentityCard(name)
    ? new FieldError('Write a name without a national ID.')
    : name;
}
