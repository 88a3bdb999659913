/** Tables of an import's staging file, and the mapping of file columns to columns of the registry. */

import { referencesOf, type Table, tableOf } from '../../registry/changes/tables.ts';
import { byKind, FILE_COLUMNS, type FileColumn, type ImportKind } from '../../registry/file-columns.ts';
import { hasDerivedReferences, openDerivation } from '../../registry/stores/entry-store.ts';
import type { ReadModelFormat } from '../../registry/stores/read-model.ts';
import type { Connection, Statement } from '../../sqlite/connection.ts';
import { readPages } from '../../sqlite/list-pages.ts';
import { toUnavailable } from '../../sqlite/sqlite-errors.ts';
import { DAY_SECONDS, type TimeZone } from '../../values/date-time.ts';
import { type Field, NOW, type StagedRow, type StagedValue } from '../../values/declared-fields.ts';
import { pack, unpack } from '../../values/message.ts';
import type { ImportFault } from '../files/records.ts';

// SQL for the amount and the end of an opening balance (docs/import-reference.md#opening-balances). `r` is
// the staged row and `t` the stored loan.

/** SQL condition: the row's paid amount is neither the opening balance nor the total paid amount. */
export const IS_ANOTHER_BALANCE = 'r.paid_amount NOT IN (t.opening_balance_minor, t.paid_amount_minor)';

export const OPENING_BALANCE = `iif(${IS_ANOTHER_BALANCE}, r.paid_amount, t.opening_balance_minor)`;

/** SQL expression for the end of a new loan's opening balance. */
export const NEW_CUT_OFF = 'iif(r.paid_amount > 0, r.paid_until, NULL)';
/** SQL expression for `paid_until` of a stored loan, which changes only if the opening balance changes. */
export const CUT_OFF = `iif(${IS_ANOTHER_BALANCE}, ${NEW_CUT_OFF}, t.paid_until)`;

/** Column of a file whose cells set a value of a stored row. */
export interface TargetColumn {
  /** Column of `staging.rows`. */
  readonly from: string;
  /** Column of the table. */
  readonly to: string;
  /** SQL expression for the value of a new row, from the staged row `r`. `@now` is the time of the import. */
  readonly created: string;
  /** SQL expression for the new value of the stored row `t`. */
  readonly changed: string;
  /** Another column of the table, to which the difference between new and old value is added. */
  readonly addsTo?: string;
}

export interface Target extends Pick<Table, 'table' | 'label' | 'hasTimestamps'> {
  readonly columns: readonly TargetColumn[];
  /** File columns that identify the row. Of these, only a national ID can change (staged-changes.ts). */
  readonly keys: readonly { readonly name: string; readonly to?: string }[];
  /** Columns of `resolved_references` that are stored in a new row. */
  readonly resolved: readonly string[];
}

const DECIDED: { readonly [column: string]: Omit<TargetColumn, 'from' | 'to'> } = {
  opening_balance_minor: {
    created: 'coalesce(r.paid_amount, 0)',
    changed: OPENING_BALANCE,
    addsTo: 'paid_amount_minor',
  },
  paid_until: { created: NEW_CUT_OFF, changed: CUT_OFF },
};

const NUMBERS: readonly Field['kind'][] = ['instant', 'past_instant', 'decimal'];
const typeOf = ({ kind }: Field): 'TEXT' | 'INTEGER' => (NUMBERS.includes(kind) ? 'INTEGER' : 'TEXT');

function toTargetColumn({ name, isRequired, field }: FileColumn): TargetColumn {
  const { column, initial, isNullable, isKeptByEmptyCell } = field;
  const isClearedByEmptyCell = isNullable === true && isKeptByEmptyCell !== true;
  const ifEmpty = initial === NOW ? '@now' : `'${initial}'`;
  return {
    from: name,
    to: column,
    created: initial === undefined || isRequired ? `r.${name}` : `coalesce(r.${name}, ${ifEmpty})`,
    changed: isClearedByEmptyCell ? `r.${name}` : `coalesce(r.${name}, t.${column})`,
    ...DECIDED[column],
  };
}

function targetOf(kind: ImportKind): Target {
  const { table, label, hasTimestamps } = tableOf(kind);
  const columns = FILE_COLUMNS[kind];
  return {
    table,
    label,
    hasTimestamps,
    resolved: referencesOf(tableOf(kind)).map(({ column }) => column),
    keys: columns.flatMap(({ name, role, field }) => {
      if (role === 'value') return [];
      return [role === 'key' ? { name, to: field.column } : { name }];
    }),
    columns: columns.filter(({ role }) => role === 'value').map(toTargetColumn),
  };
}

