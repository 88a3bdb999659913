/** Statements of exports. They read entire tables, so they are not among those of requests. */
import { visibleGroups } from '../../../domain/access/visible.ts';
import { PRODUCTION_FIELDS, SAVINGS_FIELDS } from '../../../domain/entries/entries.ts';
import { listFields } from '../../../domain/values/declared-fields.ts';
import type { ExportedRows, ExportFilter } from '../../contract/exports.ts';
import type { ImportKind } from '../../contract/import/import-session.ts';
import type { Connection } from '../engine/connection.ts';
import {
  COOPERATIVE_ROW,
  LOAN_OWNER,
  LOAN_ROW,
  MEMBER_VALUES,
  OWNER,
  PAYMENT_OWNER,
  PAYMENT_ROW,
  selected,
} from '../rows/rows.ts';
import { ERASED_STATUS } from '../schema/counts.ts';
import { tableOf } from '../schema/tables.ts';

interface Source {
  /** Alias of the exported table. */
  readonly row: string;
  readonly select: string;
  readonly joins: string;
}

const IS_NAMED = `m.status <> '${ERASED_STATUS}'`;
const MEMBER_CODE = `iif(${IS_NAMED}, m.member_code, NULL) AS memberCode`;
/** What `OWNER` selects, of rows whose member and cooperative are in `l`. */
const MEMBER_AND_COOPERATIVE = `CROSS JOIN members m ON m.id = l.member_id
  CROSS JOIN cooperatives c ON c.id = l.cooperative_id`;

const SOURCES: { readonly [kind in ImportKind]: Source } = {
  cooperatives: { row: 'c', select: `SELECT ${COOPERATIVE_ROW}`, joins: '' },
  members: {
    row: 'm',
    select: `SELECT ${MEMBER_VALUES}, c.code AS cooperativeCode, c.name AS cooperativeName`,
    joins: 'CROSS JOIN cooperatives c ON c.id = m.cooperative_id',
  },
  production: {
    row: 'l',
    select: `SELECT l.id, ${OWNER}, ${MEMBER_CODE}, l.cooperative_id AS cooperativeId,
      ${selected('l', listFields(PRODUCTION_FIELDS))}`,
    joins: MEMBER_AND_COOPERATIVE,
  },
  loans: { row: 'l', select: `${LOAN_ROW}, ${MEMBER_CODE}`, joins: LOAN_OWNER },
  payments: {
    row: 'p',
    select: `${PAYMENT_ROW}, ${MEMBER_CODE}, l.reference AS loanReference`,
    joins: PAYMENT_OWNER,
  },
  savings: {
    row: 't',
    select: `SELECT t.id, ${OWNER}, ${MEMBER_CODE}, t.cooperative_id AS cooperativeId,
      l.account_number AS accountNumber, ${selected('t', listFields(SAVINGS_FIELDS))}`,
    joins: `CROSS JOIN savings_accounts l ON l.id = t.account_id ${MEMBER_AND_COOPERATIVE}`,
  },
};

/** SQL of the cooperatives in `@groups`, a JSON array of ids. */
const GROUPS = '(SELECT value FROM json_each(@groups))';

/** @returns SQL of the rows from FROM on, and its parameters */
export function exportedRows(kind: ImportKind, { visible, cooperativeId, status, isNamed }: ExportFilter) {
  const { row, joins } = SOURCES[kind];
  const { table } = tableOf(kind);
  const groups = visibleGroups(visible, cooperativeId);
  const inGroups =
    kind === 'cooperatives'
      ? `${row}.id IN ${GROUPS}`
      : `${row}.id IN (SELECT id FROM ${table} WHERE cooperative_id IN ${GROUPS})`;
  const conditions = [
    ...(groups === undefined ? [] : [inGroups]),
    ...(status === undefined ? [] : [`${row}.status = @status`]),
    ...(kind === 'members' || (isNamed === true && kind !== 'cooperatives') ? [IS_NAMED] : []),
  ];
  return {
    sql: `${table} ${row} ${joins} WHERE ${['TRUE', ...conditions].join(' AND ')}`,
    parameters: {
      ...(groups === undefined ? {} : { groups: JSON.stringify(groups) }),
      ...(status === undefined ? {} : { status }),
    },
  };
}

/**
 * Read together: the driver takes twice as long for a row that it gives by itself. Of more, some would live
 * longer than a collection of young objects, and keep their memory until one of all.
 */
const ROWS_AT_ONCE = 100;

/** The rows, in order of id. */
export function* readRows<Kind extends ImportKind>(
  db: Connection,
  kind: Kind,
  filter: ExportFilter,
): Generator<ExportedRows[Kind]> {
  const { row, select } = SOURCES[kind];
  const { sql, parameters } = exportedRows(kind, filter);
  // Some cooperatives: their rows are found by an index once, not for each part again.
  if ('groups' in parameters) {
    yield* db.iterate<ExportedRows[Kind]>(`${select} FROM ${sql} ORDER BY ${row}.id`, parameters);
    return;
  }
  const read = db.prepareOnce<ExportedRows[Kind]>(
    `${select} FROM ${sql} AND ${row}.id > @after ORDER BY ${row}.id LIMIT ${ROWS_AT_ONCE}`,
  );
  for (let after = 0; ; ) {
    const rows = read({ ...parameters, after });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return;
    after = last.id;
  }
}
