/** A file after its checks: its findings, and the operations on its accepted rows. */

import { isDeepStrictEqual } from 'node:util';
import { announce, insertChanges } from '../../journal/change-sets.ts';
import { tidyUp } from '../../journal/command-transaction.ts';
import {
  beginOperation,
  endOperation,
  type ImportChanges,
  type ImportRecord,
  recordCreatedRows,
  recordFile,
  type StagedChange,
} from '../../journal/operations.ts';
import { addPaidAmounts } from '../../journal/track.ts';
import { REVERSED_ACTORS } from '../../registry/changes/record-changes.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import { hasDerivedReferences } from '../../registry/stores/entry-store.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { toUnavailable } from '../../sqlite/sqlite-errors.ts';
import { RegistryError } from '../../values/errors.ts';
import { keepRepeatedRows } from '../checks/equal-entries.ts';
import { findWarnings, hasNewStops, lastWarning, listWarnings } from '../checks/find-warnings.ts';
import { warnOfPeopleElsewhere } from '../checks/ledger-of-another-cooperative.ts';
import { addMembersOfMissing, openMissing, removeEmptied, removeMissing } from '../checks/missing-rows.ts';
import { KEEP_LOANS } from '../checks/payment-checks.ts';
import { keepCurrentNumbers, keepTimeZone, readDataVersion, resolveAndCheck } from '../checks/run-checks.ts';
import type { ImportFault } from '../files/records.ts';
import { applyStaged, isPartOfMember, openNewAccounts } from './apply.ts';
import {
  assignmentsOf,
  countByColumn,
  countChanges,
  leaveStored,
  listChanges,
  recordedChanges,
  stageChanges,
} from './staged-changes.ts';
import { type FileScope, listFaults, NOTHING_IMPORTED } from './staging-tables.ts';

// Corrections made by hand: a value last changed over HTTP or by a command is kept if the file still has the
// value from before that change (docs/import-reference.md#values-changed-by-hand)

/**
 * Condition on the changes `h` of the field that a staged change `e` is about. The paid amount of a file is
 * compared with the total that is paid, too.
 */
const ofField = (kind: ImportKind, h: string): string =>
  `${h}.entity = '${kind}' AND ${h}.row_id = e.row_id AND ${h}.field IN (e.field, e."column")`;
/** Condition that leaves out an undo and the import that it reversed. */
const isInForce = (h: string): string => `${h}.actor NOT IN (${REVERSED_ACTORS})`;
const isByHand = (h: string): string => `(${h}.actor GLOB 'key:*' OR ${h}.actor GLOB 'correction:*')`;

/**
 * Keeps related values: a void payment stays void, whatever made it so and whatever else is imported, and an
 * opening balance that is kept keeps its last day (`paid_until`).
 */
function keepRelated(scope: FileScope): void {
  const cells = RELATED[scope.kind];
  if (cells !== undefined) leaveStored(scope, cells);
}

/** SELECTs of the ids of staged changes that an apply leaves out. */
const RELATED: { readonly [kind in ImportKind]?: string } = {
  payments: `SELECT e.id FROM staging.changes e CROSS JOIN main.payments t ON t.id = e.row_id
    WHERE e."column" = 'status' AND t.status = 'void'`,
  loans: `SELECT e.id FROM staging.changes e WHERE e."column" = 'paid_until'
    AND e.line IN (SELECT line FROM staging.kept WHERE "column" = 'paid_amount')`,
};

/** Moves the corrected values from the staged changes to the kept ones. */
function leaveCorrected(scope: FileScope): void {
  const { db, kind } = scope;
  if (!db.has('staging.changes')) return;
  // Before the first correction since the last import, the value was the one that this import had set, or
  // that the row was created with.
  const corrected = `SELECT e.id FROM staging.changes e CROSS JOIN main.changes l
    ON l.id = (SELECT max(h.id) FROM main.changes h WHERE ${ofField(kind, 'h')} AND ${isInForce('h')})
      AND ${isByHand('l')}
    WHERE e.new IS (SELECT f.old FROM main.changes f WHERE ${ofField(kind, 'f')} AND f.id >
      coalesce((SELECT max(g.id) FROM main.changes g
        WHERE ${ofField(kind, 'g')} AND ${isInForce('g')} AND NOT ${isByHand('g')}), 0)
      ORDER BY f.id LIMIT 1)`;
  leaveStored(scope, corrected);
}

