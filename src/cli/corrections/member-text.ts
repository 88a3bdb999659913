/** A member in short, and what names it: text for people, JSON for programs. */
import type { TimeZone } from '../../domain/values/date-time.ts';
import type { HeldMembership } from '../../store/ports/journal/held-data.ts';
import { formatFields } from '../terminal/output.ts';
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
