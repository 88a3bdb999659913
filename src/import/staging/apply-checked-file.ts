/** A checked file: its faults, warnings and changes, and the transaction that writes its rows. */

import { isDeepStrictEqual } from 'node:util';
import { addPaidAmounts, announce, insertChanges, nextIdOf } from '../../journal/change-sets.ts';
import { tidyUp } from '../../journal/command-transaction.ts';
import {
  beginOperation,
  endOperation,
  type IdRange,
  type ImportChanges,
  type ImportRecord,
  recordCreatedRows,
  recordFile,
  type StagedChange,
} from '../../journal/operations.ts';
import { markStaleSql, type ReadModelColumn, tableOf } from '../../registry/changes/tables.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import { hasDerivedReferences } from '../../registry/stores/entry-store.ts';
import { leaveUnindexed } from '../../registry/stores/name-index.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { addNewRows } from '../../sqlite/counts.ts';
import { toUnavailable } from '../../sqlite/sqlite-errors.ts';
import { RegistryError } from '../../values/errors.ts';
import { ROWS } from '../checks/check-statements.ts';
import { warnOfPeopleElsewhere } from '../checks/entries-of-another-cooperative.ts';
import { keepRepeatedRows } from '../checks/equal-entries.ts';
import { findWarnings, hasNewStops, lastWarning, listWarnings } from '../checks/find-warnings.ts';
import { addMembersOfMissing, openMissing, removeEmptied, removeMissing } from '../checks/missing-rows.ts';
import { KEEP_LOANS } from '../checks/payment-checks.ts';
import { keepCurrentNumbers, keepTimeZone, readDataVersion, resolveAndCheck } from '../checks/run-checks.ts';
import type { ImportFault } from '../files/records.ts';
import {
  type Assignment,
  assignmentsOf,
  countByColumn,
  countChanges,
  leaveCorrected,
  leaveRelated,
  listChanges,
  recordedChanges,
  stageChanges,
} from './staged-changes.ts';
import { type FileScope, listFaults, NOTHING_IMPORTED, TARGETS, type Target } from './staging-tables.ts';

// A large import drops the insert triggers of a table, and afterwards does their work for all new rows at
// once. So every insert trigger on an imported table must belong to one of these groups.

interface TriggerGroup {
  readonly has: (trigger: string, table: string) => boolean;
  /**
   * Does the work of the dropped triggers.
   * @param members SQL condition on `members` for the owners of the new rows
   */
  readonly twin: (db: Connection, table: string, members: string) => void;
}

const STALE: { readonly [table: string]: ReadModelColumn } = {
  production_entries: 'production',
  loans: 'loans',
  savings_transactions: 'savings',
};

export const TRIGGER_GROUPS: readonly TriggerGroup[] = [
  {
    has: (trigger, table) => trigger === `${table}_batched`,
    twin(db, table) {
      if (table === 'members') leaveUnindexed(db);
      addNewRows(db, table);
    },
  },
  {
    has: (trigger) => trigger === 'cooperative_names_added',
    twin: (db) => db.exec("INSERT INTO main.cooperative_names (cooperative_names) VALUES ('rebuild')"),
  },
  {
    has: (trigger, table) => table in STALE && trigger === `${table}_insert`,
    twin: (db, table, members) => db.exec(markStaleSql(STALE[table] as ReadModelColumn, members)),
  },
];

/** SQL condition on a trigger's row of `sqlite_schema`. */
export const IS_ON_INSERT = "sql GLOB '* INSERT ON *'";

/** @throws Error for a trigger in no group, because a large import would skip its work */
export function groupOf(trigger: string, table: string): TriggerGroup {
  const group = TRIGGER_GROUPS.find(({ has }) => has(trigger, table));
  if (group !== undefined) return group;
  throw new Error(`The trigger ${trigger} on ${table} has no set-based twin. Declare one in TRIGGER_GROUPS.`);
}

/** True if events announce rows of this kind as changes of their member. */
const isPartOfMember = (kind: ImportKind): boolean => 'memberField' in tableOf(kind).announced;

/** Writes the new rows and the staged changes of stored rows. @returns the ids of the new rows */
export function applyStaged(scope: FileScope, nowSeconds: number): IdRange {
  const { db, kind } = scope;
  const columns = countByColumn(scope);
  const changed = assignmentsOf(scope).filter(({ from }) => columns.has(from));
  update(db, TARGETS[kind], changed, nowSeconds);
  return insert(db, kind, nowSeconds);
}