// Repeated checks of a file, after the registry has changed

const CHANGED_VALUES = 'SELECT line, row_id, field, old, new FROM staging.changes';

/** Repeats the checks that ran without the lock. Called only if another writer has committed since. */
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
    // Nobody has seen a new warning, and so nobody has accepted it.
    if (!hasNewStops(db, lastSeen) && (!onlyAsShown || isAsShown())) return;
  }
  throw new RegistryError(
    'unavailable',
    'The registry was changed while the file was checked and no longer agrees with it. Import it again.',
  );
}

// Changes that the payments of a file make to the paid amounts of loans, found before the lock is taken

/** Fills `paid_amounts`, once the changes of the file are staged. */
function stagePaidAmounts(scope: FileScope): void {
  const bitOf = new Map(assignmentsOf(scope).map(({ column, bit }) => [column, bit]));
  /** The value of a changed payment: that of the file where this cell changes. */
  const changed = (column: string, stored: string) =>
    `iif(c.cells & ${bitOf.get(column) ?? 0}, r.${column}, t.${stored})`;
  scope.db.exec(`DELETE FROM staging.paid_amounts;
    INSERT INTO staging.paid_amounts (loan_id, delta)
    SELECT loan_id, sum(delta) FROM (
      SELECT p.loan_id, r.amount AS delta FROM staging.resolved_references p
      CROSS JOIN staging.rows r ON r.line = p.line
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
/** A checked file; all rows but the refused ones may be applied. */
export type AcceptedFile = Extract<CheckedFile, { readonly isRefused: false }>;

/**
 * Must be called in the transaction of the checks, so that the file is compared with the registry they have
 * seen. Changes are those that an apply would make to the registry as it was when the file was checked; rows
 * of files that were kept for reference count as not stored. Lists may be read until the apply.
 * @param checkedVersion data version of the registry that the file was checked against
 */
export function openCheckedFile(scope: FileScope, checkedVersion: number) {
  const { db, assertCurrent, end, skipInvalid = false, overwritesCorrections = false } = scope;
  const counted = {
    /** Number of staged rows, including the refused ones. */
    rows: db.count('staging.rows') + countUnstaged(db),
    /** Number of lines that have a fault. */
    refusedRows: db.count('(SELECT DISTINCT line FROM staging.faults)'),
    faults: db.count('staging.faults'),
    /** In order of line, and on one line in the order in which they were found. */
    listFaults(): Iterable<ImportFault> {
      assertCurrent();
      return listFaults(db);
    },
  };
  warnOfPeopleElsewhere(scope);
  const isFileFaulty = db.count("staging.faults WHERE refuses = 'file'") > 0;
  if (counted.faults > 0) dropRefusedRows(db);
  let canOverwriteKept = false;
  /** Stages the changes of the file, compared with the registry at this moment. */
  const compare = () => {
    stageChanges(scope);
    if (!overwritesCorrections) leaveCorrected(scope);
    canOverwriteKept = db.count(CAN_OVERWRITE) > 0;
    keepCurrentNumbers(scope);
    keepRelated(scope);
    if (scope.kind === 'payments') stagePaidAmounts(scope);
    findWarnings(scope);
  };
  compare();
  /** Warnings are about rows without faults, those that stop the file first. */
  const check = { ...counted, warnings: listWarnings(scope) };
  const mayHaveFaults = skipInvalid && scope.replaces === undefined;
  if (isFileFaulty || (check.faults > 0 && !mayHaveFaults))
    return { ...check, isRefused: true as const, isFileFaulty };

  return {
    ...check,
    isRefused: false as const,
    /** True if values are kept that `overwritesCorrections` would import. */
    canOverwriteKept,
    missing: openMissing(scope),
    changes: countChanges(scope),
    columns: countByColumn(scope),
    /** Every stored value that an apply would change, in order of line. */
    listChanges(): Iterable<StagedChange> {
      assertCurrent();
      return listChanges(scope);
    },
    /** Values that the file would change but an apply keeps as they are stored, in the same order. */
    listKept(): Iterable<StagedChange> {
      assertCurrent();
      return listChanges(scope, 'kept');
    },
    /** Dry run: lets the next files of this session refer to the rows of this one, which is not applied. */
    referToFromNextFiles(): void {
      assertCurrent();
      db.exec(KEEP_FOR_REFERENCE[scope.kind] ?? '');
      end();
    },
    /**
     * Writes all accepted rows in one transaction, and none of them on an error. New rows get ids in order of
     * line. A row that equals the stored one is not written and keeps its `updatedAt`. The import and each
     * value that it changes are recorded in the same transaction.
     * @param nowSeconds epoch seconds, for the timestamps of written rows and for empty cells that mean "now"
     * @param onlyAsShown refuses to apply a file that would by now make other changes than the confirmed ones
     * @returns with `lockMs`, for which other writers were locked out, and the error after the commit, while
     *   the read model was refreshed
     * @throws RegistryError `unavailable` if the registry has changed and no longer agrees with the file, if
     *   other writers keep the lock, or if the disk is full
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

/** Rows that were refused before they could be staged, as --strict does with rows of totals. */
const countUnstaged = (db: Connection): number =>
  db.count(
    `(SELECT DISTINCT line FROM staging.faults f WHERE refuses = 'row'
       AND NOT EXISTS (SELECT 1 FROM staging.rows r WHERE r.line = f.line))`,
  );

/** Kept values that can be overwritten: a void payment stays void in any case. */
const CAN_OVERWRITE = `staging.kept k WHERE NOT EXISTS
  (SELECT 1 FROM main.payments t WHERE k."column" = 'status' AND t.id = k.row_id AND t.status = 'void')`;

function dropRefusedRows(db: Connection): void {
  db.exec(`DELETE FROM staging.rows WHERE line IN (SELECT line FROM staging.faults);
    DELETE FROM staging.resolved_references WHERE line IN (SELECT line FROM staging.faults)`);
}

/** Statements that keep the rows of a file for the references of the next ones. */
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
  // References were resolved from the rows themselves, in the snapshot that the transaction continues from,
  // and rows to be removed were checked for references (checks/missing-rows.ts): looking each one up again
  // would take longer than writing it.
  db.raw.pragma('foreign_keys = OFF');
  try {
    let { version } = checked;
    /**
     * Repeats the checks if the registry has changed since, which may be long ago if an operator was asked.
     * As much as possible is done without the lock. Returns true after a change.
     */
    const renew = () => {
      const current = readDataVersion(db);
      if (current === version) return false;
      checked.again();
      version = current;
      return true;
    };
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

/** Writes the file, and records its changes in the journal. */
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
  if (hasDerivedReferences(kind)) {
    if (hasDerived === true && zone !== undefined) keepTimeZone(db, id, zone);
    if (refusedRows > 0) keepRepeatedRows(db, id);
  }
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

/**
 * Finds the members whose entries the file adds or changes, without the lock. The checks (checks.ts) refuse a
 * change of an entry's member.
 */
function stageTouchedMembers(scope: FileScope): void {
  const { db, kind } = scope;
  if (!isPartOfMember(kind)) return;
  db.exec(`DELETE FROM staging.touched_members;
    INSERT OR IGNORE INTO staging.touched_members (id)
    SELECT member_id FROM staging.resolved_references
    WHERE id IS NULL OR line IN (SELECT line FROM staging.changed_rows)`);
  addMembersOfMissing(scope);
}
