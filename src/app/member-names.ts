/** What a member is named by, wherever somebody types it (docs/correcting.md#naming-a-member). */
import { isIdentityCard } from '../domain/membership/identity-card.ts';
import { FieldError } from '../domain/values/errors.ts';
import { parseId } from '../domain/values/ids.ts';
import { MAX_LENGTH, parseText } from '../domain/values/text.ts';
import type { MemberName } from '../store/contract/journal/held-data.ts';

/** @returns undefined for what cannot name a member */
export function parseMemberName(text: string): MemberName | undefined {
  const slash = text.indexOf('/');
  const rest = parseText(text.slice(slash + 1), MAX_LENGTH.memberCode);
  if (rest instanceof FieldError) return undefined;
  const number = isIdentityCard(rest) ? { identityCard: rest } : {};
  if (slash >= 0)
    return { ...number, memberCode: rest, cooperativeCode: text.slice(0, slash).trim().toUpperCase() };
  const id = parseId(rest);
  if (id !== undefined) return { id, memberCode: rest };
  return isIdentityCard(rest) ? number : undefined;
}
