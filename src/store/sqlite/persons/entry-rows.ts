/** The rows of entries with all their values, as commands show them. */
import type { EntryKind, EntrySelection } from '../../../domain/entries/entries.ts';
import type { HeldRow } from '../../ports/held-data.ts';
import type { Connection } from '../engine/connection.ts';
import { memberSql, ownedIdsSql, tableOf } from '../schema/tables.ts';

const ID = 'CAST(e.id AS TEXT) AS id';
const OWNER = (member: string): string => `
  (SELECT code FROM main.cooperatives WHERE id = e.cooperative_id) AS cooperative,
  CAST(${member} AS TEXT) AS member_id,
  (SELECT member_code FROM main.members WHERE id = ${member}) AS member_code`;

const FIELDS: { readonly [kind in EntryKind]: string } = {
  production: 'e.reference, e.delivered_at, e.grams AS kg, e.product',
  savings: `(SELECT account_number FROM main.savings_accounts WHERE id = e.account_id) AS account_number,
    e.reference, e.kind, e.amount_minor AS amount, e.transacted_at`,
  loans: `e.reference, e.amount_minor AS amount, e.interest_rate_hundredths AS interest_rate, e.status,
    e.paid_amount_minor AS paid_amount, e.opening_balance_minor AS opening_balance, e.paid_until,
    e.loan_start_date, e.loan_end_date, e.approved_at, e.created_at, e.updated_at,
    (SELECT CAST(count(*) AS TEXT) FROM main.payments WHERE loan_id = e.id) AS payments`,
};

const BY_REFERENCE = `e.reference = @reference
  AND e.cooperative_id = (SELECT id FROM main.cooperatives WHERE code = @cooperativeCode)`;

const selected = (kind: EntryKind, selection: EntrySelection): string =>
  `main.${tableOf(kind).table} e WHERE
    ${'memberId' in selection ? `e.id IN (${ownedIdsSql(kind, '@memberId')})` : BY_REFERENCE}`;

/** In order of id. */
export function readEntries(db: Connection, kind: EntryKind, selection: EntrySelection): HeldRow[] {
  return db.raw
    .prepare(
      `SELECT ${ID}, ${OWNER(memberSql(kind, 'e'))}, ${FIELDS[kind]}
       FROM ${selected(kind, selection)} ORDER BY e.id`,
    )
    .all(selection) as HeldRow[];
}

export const readEntryIds = (db: Connection, kind: EntryKind, selection: EntrySelection): number[] =>
  db.raw
    .prepare(`SELECT e.id FROM ${selected(kind, selection)} ORDER BY e.id`)
    .pluck()
    .all(selection) as number[];
