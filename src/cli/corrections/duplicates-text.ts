/** What names a member in the lists of duplicates, and in the commands that settle them. */
import { quoted } from '../../app/wording/shell.ts';
import { hideIdentityCards, mayContainIdentityCard } from '../../domain/membership/identity-card.ts';
import type { FoundMember } from '../../store/contract/journal/held-data.ts';

export const refer = ({ cooperativeCode, memberCode }: FoundMember): string =>
  `${cooperativeCode}/${hideIdentityCards(memberCode)}`;

/** What names a member on a command line: the id, where the code may be a national ID. */
export function argumentOf({ id, cooperativeCode, memberCode }: FoundMember): string {
  const name = `${cooperativeCode}/${memberCode}`;
  if (mayContainIdentityCard(memberCode) || name.startsWith('-')) return String(id);
  return quoted(name);
}

/** Without names: what a program prints may be kept. */
export const describeMember = (member: FoundMember) => ({ id: member.id, member: refer(member) });
