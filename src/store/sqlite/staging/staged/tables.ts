/** The tables of an import's staging file, and how rows and faults enter and leave them. */

import { pack, unpack } from '../../../../domain/values/message.ts';
import type {
  ImportFault,
  ImportKind,
  StagedRow,
  StagedValue,
} from '../../../contract/import/import-session.ts';
import type { Connection, Statement } from '../../engine/connection.ts';
import { toUnavailable } from '../../engine/errors.ts';
import { readPages } from '../../engine/read-pages.ts';
import { stagedColumns } from '../../schema/targets.ts';
import { hasDerivedReferences, openDerivation } from './derived-references.ts';

/** Rows of one INSERT: a call for each row would cost as much as the row. */
const ROWS_AT_ONCE = 16;
const FAULTS_AT_ONCE = 1_000;

/** What the operator is told when the disk or another writer stops an import. */
export const NOTHING_IMPORTED = 'Nothing of this file was imported';

/** The tables that stay while files come and go. */
export function createSessionTables(db: Connection): void {
  db.exec(`
    CREATE TABLE staging.faults (line INTEGER, "column" TEXT, message TEXT, refuses TEXT);
    CREATE INDEX staging.faults_line ON faults (line);
    -- Stored rows that the file changes, and in which columns (changes.ts).
    CREATE TABLE staging.changed_rows (line INTEGER PRIMARY KEY, id INTEGER, cells INTEGER);
    CREATE TABLE staging.changes (id INTEGER PRIMARY KEY, line INTEGER, row_id INTEGER, "column" TEXT,
      field TEXT, old, new);
    -- Changes that are not made: the same rows, with the same ids.
    CREATE TABLE staging.kept (id INTEGER PRIMARY KEY, line INTEGER, row_id INTEGER, "column" TEXT,
      field TEXT, old, new);
    -- What deserves a warning (warning-statements.ts).
    CREATE TABLE staging.warnings (id INTEGER PRIMARY KEY, kind TEXT, line INTEGER, detail TEXT);
    -- Phones that several members of a cooperative have, new ones among them (identity-warnings.ts).
    CREATE TABLE staging.shared_phones (phone INTEGER PRIMARY KEY);
    -- Members of other cooperatives with a national ID of the file.
    CREATE TABLE staging.elsewhere (line INTEGER, member_id INTEGER);
    -- Names in a ledger beside members, and entries of other cooperatives that its rows may be
    -- (warnings/ledger-of-another-cooperative.ts).
    CREATE TABLE staging.names (cooperative_id INTEGER, member_id INTEGER, name TEXT, differs INTEGER);
    CREATE INDEX staging.names_member ON names (member_id);
    CREATE TABLE staging.entries_elsewhere (line INTEGER, cooperative_id INTEGER, entry_id INTEGER,
      PRIMARY KEY (line, cooperative_id)) WITHOUT ROWID;
    -- What the import that the file replaces has created and the file no longer has (checks/missing-rows.ts).
    CREATE TABLE staging.missing (id INTEGER PRIMARY KEY);
    -- Stored entries in whose place the file has others (warnings/newer-version.ts).
    CREATE TABLE staging.superseded (line INTEGER PRIMARY KEY, entry_id INTEGER);
    -- Rows whose member code belongs to a member with another national ID.
    CREATE TABLE staging.code_holders (line INTEGER PRIMARY KEY, member_id INTEGER);
    -- Members whose entries the file adds or changes.
    CREATE TABLE staging.touched_members (id INTEGER PRIMARY KEY);
    -- Rows that named a person by a national ID that was replaced (replaced-numbers.ts).
    CREATE TABLE staging.replaced_numbers (line INTEGER PRIMARY KEY, number TEXT);
    -- Rows that name a person who was erased (checks/run-checks.ts).
    CREATE TABLE staging.erased_rows (line INTEGER PRIMARY KEY);
    -- Members that were merged, as they were, with those who stay (former-members.ts).
    CREATE TABLE staging.former_members (cooperative_code TEXT, member_code TEXT, identity_card TEXT,
      into_id INTEGER);
    CREATE INDEX staging.former_members_code ON former_members (cooperative_code, member_code);
    CREATE INDEX staging.former_members_person ON former_members (cooperative_code, identity_card);
    -- Rows without a reference that were imported as entries of members whom they do not name any more, and
    -- rows that may be stored entries with other references (equal-entries.ts).
    CREATE TABLE staging.entries_of_others (line INTEGER PRIMARY KEY);
    CREATE TABLE staging.unmatched (line INTEGER PRIMARY KEY, origin TEXT, owner INTEGER, first, second,
      third);
    CREATE TABLE staging.taken_entries (first_row INTEGER PRIMARY KEY, last_row INTEGER);
    CREATE TABLE staging.known_cooperatives (code TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE staging.known_members (cooperative_code TEXT, member_code TEXT, identity_card TEXT,
      PRIMARY KEY (cooperative_code, member_code)) WITHOUT ROWID;
    CREATE INDEX staging.known_members_person ON known_members (cooperative_code, identity_card);
    CREATE TABLE staging.known_loans (cooperative_code TEXT, reference TEXT, status TEXT, paid_until INTEGER,
      paid_amount INTEGER, PRIMARY KEY (cooperative_code, reference)) WITHOUT ROWID;
    -- By how much the payments of the file change what is paid on a loan (paid-amounts.ts).
    CREATE TABLE staging.paid_amounts (loan_id INTEGER PRIMARY KEY, delta INTEGER);`);
}