function insert(db: Connection, kind: ImportKind, nowSeconds: number): IdRange {
  const target = TARGETS[kind];
  const { id: first, isUsual } = nextIdOf(db, target.table);
  const values = new Map<string, string>();
  if (!isUsual) values.set('id', `${first - 1} + row_number() OVER (ORDER BY p.line)`);
  for (const id of target.resolved) values.set(id, `p.${id}`);
  for (const { name, to } of target.keys) if (to !== undefined) values.set(to, `r.${name}`);
  for (const { to, created, addsTo } of target.columns) {
    values.set(to, created);
    if (addsTo !== undefined) values.set(addsTo, created);
  }
  if (target.hasTimestamps) values.set('created_at', '@now').set('updated_at', '@now');
  // Ids follow the order of the file.
  const sql = `INSERT INTO main.${target.table} (${[...values.keys()].join(', ')})
    SELECT ${[...values.values()].join(', ')} FROM ${ROWS} WHERE p.id IS NULL ORDER BY p.line`;
  const count = db.count('staging.resolved_references WHERE id IS NULL');
  const dropped = count >= LARGE ? dropForInsert(db, target, count) : [];
  const added = db.run(sql, { now: nowSeconds }).changes;
  // Includes members of changed rows, but their read models are stale already.
  const members = isPartOfMember(kind)
    ? 'id IN (SELECT id FROM staging.touched_members)'
    : 'id IN (SELECT member_id FROM staging.resolved_references WHERE id IS NULL)';
  for (const group of new Set(dropped.map(({ group }) => group))) group?.twin(db, target.table, members);
  for (const { sql } of dropped) db.exec(sql);
  return { first, last: first + added - 1 };
}

/** Minimum number of new rows for which `dropForInsert` saves time. */
const LARGE = 10_000;

/**
 * Maximum ratio of stored to new rows at which rebuilding an index is faster than adding to it: in an index
 * larger than the cache, nearly every new row changes another page.
 */
const MOST_STORED_PER_NEW = 3;

/**
 * Drops the insert triggers of a table before a large insert, because their work is faster in bulk. If at
 * least a quarter of the table will be new, also drops the indexes. Each is rebuilt by one sort instead of
 * row by row, so the locked time stays proportional to the number of rows. Other connections see the old
 * schema until the commit.
 * @returns the dropped triggers and indexes, to be created again; an index has no group
 */
function dropForInsert(db: Connection, { table }: Target, newRows: number) {
  const lastId = db.value<number>(`SELECT coalesce(max(id), 0) FROM main.${table}`);
  const rebuilds = newRows * MOST_STORED_PER_NEW >= lastId;
  const dropped = db
    .rows<{ name: string; type: string; sql: string }>(
      `SELECT name, type, sql FROM main.sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL
         AND (type = 'index' AND ${rebuilds} OR type = 'trigger' AND ${IS_ON_INSERT})`,
      [table],
    )
    .map(({ name, type, sql }) => {
      return { name, type, sql, group: type === 'trigger' ? groupOf(name, table) : undefined };
    });
  for (const { name, type } of dropped) db.exec(`DROP ${type} main.${name}`);
  return dropped;
}

/** @param assignments columns in which a value changes; SQLite updates only indexes on these columns */
function update(
  db: Connection,
  target: Target,
  assignments: readonly Assignment[],
  nowSeconds: number,
): void {
  if (assignments.length === 0) return;
  const sets = assignments.flatMap(({ to, changed, addsTo, bit }) => {
    const set = (column: string, next: string) =>
      `${column} = CASE WHEN c.cells & ${bit} THEN ${next} ELSE t.${column} END`;
    // Expressions on the right-hand side use the values from before the update.
    return addsTo === undefined
      ? [set(to, changed)]
      : [set(to, changed), set(addsTo, `t.${addsTo} - t.${to} + ${changed}`)];
  });
  if (target.hasTimestamps) sets.push('updated_at = @now');
  const sql = `UPDATE main.${target.table} AS t SET ${sets.join(', ')}
    FROM staging.changed_rows c CROSS JOIN staging.rows r ON r.line = c.line
    CROSS JOIN staging.resolved_references p ON p.line = c.line WHERE t.id = c.id`;
  db.run(sql, { now: nowSeconds });
}

