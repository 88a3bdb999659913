/** Identifies a person: memberships, national IDs, and the saved responses that name the person. */

import type { Connection } from '../../sqlite/connection.ts';
import { responsesWithSql } from '../../sqlite/idempotent-writes.ts';
import { type Fields, listFields } from '../../values/declared-fields.ts';
import { memberSql, ownedIdsSql, tableOf } from '../changes/tables.ts';
import { type EntryKind, type EntrySelection, PRODUCTION_FIELDS, SAVINGS_FIELDS } from '../entries.ts';
import { LOAN_FIELDS } from '../loans.ts';
import { MERGED_MEMBERS, REPLACED_NUMBERS, redirectOf, redirectSql } from './former-ids.ts';
import type { StoredRow } from './stored-data-types.ts';

export interface Person {
  readonly identityCard: string;
  readonly members: readonly number[];
  /** Ids of the memberships, and of members that were merged into these memberships. */
  readonly rows: readonly number[];
  /** National IDs under which the person is or was registered, except `mistaken` ones. */
  readonly numbers: readonly string[];
  /** National IDs that the person had by mistake and that now lead to another person. */
  readonly mistaken: readonly string[];
}

/** SQL list of ids or national IDs. */
export const listOf = (values: readonly (string | number)[]): string =>
  values.map((value) => (typeof value === 'number' ? value : `'${value}'`)).join(', ');

export const formerNumbers = (db: Connection, identityCard: string): string[] =>
  db.values<string>(
    `SELECT old FROM main.${REPLACED_NUMBERS.table} WHERE new = ? AND ended_by IS NULL
     ORDER BY correction_id, old`,
    [identityCard],
  );

/**
 * @param requested current national ID, or a former one that leads to the current one
 * @returns undefined if no member has the number
 */
export function identifyPerson(db: Connection, requested: string): Person | undefined {
  const identityCard = redirectOf<string>(db, REPLACED_NUMBERS, requested) ?? requested;
  const ofNumber = 'SELECT id FROM main.members WHERE identity_card = ? ORDER BY id';
  const members = db.values<number>(ofNumber, [identityCard]);
  return members.length === 0 ? undefined : personOf(db, identityCard, members);
}

/** @param identityCard current national ID of the person */
export function personOf(db: Connection, identityCard: string, members: readonly number[]): Person {
  const merged = db.values<number>(
    `SELECT DISTINCT id FROM main.${MERGED_MEMBERS.table} WHERE into_id IN (${listOf(members)})`,
  );
  const rows = [...members, ...merged];
  const recorded = (column: 'old' | 'new') => `SELECT ${column} FROM main.changes
    WHERE entity = 'members' AND field = 'identity_card' AND row_id IN (${listOf(rows)})
      AND ${column} IS NOT NULL`;
  const ofRows = db.values<string>(`${recorded('old')} UNION ${recorded('new')}`);
  const all = new Set([identityCard, ...formerNumbers(db, identityCard), ...ofRows]);
  const isOfAnother = db.raw.prepare(OF_ANOTHER.replaceAll('%', listOf(members)));
  const mistaken = [...all].filter((number) => isOfAnother.get({ number }) !== undefined);
  const numbers = [...all].filter((number) => !mistaken.includes(number));
  return { identityCard, members, rows, numbers, mistaken };
}

/** SELECT that returns a row if `@number` belongs to, or leads to, a member that is not in the list `%`. */
const OF_ANOTHER = `SELECT 1 FROM main.members WHERE identity_card = @number AND id NOT IN (%)
  UNION ALL SELECT 1 FROM main.members m
  WHERE m.identity_card = (${redirectSql(REPLACED_NUMBERS, '@number')}) AND m.id NOT IN (%)`;

/** Entities whose saved responses have no `Location`. Each `field` occurs only in responses of its entity. */
const ENTRY_RESPONSES = [
  { entity: 'production', field: 'delivered_at' },
  { entity: 'savings', field: 'transacted_at' },
] as const;

/**
 * FROM and WHERE of the saved responses about a person: responses to the creation of the person's rows, and
 * responses that contain one of the person's numbers.
 */
export function keptResponsesSql({ rows, numbers }: Person): string {
  const loans = `SELECT id FROM main.loans WHERE member_id IN (${listOf(rows)})`;
  const created = [
    ...rows.map((id) => `SELECT '/members/${id}' AS path`),
    `SELECT '/loans/' || id FROM (${loans})`,
    `SELECT '/payments/' || id FROM main.payments WHERE loan_id IN (${loans})`,
  ];
  const entries = ENTRY_RESPONSES.map(({ entity, field }) => ({
    field,
    ids: ownedIdsSql(entity, listOf(rows)),
  }));
  return responsesWithSql({ paths: created.join(' UNION ALL '), texts: numbers, entries });
}

// Rows of entries with all their values, for commands

const OWNER = (member: string): string => `
  (SELECT code FROM main.cooperatives WHERE id = e.cooperative_id) AS cooperative,
  CAST(${member} AS TEXT) AS member_id,
  (SELECT member_code FROM main.members WHERE id = ${member}) AS member_code`;

const selectFields = (fields: Fields): string =>
  listFields(fields)
    .filter(({ kind }) => kind !== 'reference')
    .map(({ column, name }) => `e.${column} AS ${name}`)
    .join(', ');
const FIELDS: { readonly [kind in EntryKind]: string } = {
  production: selectFields(PRODUCTION_FIELDS),
  savings: `(SELECT account_number FROM main.savings_accounts WHERE id = e.account_id) AS account_number,
    ${selectFields(SAVINGS_FIELDS)}`,
  loans: `${selectFields(LOAN_FIELDS)}, e.created_at, e.updated_at,
    (SELECT CAST(count(*) AS TEXT) FROM main.payments WHERE loan_id = e.id) AS payments`,
};

const BY_REFERENCE = `e.reference = @reference
  AND e.cooperative_id = (SELECT id FROM main.cooperatives WHERE code = @cooperativeCode)`;

const selected = (kind: EntryKind, selection: EntrySelection): string =>
  `main.${tableOf(kind).table} e WHERE
    ${'memberId' in selection ? `e.id IN (${ownedIdsSql(kind, '@memberId')})` : BY_REFERENCE}`;

export const readEntries = (db: Connection, kind: EntryKind, selection: EntrySelection): StoredRow[] =>
  db.rows<StoredRow>(
    `SELECT CAST(e.id AS TEXT) AS id, ${OWNER(memberSql(kind, 'e'))}, ${FIELDS[kind]}
     FROM ${selected(kind, selection)} ORDER BY e.id`,
    selection,
  );

export const readEntryIds = (db: Connection, kind: EntryKind, selection: EntrySelection): number[] =>
  db.values<number>(`SELECT e.id FROM ${selected(kind, selection)} ORDER BY e.id`, selection);
