/** Rows of exports, and the snapshot from which they are read. */

import { type Visible, visibleCooperatives } from '../access/api-keys.ts';
import { tableOf } from '../registry/changes/tables.ts';
import type { Cooperative } from '../registry/cooperatives.ts';
import {
  PRODUCTION_FIELDS,
  type ProductionEntry,
  SAVINGS_FIELDS,
  type SavingsTransaction,
} from '../registry/entries.ts';
import type { ImportKind } from '../registry/file-columns.ts';
import type { LoanRecord, Owner } from '../registry/loans.ts';
import type { Member } from '../registry/members.ts';
import type { PaymentRecord } from '../registry/payments.ts';
import {
  COOPERATIVE_ROW,
  LOAN_OWNER,
  LOAN_ROW,
  MEMBER_VALUES,
  OWNER,
  PAYMENT_OWNER,
  PAYMENT_ROW,
  selected,
} from '../registry/stores/rows.ts';
import { type Connection, WAIT_MS } from '../sqlite/connection.ts';
import { ERASED_STATUS } from '../sqlite/counts.ts';
import { readPages } from '../sqlite/list-pages.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { RESERVED_BYTES, readFreeBytes } from '../sqlite/registry-files.ts';
import { REGISTRY_SCHEMA } from '../sqlite/schemas.ts';
import { readSequence, type SequencePosition, type Storage } from '../sqlite/storage.ts';
import { listFields } from '../values/declared-fields.ts';

export interface ExportedOwner extends Owner {
  /** Null for an erased person. */
  readonly memberCode: string | null;
}

export interface ExportedRows {
  readonly cooperatives: Cooperative;
  readonly members: Member;
  readonly production: ProductionEntry & ExportedOwner;
  readonly loans: LoanRecord & ExportedOwner;
  readonly payments: PaymentRecord & ExportedOwner & { readonly loanReference: string };
  readonly savings: SavingsTransaction & ExportedOwner;
}

export type ExportedRow = ExportedRows[ImportKind];

export interface ExportFilter {
  readonly visible: Visible;
  readonly cooperativeId?: number | undefined;
  readonly status?: string | undefined;
  /** True to exclude entries of erased persons. An import could not assign such entries to a member. */
  readonly isNamed?: boolean;
}

const IS_NAMED = `m.status <> '${ERASED_STATUS}'`;
const MEMBER_CODE = `iif(${IS_NAMED}, m.member_code, NULL) AS memberCode`;
/** Joins for the columns of `OWNER`. The table `l` must have the ids of the member and the cooperative. */
const MEMBER_AND_COOPERATIVE = `CROSS JOIN members m ON m.id = l.member_id
  CROSS JOIN cooperatives c ON c.id = l.cooperative_id`;

/** Parts of the SELECT by kind; `row` is the alias of the exported table. */
const SOURCES: { readonly [kind in ImportKind]: Readonly<Record<'row' | 'select' | 'joins', string>> } = {
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

/** Subquery of the cooperative ids in the JSON array `@cooperatives`. */
const COOPERATIVES = '(SELECT value FROM json_each(@cooperatives))';

/** Returns the SQL after `FROM`, and its parameters. */
function exportedRows(kind: ImportKind, { visible, cooperativeId, status, isNamed }: ExportFilter) {
  const { row, joins } = SOURCES[kind];
  const { table } = tableOf(kind);
  const cooperatives = visibleCooperatives(visible, cooperativeId);
  const conditions = ['TRUE'];
  if (cooperatives !== undefined)
    conditions.push(
      kind === 'cooperatives'
        ? `${row}.id IN ${COOPERATIVES}`
        : `${row}.id IN (SELECT id FROM ${table} WHERE cooperative_id IN ${COOPERATIVES})`,
    );
  if (status !== undefined) conditions.push(`${row}.status = @status`);
  if (kind === 'members' || (isNamed === true && kind !== 'cooperatives')) conditions.push(IS_NAMED);
  return {
    sql: `${table} ${row} ${joins} WHERE ${conditions.join(' AND ')}`,
    isOfCooperatives: cooperatives !== undefined,
    parameters: { cooperatives: JSON.stringify(cooperatives ?? []), status: status ?? null },
  };
}

/** Reading single rows takes twice as long. In larger batches, rows survive minor garbage collections. */
const ROWS_AT_ONCE = 100;

function readRows<Kind extends ImportKind>(
  db: Connection,
  kind: Kind,
  filter: ExportFilter,
): Iterable<ExportedRows[Kind]> {
  const { row, select } = SOURCES[kind];
  const { sql, isOfCooperatives, parameters } = exportedRows(kind, filter);
  // A single statement without pages, because each page would search the index of a cooperative again.
  if (isOfCooperatives)
    return db.iterate<ExportedRows[Kind]>(`${select} FROM ${sql} ORDER BY ${row}.id`, parameters);
  const read = db.prepareOnce<ExportedRows[Kind]>(
    `${select} FROM ${sql} AND ${row}.id > @after ORDER BY ${row}.id LIMIT ${ROWS_AT_ONCE}`,
  );
  return readPages<ExportedRows[Kind]>(ROWS_AT_ONCE, (last) => read({ ...parameters, after: last?.id ?? 0 }));
}

/** Small, because an export reads each page only once. */
const CACHE_KIB = 2 * 1024;

export type ExportSession = ReturnType<typeof openExportSession>;
export type ExportSnapshot = ReturnType<ExportSession['begin']>;

/** @throws StorageError `unusable` if there is no registry of this release */
export function openExportSession(storage: Storage) {
  const file = storage.pathForOpening();
  const db = openDatabase(file, {
    readOnly: true,
    cacheKiB: CACHE_KIB,
    schema: REGISTRY_SCHEMA,
    waitMs: WAIT_MS.command,
  });
  return {
    /** Opens a snapshot of the registry. SQLite cannot shorten the write-ahead log until `end`. */
    begin() {
      db.transaction.beginRead();
      const { epoch, lastSequence: sequence } = readSequence(db) as SequencePosition;
      return {
        epoch,
        sequence,
        count(kind: ImportKind, filter: ExportFilter): number {
          const { sql, parameters } = exportedRows(kind, filter);
          return db.count(sql, parameters);
        },
        rows: <Kind extends ImportKind>(kind: Kind, filter: ExportFilter): Iterable<ExportedRows[Kind]> =>
          readRows(db, kind, filter),
      };
    },
    end: () => db.transaction.endRead(),
    findCooperative: (code: string) =>
      db.value<number | undefined>('SELECT id FROM cooperatives WHERE code = ?', [code]),
    /** True while the disk has more free space than the reserve of the registry. */
    hasRoom: () => readFreeBytes(file) >= RESERVED_BYTES,
    close: () => db.close(),
  };
}