/** Must run before the changes of the file are recorded and applied. @returns the ids of the new accounts */
function openNewAccounts(scope: FileScope): IdRange | undefined {
  const { db, kind } = scope;
  if (kind !== 'savings') return undefined;
  const moves = assignmentsOf(scope).find(({ to }) => to === 'account_id')?.bit ?? 0;
  const isMoved = `p.line IN (SELECT line FROM staging.changed_rows WHERE cells & ${moves})`;
  const { id: first } = nextIdOf(db, 'savings_accounts');
  const opened = db.run(`INSERT INTO main.savings_accounts (id, cooperative_id, member_id, account_number)
     SELECT ${first - 1} + row_number() OVER (ORDER BY min(p.line)),
       p.cooperative_id, p.member_id, r.account_number FROM ${ROWS}
     WHERE p.account_id IS NULL AND (p.id IS NULL OR ${isMoved})
     GROUP BY p.cooperative_id, r.account_number ORDER BY 1`).changes;
  db.exec(`UPDATE staging.resolved_references AS p SET account_id = (
      SELECT a.id FROM staging.rows r CROSS JOIN main.savings_accounts a
        ON a.cooperative_id = p.cooperative_id AND a.account_number = r.account_number
      WHERE r.line = p.line)
    WHERE account_id IS NULL`);
  return { first, last: first + opened - 1 };
}

const CHANGED_VALUES = 'SELECT line, row_id, field, old, new FROM staging.changes';

/**
 * @throws RegistryError `unavailable` if there are new faults, new warnings that stop the file, or changes
 *   that the user has not confirmed
 */
function checkAgain(scope: FileScope, compare: () => void, onlyAsShown: boolean): void {
  const { db } = scope;
  const countAll = () => ({ ...countChanges(scope), values: db.count('staging.changes') });
  const confirmed = countAll();
  if (onlyAsShown)
    db.exec(`DROP TABLE IF EXISTS staging.shown; CREATE TABLE staging.shown AS ${CHANGED_VALUES}`);
  const before = db.value('SELECT coalesce(max(rowid), 0) FROM staging.faults');
  resolveAndCheck(scope);
  db.exec('DELETE FROM staging.resolved_references WHERE line NOT IN (SELECT line FROM staging.rows)');
  const isNewFault = `rowid > ${before} AND
    (refuses = 'file' OR line IN (SELECT line FROM staging.rows))`;
  if (db.count(`staging.faults WHERE ${isNewFault}`) === 0) {
    const lastSeen = lastWarning(db);
    compare();
    const isAsShown = () =>
      isDeepStrictEqual(countAll(), confirmed) &&
      !db.has(`(${CHANGED_VALUES} EXCEPT SELECT * FROM staging.shown)`);
    if (!hasNewStops(db, lastSeen) && (!onlyAsShown || isAsShown())) return;
  }
  throw new RegistryError(
    'unavailable',
    'The registry was changed while the file was checked and no longer agrees with it. Import it again.',
  );
}

/** Must run after the changes of the file are staged. */
function stagePaidAmounts(scope: FileScope): void {
  const bitOf = new Map(assignmentsOf(scope).map(({ from, bit }) => [from, bit]));
  /** Returns SQL for the value of a stored payment after the import. */
  const changed = (column: string, stored: string) =>
    `iif(c.cells & ${bitOf.get(column) ?? 0}, r.${column}, t.${stored})`;
  scope.db.exec(`DELETE FROM staging.paid_amounts;
    INSERT INTO staging.paid_amounts (loan_id, delta)
    SELECT loan_id, sum(delta) FROM (
      SELECT p.loan_id, r.amount AS delta FROM ${ROWS}
      WHERE p.id IS NULL AND coalesce(r.status, 'recorded') = 'recorded'
      UNION ALL
      SELECT t.loan_id, -t.amount_minor FROM staging.missing x CROSS JOIN main.payments t ON t.id = x.id
      WHERE t.status = 'recorded'
      UNION ALL
      SELECT t.loan_id,
        iif(${changed('status', 'status')} = 'recorded', ${changed('amount', 'amount_minor')}, 0)
          - iif(t.status = 'recorded', t.amount_minor, 0) FROM staging.changed_rows c
      CROSS JOIN staging.rows r ON r.line = c.line CROSS JOIN main.payments t ON t.id = c.id)
    GROUP BY 1 HAVING sum(delta) <> 0`);
}

