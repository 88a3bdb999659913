/** What of a ledger's rows says which entries they are, whatever their references. */
import type { TimeZone } from '../../../../domain/values/date-time.ts';
import { DAY_SECONDS } from '../../../../domain/values/date-time.ts';
import type { ImportKind } from '../../../contract/import/import-session.ts';

/** Kinds of files whose rows belong to members. */
export type LedgerKind = Exclude<ImportKind, 'cooperatives' | 'members'>;

export const isLedger = (kind: ImportKind): kind is LedgerKind =>
  kind !== 'cooperatives' && kind !== 'members';

export const UTC: TimeZone = { offsetSeconds: 0, suffix: '+00:00' };

/** SQL of the first second of the day of an instant. */
export const dayOf = (instant: string, { offsetSeconds }: TimeZone): string =>
  `((${instant} + ${offsetSeconds}) / ${DAY_SECONDS} * ${DAY_SECONDS} - ${offsetSeconds})`;

/** Condition: an instant is on the day that begins with a second. */
export const isOnDay = (instant: string, day: string): string =>
  `${instant} BETWEEN ${day} AND ${day} + ${DAY_SECONDS - 1}`;

/** Column of the file that tells most about an entry: people rarely have equal ones. */
export const AMOUNT: { readonly [kind in LedgerKind]: string } = {
  production: 'kg',
  loans: 'amount',
  payments: 'amount',
  savings: 'amount',
};

/** SQL of the member to whom a row belongs, from its references `p`; null or -1 when none is stored. */
export const memberOfRow = (kind: LedgerKind): string =>
  kind === 'payments' ? '(SELECT member_id FROM main.loans WHERE id = p.loan_id)' : 'p.member_id';
