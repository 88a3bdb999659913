/** Members in short, and what names them: text for people, JSON for programs. */

import { hideIdentityCards } from '../../app/wording/hide-identity-cards.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { MOST_FOUND } from '../../domain/values/search-words.ts';
import type { HeldMembership, NamedMember } from '../../store/ports/journal/held-data.ts';
import { formatFields, formatTable } from '../terminal/output.ts';
import { describeHeld } from './held-data-text.ts';

const countsOf = (held: HeldMembership) => ({
  deliveries: held.deliveries.length,
  loans: held.loans.length,
  payments: held.payments.length,
  savings_accounts: held.savingsAccounts.length,
  savings_transactions: held.savingsTransactions.length,
});

/** @param names texts that name this member and nobody else */
export const describeMember = (held: HeldMembership, names: readonly string[], zone: TimeZone) => ({
  names,
  ...describeHeld(held.member, zone),
  counts: countsOf(held),
});

/** Like the text of a person, it shows names and national IDs on purpose. */
export const formatMember = (held: HeldMembership, names: readonly string[], zone: TimeZone): string =>
  formatFields([
    ...names.map((name, i) => [i === 0 ? 'named by' : '', name] as const),
    ...Object.entries(describeHeld(held.member, zone)).flatMap(([field, value]) =>
      value === null ? [] : [[field, value] as const],
    ),
    ...Object.entries(countsOf(held)).map(([entries, count]) => [entries, String(count)] as const),
  ]);

/** Rows that a person reads; the rest is counted. */
const SHOWN_FOUND = 100;

export const describeFound = (found: readonly NamedMember[]) => ({
  found: found.length,
  members: found.map(({ cooperativeCode, memberCode, status, fullName }) => ({
    cooperative: cooperativeCode,
    member_code: hideIdentityCards(memberCode),
    status,
    full_name: hideIdentityCards(fullName),
  })),
});

export function formatFound(found: readonly NamedMember[]): string {
  if (found.length === 0) return 'Nobody was found.\n';
  const { members } = describeFound(found.slice(0, SHOWN_FOUND));
  const table = formatTable(
    ['COOPERATIVE', 'CODE', 'STATUS', 'NAME'],
    members.map(({ cooperative, member_code, status, full_name }) => [
      ...[cooperative, member_code, status, full_name],
    ]),
  );
  const more = found.length - members.length;
  const most = found.length === MOST_FOUND ? ' or more' : '';
  return more === 0 ? table : `${table}${more}${most} more are not shown: give more words.\n`;
}