export type CheckedFile = ReturnType<typeof openCheckedFile>;
export type AcceptedFile = Extract<CheckedFile, { readonly isRefused: false }>;

/**
 * Compares a file with the registry. Must be called in the transaction of the checks. In a dry run, rows of
 * earlier files count as not stored. The returned lists may be read until `apply` is called.
 * @param checkedVersion data version of the registry during the checks
 */
export function openCheckedFile(scope: FileScope, checkedVersion: number) {
  const { db, assertCurrent, end, skipInvalid = false, overwritesCorrections = false } = scope;
  const counted = {
    /** Number of rows, including refused rows. */
    rows: db.count('staging.rows') + countUnstaged(db),
    refusedRows: db.count('(SELECT DISTINCT line FROM staging.faults)'),
    faults: db.count('staging.faults'),
    listFaults(): Iterable<ImportFault> {
      assertCurrent();
      return listFaults(db);
    },
  };
  warnOfPeopleElsewhere(scope);
  const isFileFaulty = db.count("staging.faults WHERE refuses = 'file'") > 0;
  if (counted.faults > 0) dropRefusedRows(db);
  let canOverwriteKept = false;
  const compare = () => {
    stageChanges(scope);
    if (!overwritesCorrections) leaveCorrected(scope);
    canOverwriteKept = db.count(CAN_OVERWRITE) > 0;
    keepCurrentNumbers(scope);
    leaveRelated(scope);
    if (scope.kind === 'payments') stagePaidAmounts(scope);
    findWarnings(scope);
  };
  compare();
  // Warnings are about rows without faults, except the warnings of `warnOfPeopleElsewhere`.
  const check = { ...counted, warnings: listWarnings(scope) };
  const mayHaveFaults = skipInvalid && scope.replaces === undefined;
  if (isFileFaulty || (check.faults > 0 && !mayHaveFaults))
    return { ...check, isRefused: true as const, isFileFaulty };

  return {
    ...check,
    isRefused: false as const,
    /** True if `overwritesCorrections` would change some of the kept values. */
    canOverwriteKept,
    missing: openMissing(scope),
    changes: countChanges(scope),
    columns: countByColumn(scope),
    listChanges(): Iterable<StagedChange> {
      assertCurrent();
      return listChanges(scope);
    },
    /** Lists the stored values that stay although the file has other values. */
    listKept(): Iterable<StagedChange> {
      assertCurrent();
      return listChanges(scope, 'kept');
    },
    /** Lets the next files of a dry run refer to the rows of this file. Ends the file. */
    referToFromNextFiles(): void {
      assertCurrent();
      db.exec(KEEP_FOR_REFERENCE[scope.kind] ?? '');
      end();
    },
    /**
     * Writes all accepted rows in one transaction, which also records the import and each changed value. New
     * rows get ids in order of line. Unchanged rows keep their `updatedAt`. Ends the file.
     * @param nowSeconds epoch seconds, for timestamps and for empty cells that mean "now"
     * @param onlyAsShown true to refuse the file if its changes are no longer those that the user confirmed
     * @returns also `lockMs`, the time for which other writers were locked out
     * @throws RegistryError `unavailable` if the registry no longer agrees with the file, if other writers
     *   keep the lock, or if the disk is full
     */
    apply(nowSeconds: number, record: ImportRecord, onlyAsShown = false) {
      assertCurrent();
      const again = () => checkAgain(scope, compare, onlyAsShown);
      const checked = { version: checkedVersion, refusedRows: check.refusedRows, again };
      const result = apply(scope, checked, nowSeconds, record);
      end();
      return { ...result, errorAfterCommit: tidyUp(db, scope.format, nowSeconds) };
    },
  };
}

/** Counts rows that were refused while they were read, such as rows of totals with --strict. */
const countUnstaged = (db: Connection): number =>
  db.count(
    `(SELECT DISTINCT line FROM staging.faults f WHERE refuses = 'row'
       AND NOT EXISTS (SELECT 1 FROM staging.rows r WHERE r.line = f.line))`,
  );

/** SQL after FROM: kept values that may be overwritten. A void payment always stays void. */
const CAN_OVERWRITE = `staging.kept k WHERE NOT EXISTS
  (SELECT 1 FROM main.payments t WHERE k."column" = 'status' AND t.id = k.row_id AND t.status = 'void')`;