export const TARGETS = byKind(targetOf);

/** Returns the columns of staged rows after the line number, in the order of `StagedRow.values`. */
export const stagedColumns = (kind: ImportKind): { name: string; type: string }[] =>
  FILE_COLUMNS[kind].map(({ name, field }) => ({ name, type: typeOf(field) }));

/** Rows per INSERT. A separate INSERT for each row would take twice the time. */
const ROWS_AT_ONCE = 16;
const FAULTS_AT_ONCE = 1_000;

export const NOTHING_IMPORTED = 'Nothing of this file was imported';

export function createSessionTables(db: Connection): void {
  db.exec(`
    CREATE TABLE staging.faults (line INTEGER, "column" TEXT, message TEXT, refuses TEXT);
    CREATE INDEX staging.faults_line ON faults (line);
    -- Stored rows that the file changes. cells has one bit for each changed column (staged-changes.ts).
    CREATE TABLE staging.changed_rows (line INTEGER PRIMARY KEY, id INTEGER, cells INTEGER);
    CREATE TABLE staging.changes (id INTEGER PRIMARY KEY, line INTEGER, row_id INTEGER, "column" TEXT,
      field TEXT, old, new);
    -- Changes that are not made, because the stored value stays.
    CREATE TABLE staging.kept (id INTEGER PRIMARY KEY, line INTEGER, row_id INTEGER, "column" TEXT,
      field TEXT, old, new);
    CREATE TABLE staging.warnings (id INTEGER PRIMARY KEY, kind TEXT, line INTEGER, detail TEXT);
    -- Phones that several members have, at least one of them new or changed (identity-warnings.ts).
    CREATE TABLE staging.shared_phones (phone INTEGER PRIMARY KEY);
    -- Members of other cooperatives with a national ID of the file.
    CREATE TABLE staging.elsewhere (line INTEGER, member_id INTEGER);
    -- Names of members in the rows of entries, and entries of other cooperatives that may be these rows.
    CREATE TABLE staging.names (cooperative_id INTEGER, member_id INTEGER, name TEXT, differs INTEGER);
    CREATE INDEX staging.names_member ON names (member_id);
    CREATE TABLE staging.entries_elsewhere (line INTEGER, cooperative_id INTEGER, entry_id INTEGER,
      PRIMARY KEY (line, cooperative_id)) WITHOUT ROWID;
    -- Rows that the replaced import created and the file lacks.
    CREATE TABLE staging.missing (id INTEGER PRIMARY KEY);
    -- Stored entries that the file seems to replace.
    CREATE TABLE staging.superseded (line INTEGER PRIMARY KEY, entry_id INTEGER);
    -- Rows whose member code belongs to a member with another national ID.
    CREATE TABLE staging.code_holders (line INTEGER PRIMARY KEY, member_id INTEGER);
    -- Members whose entries the file adds, changes or removes.
    CREATE TABLE staging.touched_members (id INTEGER PRIMARY KEY);
    -- National IDs of the file that a correction or merge has replaced.
    CREATE TABLE staging.replaced_numbers (line INTEGER PRIMARY KEY, number TEXT);
    CREATE TABLE staging.erased_rows (line INTEGER PRIMARY KEY);
    -- Last codes and national IDs of merged members, with the remaining member.
    CREATE TABLE staging.former_members (cooperative_code TEXT, member_code TEXT, identity_card TEXT,
      into_id INTEGER);
    CREATE INDEX staging.former_members_code ON former_members (cooperative_code, member_code);
    CREATE INDEX staging.former_members_person ON former_members (cooperative_code, identity_card);
    -- Rows without a reference that were imported as entries of other members, and rows that may be stored
    -- entries with other references (equal-entries.ts).
    CREATE TABLE staging.entries_of_others (line INTEGER PRIMARY KEY);
    CREATE TABLE staging.unmatched (line INTEGER PRIMARY KEY, origin TEXT, owner INTEGER, first, second,
      third);
    CREATE TABLE staging.taken_entries (first_row INTEGER PRIMARY KEY, last_row INTEGER);
    -- Rows of earlier files of a dry run.
    CREATE TABLE staging.known_cooperatives (code TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE staging.known_members (cooperative_code TEXT, member_code TEXT, identity_card TEXT,
      PRIMARY KEY (cooperative_code, member_code)) WITHOUT ROWID;
    CREATE INDEX staging.known_members_person ON known_members (cooperative_code, identity_card);
    CREATE TABLE staging.known_loans (cooperative_code TEXT, reference TEXT, status TEXT, paid_until INTEGER,
      paid_amount INTEGER, PRIMARY KEY (cooperative_code, reference)) WITHOUT ROWID;
    -- Changes of the paid amounts of loans by a file of payments.
    CREATE TABLE staging.paid_amounts (loan_id INTEGER PRIMARY KEY, delta INTEGER);`);
}