/** The tables of one file, in place of those of the file before. */
export function createFileTables(db: Connection, kind: ImportKind): void {
  const columns = stagedColumns(kind).map(({ name, type }) => `${name} ${type}`);
  // Of a row whose reference is derived, the files that have rejected it; null where the file has one.
  if (hasDerivedReferences(kind)) columns.push('origin TEXT');
  db.exec(`DROP TABLE IF EXISTS staging.rows; DROP TABLE IF EXISTS staging.resolved_references;
    DELETE FROM staging.faults; DELETE FROM staging.changed_rows; DELETE FROM staging.changes;
    DELETE FROM staging.kept; DELETE FROM staging.warnings; DELETE FROM staging.replaced_numbers;
    DELETE FROM staging.missing;
    CREATE TABLE staging.rows (line INTEGER PRIMARY KEY, ${columns.join(', ')});
    CREATE TABLE staging.resolved_references (line INTEGER PRIMARY KEY, id INTEGER, cooperative_id INTEGER,
      member_id INTEGER, account_id INTEGER, loan_id INTEGER);`);
}

/**
 * Runs work that writes only to the staging file: a deferred transaction takes no lock on the registry.
 * @throws RegistryError `unavailable` when the disk is full
 */
export function inStaging<T>(db: Connection, work: () => T): T {
  try {
    return db.transaction.deferred(work);
  } catch (error) {
    throw toUnavailable(error, NOTHING_IMPORTED);
  }
}

/**
 * @param given columns that the file has: the others are null in every row, and not bound
 * @returns inserts a batch, and tells whether it derives references
 */
export function openRowInsert(
  db: Connection,
  kind: ImportKind,
  given: ReadonlySet<string>,
): (rows: readonly StagedRow[]) => boolean {
  const names = stagedColumns(kind).map(({ name }) => name);
  const insertRows = openInsert(db, names, (name) => given.has(name));
  if (!hasDerivedReferences(kind)) {
    return (rows) => {
      insertRows(rows);
      return false;
    };
  }
  const derive = openDerivation(kind, names);
  const reference = names.indexOf('reference');
  const insertDerived = openInsert(
    db,
    [...names, 'origin'],
    (name) => given.has(name) || name === 'reference' || name === 'origin',
  );
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

/** @param names of the rows' values, in their order */
function openInsert(
  db: Connection,
  names: readonly string[],
  isBound: (name: string) => boolean,
): (rows: readonly StagedRow[]) => void {
  const places = [...names.keys()].filter((place) => isBound(names[place] as string));
  const columns = ['line', ...places.map((place) => names[place])];
  const width = columns.length;
  const row = `(?${', ?'.repeat(width - 1)})`;
  const prepare = (count: number): Statement<[StagedValue[]], unknown> =>
    db.raw.prepare(
      `INSERT INTO staging.rows (${columns.join(', ')}) VALUES ${row}${`, ${row}`.repeat(count - 1)}`,
    ) as never;
  const insertOne = prepare(1);
  const insertMany = prepare(ROWS_AT_ONCE);
  // One array for all rows: bound and read by each run, and never kept.
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
    for (const each of rows.slice(done)) {
      fill(one, 0, each);
      insertOne.run(one);
    }
  };
}

/** @returns inserts a batch */
export function openFaultInsert(db: Connection): (faults: readonly ImportFault[]) => void {
  const insert = db.raw.prepare('INSERT INTO staging.faults VALUES (?, ?, ?, ?)');
  return (faults) => {
    for (const { line, column, message, refuses } of faults) insert.run(line, column, pack(message), refuses);
  };
}

/**
 * Faults in order of line. Read page by page: an open iterator would keep this connection from writing
 * between two of them, and its readers wait for disks and pipes.
 */
export function* listFaults(db: Connection): Generator<ImportFault> {
  type Row = Omit<ImportFault, 'message'> & { readonly id: number; readonly message: string };
  const page = db.raw.prepare<[number, number], Row>(
    `SELECT rowid AS id, line, "column", message, refuses FROM staging.faults
     WHERE (line, rowid) > (?, ?) ORDER BY line, rowid LIMIT ${FAULTS_AT_ONCE}`,
  );
  const faults = readPages<Row>(FAULTS_AT_ONCE, (last) => page.all(last?.line ?? -1, last?.id ?? -1));
  for (const { id: _id, message, ...fault } of faults) yield { ...fault, message: unpack(message) };
}