function dropRefusedRows(db: Connection): void {
  db.exec(`DELETE FROM staging.rows WHERE line IN (SELECT line FROM staging.faults);
    DELETE FROM staging.resolved_references WHERE line IN (SELECT line FROM staging.faults)`);
}

const KEEP_FOR_REFERENCE: { readonly [kind in ImportKind]?: string } = {
  cooperatives: 'INSERT OR IGNORE INTO staging.known_cooperatives SELECT code FROM staging.rows',
  members: `INSERT OR IGNORE INTO staging.known_members
    SELECT cooperative_code, member_code, identity_card FROM staging.rows`,
  loans: KEEP_LOANS,
};

function apply(
  scope: FileScope,
  checked: { readonly version: number; readonly refusedRows: number; readonly again: () => void },
  nowSeconds: number,
  record: ImportRecord,
): ImportChanges & { readonly importId: number; readonly lockMs: number } {
  const { db, monotonicMs } = scope;
  // The checks have verified that all references exist, and that no row refers to a row to be removed
  // (checks/missing-rows.ts). A second verification would take longer than the write.
  db.raw.pragma('foreign_keys = OFF');
  try {
    let { version } = checked;
    /** Repeats the checks if a change of the registry has outdated them. Returns true after a repetition. */
    const renew = () => {
      const current = readDataVersion(db);
      if (current === version) return false;
      checked.again();
      version = current;
      return true;
    };
    // Repeats outdated checks before taking the write lock: the user may have confirmed after a long time.
    db.transaction.deferred(() => {
      renew();
      stageTouchedMembers(scope);
    });
    let lockedAtMs = 0;
    const done = db.transaction.immediate(() => {
      lockedAtMs = monotonicMs();
      if (renew()) stageTouchedMembers(scope);
      return applyAndRecord(scope, checked.refusedRows, nowSeconds, record);
    });
    return { ...done, lockMs: monotonicMs() - lockedAtMs };
  } catch (error) {
    throw toUnavailable(error, NOTHING_IMPORTED);
  } finally {
    db.raw.pragma('foreign_keys = ON');
  }
}

function applyAndRecord(
  scope: FileScope,
  refusedRows: number,
  nowSeconds: number,
  record: ImportRecord,
): ImportChanges & { readonly importId: number } {
  const { db, kind, zone, hasDerived } = scope;
  const { options, notes, systemUser, isEntered } = record;
  const what = isEntered === true ? ({ kind: 'row_enter', reason: kind } as const) : { kind, reason: null };
  const id = beginOperation(db, { ...what, options, notes, systemUser }, nowSeconds);
  const by = { actor: `${isEntered === true ? 'correction' : 'import'}:${id}`, nowSeconds } as const;
  removeMissing(scope, by);
  const accounts = openNewAccounts(scope);
  insertChanges(db, kind, recordedChanges(scope), by);
  const rows = applyStaged(scope, nowSeconds);
  removeEmptied(scope, by);
  const changes = countChanges(scope, rows.last - rows.first + 1);
  recordCreatedRows(db, id, kind, rows);
  if (accounts !== undefined) recordCreatedRows(db, id, 'accounts', accounts);
  if (isEntered !== true) recordFile(db, id, record, changes, { refusedRows, replaces: scope.replaces });
  if (hasDerived) keepTimeZone(db, id, zone);
  if (refusedRows > 0 && hasDerivedReferences(kind)) keepRepeatedRows(db, id);
  endOperation(db, id, changes);
  const set = {
    entity: kind,
    created: changes.created === 0 ? undefined : `r.id BETWEEN ${rows.first} AND ${rows.last}`,
    values: changes.changed === 0 ? undefined : 'SELECT * FROM staging.changes',
    ...(isPartOfMember(kind) && { members: 'SELECT id FROM staging.touched_members' }),
  };
  announce(db, [set], by);
  if (kind === 'payments') addPaidAmounts(db, 'staging.paid_amounts', by);
  return { ...changes, importId: id };
}

/** A changed row keeps its member, because the checks refuse another member (run-checks.ts). */
function stageTouchedMembers(scope: FileScope): void {
  const { db, kind } = scope;
  if (!isPartOfMember(kind)) return;
  db.exec(`DELETE FROM staging.touched_members;
    INSERT OR IGNORE INTO staging.touched_members (id)
    SELECT member_id FROM staging.resolved_references
    WHERE id IS NULL OR line IN (SELECT line FROM staging.changed_rows)`);
  addMembersOfMissing(scope);
}