export function createFileTables(db: Connection, kind: ImportKind): void {
  const columns = stagedColumns(kind).map(({ name, type }) => `${name} ${type}`);
  // Files that rejected a row without a reference; empty if no file did, null if the row has a reference.
  if (hasDerivedReferences(kind)) columns.push('origin TEXT');
  for (const table of [
    'faults',
    'changed_rows',
    'changes',
    'kept',
    'warnings',
    'replaced_numbers',
    'missing',
  ])
    db.exec(`DELETE FROM staging.${table}`);
  db.exec(`DROP TABLE IF EXISTS staging.rows; DROP TABLE IF EXISTS staging.resolved_references;
    CREATE TABLE staging.rows (line INTEGER PRIMARY KEY, ${columns.join(', ')});
    CREATE TABLE staging.resolved_references (line INTEGER PRIMARY KEY, id INTEGER, cooperative_id INTEGER,
      member_id INTEGER, account_id INTEGER, loan_id INTEGER);`);
}

/** @param work may write only to the staging file @throws RegistryError `unavailable` if the disk is full */
export function inStaging<T>(db: Connection, work: () => T): T {
  try {
    return db.transaction.deferred(work);
  } catch (error) {
    throw toUnavailable(error, NOTHING_IMPORTED);
  }
}

/** @returns a function that inserts rows, and returns true if any row got a derived reference */
export function openRowInsert(
  db: Connection,
  kind: ImportKind,
  columns: ReadonlySet<string>,
): (rows: readonly StagedRow[]) => boolean {
  const names = stagedColumns(kind).map(({ name }) => name);
  const insertRows = openInsert(db, names, columns);
  if (!hasDerivedReferences(kind)) {
    return (rows) => {
      insertRows(rows);
      return false;
    };
  }
  const derive = openDerivation(kind, names);
  const reference = names.indexOf('reference');
  const insertDerived = openInsert(db, [...names, 'origin'], new Set([...columns, 'reference', 'origin']));
  const complete = (row: StagedRow): StagedRow => {
    const isDerived = row.values[reference] === null;
    const values = [...row.values, isDerived ? (row.rejectedFrom ?? '') : null];
    if (isDerived) values[reference] = derive(row);
    return { line: row.line, values };
  };
  return (rows) => {
    const isDerived = rows.some(({ values }) => values[reference] === null);
    if (isDerived) insertDerived(rows.map(complete));
    else insertRows(rows);
    return isDerived;
  };
}

/** @param names names of a row's values, in order @param boundNames names of the values to insert */
function openInsert(
  db: Connection,
  names: readonly string[],
  boundNames: ReadonlySet<string>,
): (rows: readonly StagedRow[]) => void {
  const places = [...names.keys()].filter((place) => boundNames.has(names[place] as string));
  const columns = ['line', ...places.map((place) => names[place])];
  const width = columns.length;
  const row = `(${Array(width).fill('?').join(', ')})`;
  const prepare = (count: number): Statement<[StagedValue[]], unknown> =>
    db.raw.prepare(
      `INSERT INTO staging.rows (${columns.join(', ')}) VALUES ${Array(count).fill(row).join(', ')}`,
    ) as never;
  const insertOne = prepare(1);
  const insertMany = prepare(ROWS_AT_ONCE);
  // One array is enough: a statement does not use the array after its run.
  const bound: StagedValue[] = new Array(width * ROWS_AT_ONCE);

  function fill(target: StagedValue[], start: number, { line, values }: StagedRow): void {
    target[start] = line;
    for (let i = 0; i < places.length; i++)
      target[start + 1 + i] = values[places[i] as number] as StagedValue;
  }

  return (rows) => {
    let done = 0;
    for (; done + ROWS_AT_ONCE <= rows.length; done += ROWS_AT_ONCE) {
      for (let i = 0; i < ROWS_AT_ONCE; i++) fill(bound, i * width, rows[done + i] as StagedRow);
      insertMany.run(bound);
    }
    const one: StagedValue[] = new Array(width);
    for (const rest of rows.slice(done)) {
      fill(one, 0, rest);
      insertOne.run(one);
    }
  };
}

