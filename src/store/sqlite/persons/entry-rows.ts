/** The rows of entries with all their values, as commands show them. */
import {
  type EntryKind,
  type EntrySelection,
  PRODUCTION_FIELDS,
  SAVINGS_FIELDS,
} from '../../../domain/entries/entries.ts';
import { LOAN_FIELDS } from '../../../domain/lending/loans.ts';
import { type Fields, listFields } from '../../../domain/values/declared-fields.ts';
import type { HeldRow } from '../../contract/journal/held-data.ts';
import type { Connection } from '../engine/connection.ts';
import { memberSql, ownedIdsSql, tableOf } from '../schema/tables.ts';

const ID = 'CAST(e.id AS TEXT) AS id';
const OWNER = (member: string): string => `
  (SELECT code FROM main.cooperatives WHERE id = e.cooperative_id) AS cooperative,
  CAST(${member} AS TEXT) AS member_id,
  (SELECT member_code FROM main.members WHERE id = ${member}) AS member_code`;

/** By the names that they have in files. */
const shown = (fields: Fields): string =>
  listFields(fields)
    .filter(({ kind }) => kind !== 'reference')
    .map(({ column, name }) => `e.${column} AS ${name}`)
    .join(', ');
const FIELDS: { readonly [kind in EntryKind]: string } = {
  production: shown(PRODUCTION_FIELDS),
  savings: `(SELECT account_number FROM main.savings_accounts WHERE id = e.account_id) AS account_number,
    ${shown(SAVINGS_FIELDS)}`,
  loans: `${shown(LOAN_FIELDS)}, e.created_at, e.updated_at,
    (SELECT CAST(count(*) AS TEXT) FROM main.payments WHERE loan_id = e.id) AS payments`,
};

const BY_REFERENCE = `e.reference = @reference
  AND e.cooperative_id = (SELECT id FROM main.cooperatives WHERE code = @cooperativeCode)`;

const selected = (kind: EntryKind, selection: EntrySelection): string =>
  `main.${tableOf(kind).table} e WHERE
    ${'memberId' in selection ? `e.id IN (${ownedIdsSql(kind, '@memberId')})` : BY_REFERENCE}`;

/** In order of id. */
export function readEntries(db: Connection, kind: EntryKind, selection: EntrySelection): HeldRow[] {
  return db.rows<HeldRow>(
    `SELECT ${ID}, ${OWNER(memberSql(kind, 'e'))}, ${FIELDS[kind]}
     FROM ${selected(kind, selection)} ORDER BY e.id`,
    selection,
  );
}

export const readEntryIds = (db: Connection, kind: EntryKind, selection: EntrySelection): number[] =>
  db.values<number>(`SELECT e.id FROM ${selected(kind, selection)} ORDER BY e.id`, selection);