export function openFaultInsert(db: Connection): (faults: readonly ImportFault[]) => void {
  const insert = db.raw.prepare('INSERT INTO staging.faults VALUES (?, ?, ?, ?)');
  return (faults) => {
    for (const { line, column, message, refuses } of faults) insert.run(line, column, pack(message), refuses);
  };
}

/** Reads page by page: an open statement would block writes while the caller waits for a disk or pipe. */
export function* listFaults(db: Connection): Generator<ImportFault> {
  type Row = Omit<ImportFault, 'message'> & { readonly id: number; readonly message: string };
  const page = db.raw.prepare<[number, number], Row>(
    `SELECT rowid AS id, line, "column", message, refuses FROM staging.faults
     WHERE (line, rowid) > (?, ?) ORDER BY line, rowid LIMIT ${FAULTS_AT_ONCE}`,
  );
  const faults = readPages<Row>(FAULTS_AT_ONCE, (last) => page.all(last?.line ?? -1, last?.id ?? -1));
  for (const { id: _id, message, ...fault } of faults) yield { ...fault, message: unpack(message) };
}

export interface CheckOptions {
  /** True to accept national IDs that all end in 0. */
  readonly acceptTrailingZero?: boolean | undefined;
  /** By default, one refused row refuses the file. */
  readonly skipInvalid?: boolean | undefined;
  /** True to overwrite values that were corrected over HTTP or by a command. */
  readonly overwritesCorrections?: boolean | undefined;
  readonly despiteErasure?: boolean | undefined;
  /** SHA-256 of the file in hex, to find an earlier import of the same bytes. */
  readonly sha256?: string | undefined;
  /** Layout as the journal records it. With another layout, such as another sheet, the rows differ. */
  readonly readAs?: unknown;
  /**
   * Id of the import that this file replaces as its newer version. Entries that the import created and the
   * file lacks are removed; members and cooperatives stay. Not together with `skipInvalid`.
   */
  readonly replaces?: number | undefined;
  /** By default, UTC. */
  readonly zone?: TimeZone | undefined;
  /** True for a row that a user typed, which has additional warnings. */
  readonly isTyped?: boolean | undefined;
}

export interface StagedFile {
  readonly db: Connection;
  readonly kind: ImportKind;
  readonly columns: ReadonlySet<string>;
  readonly format: ReadModelFormat;
  readonly monotonicMs: () => number;
  /** @throws Error if the staging tables no longer contain this file */
  assertCurrent(): void;
  /** Ends the file, so that `assertCurrent` throws from then on. */
  end(): void;
}

/** A staged file during and after its checks. */
export interface FileScope extends StagedFile, CheckOptions {
  readonly zone: TimeZone;
  /** True if some rows have no reference. */
  readonly hasDerived: boolean;
}

/** Kinds of files whose rows belong to members. */
export type KindOfEntries = Exclude<ImportKind, 'cooperatives' | 'members'>;

export const areEntries = (kind: ImportKind): kind is KindOfEntries =>
  kind !== 'cooperatives' && kind !== 'members';

export const UTC: TimeZone = { offsetSeconds: 0, suffix: '+00:00' };

/** 400 years in seconds, added to an instant before a division: SQLite rounds negative quotients up. */
const AFTER_1970 = 146_097 * DAY_SECONDS;

/** Returns SQL for the first second of the day of an instant. */
export function dayOf(instant: string, { offsetSeconds }: TimeZone): string {
  const moved = offsetSeconds + AFTER_1970;
  return `((${instant} + ${moved}) / ${DAY_SECONDS} * ${DAY_SECONDS} - ${moved})`;
}

/** @param day SQL expression for the first second of the day */
export const isOnDay = (instant: string, day: string): string =>
  `${instant} BETWEEN ${day} AND ${day} + ${DAY_SECONDS - 1}`;

/** File column that best distinguishes entries, because equal values are rare. */
export const AMOUNT: { readonly [kind in KindOfEntries]: string } = {
  production: 'kg',
  loans: 'amount',
  payments: 'amount',
  savings: 'amount',
};

/** Returns SQL for the member of a row with references `p`; null or -1 if the member is not stored. */
export const memberOfRow = (kind: KindOfEntries): string =>
  kind === 'payments' ? '(SELECT member_id FROM main.loans WHERE id = p.loan_id)' : 'p.member_id';
