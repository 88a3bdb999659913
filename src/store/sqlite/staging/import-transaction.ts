/** A file after its checks: what was found, and what may be done with its accepted rows. */
import type {
  CheckedFile,
  CheckOptions,
  ImportChanges,
  ImportRecord,
  ImportResult,
} from '../../contract/import/import-session.ts';
import type { Connection } from '../engine/connection.ts';
import { toUnavailable } from '../engine/errors.ts';
import { tidyUp } from '../journal/command-transaction.ts';
import {
  beginOperation,
  endOperation,
  type IdRange,
  keepCreatedRows,
  keepFile,
} from '../journal/operations.ts';
import { addPaidAmounts } from '../journal/paid-amounts.ts';
import { announce, insertChanges } from '../journal/record-changes.ts';
import { applyStaged, isPartOfMember, openNewAccounts } from './apply.ts';
import { checkAgain } from './check-again.ts';
import { keepCorrections, keepRelated } from './checks/corrections.ts';
import { keepRepeatedRows } from './checks/equal-entries.ts';
import { addMembersOfMissing, openMissing, removeEmptied, removeMissing } from './checks/missing-rows.ts';
import { KEEP_LOANS } from './checks/payment-checks.ts';
import { keepCurrentNumbers } from './checks/replaced-numbers.ts';
import { readDataVersion } from './checks/run-checks.ts';
import { keepTimeZone } from './checks/time-zone-of-references.ts';
import { stagePaidAmounts } from './paid-amounts.ts';
import { countByColumn, countChanges, listChanges, recordedChanges, stageChanges } from './staged/changes.ts';
import { hasDerivedReferences } from './staged/derived-references.ts';
import type { FileScope } from './staged/file-scope.ts';
import { listFaults, NOTHING_IMPORTED } from './staged/tables.ts';
import { findWarnings, listWarnings } from './warnings/find-warnings.ts';
import { warnOfPeopleElsewhere } from './warnings/ledger-of-another-cooperative.ts';

/**
 * Called in the transaction of the checks: what is staged here is compared with the registry they have seen.
 * @param checkedVersion the data version of the registry that the file was checked against
 */
export function openCheckedFile(
  scope: FileScope,
  checkedVersion: number,
  { skipInvalid, overwritesCorrections }: CheckOptions,
): CheckedFile {
  const { db, assertCurrent, end } = scope;
  const counted = {
    rows: db.count('staging.rows') + countUnstaged(db),
    refusedRows: db.count('(SELECT DISTINCT line FROM staging.faults)'),
    faults: db.count('staging.faults'),
    listFaults() {
      assertCurrent();
      return listFaults(db);
    },
  };
  warnOfPeopleElsewhere(scope);
  const isFileFaulty = db.count("staging.faults WHERE refuses = 'file'") > 0;
  if (counted.faults > 0) dropRefusedRows(db);
  let canOverwriteKept = false;
  /** What the file changes, as it is compared with the registry at this moment. */
  const compare = () => {
    stageChanges(scope);
    if (overwritesCorrections !== true) keepCorrections(scope);
    canOverwriteKept = db.count(CAN_OVERWRITE) > 0;
    keepCurrentNumbers(scope);
    keepRelated(scope);
    if (scope.kind === 'payments') stagePaidAmounts(scope);
    findWarnings(scope);
  };
  compare();
  const check = { ...counted, warnings: listWarnings(scope) };
  const mayHaveFaults = skipInvalid && scope.replaces === undefined;
  if (isFileFaulty || (check.faults > 0 && !mayHaveFaults))
    return { ...check, isRefused: true, isFileFaulty };

  return {
    ...check,
    isRefused: false,
    canOverwriteKept,
    missing: openMissing(scope),
    changes: countChanges(scope),
    columns: countByColumn(scope),
    listChanges() {
      assertCurrent();
      return listChanges(scope);
    },
    listKept() {
      assertCurrent();
      return listChanges(scope, 'kept');
    },
    keepForReference() {
      assertCurrent();
      keepForReference(scope);
      end();
    },
    apply(nowSeconds, record, options) {
      assertCurrent();
      const again = () => checkAgain(scope, compare, options?.onlyAsShown === true);
      const checked = { version: checkedVersion, refusedRows: check.refusedRows, again };
      const result = apply(scope, checked, nowSeconds, record);
      end();
      const errorAfterCommit = tidyUp(db, scope.format, nowSeconds);
      return errorAfterCommit === undefined ? result : { ...result, errorAfterCommit };
    },
  };
}

/** Rows that were refused before they could be staged, as --strict does with those of totals. */
const countUnstaged = (db: Connection): number =>
  db.count(
    `(SELECT DISTINCT line FROM staging.faults f WHERE refuses = 'row'
       AND NOT EXISTS (SELECT 1 FROM staging.rows r WHERE r.line = f.line))`,
  );

/** A void payment stays void in any case. */
const CAN_OVERWRITE = `staging.kept k WHERE NOT EXISTS
  (SELECT 1 FROM main.payments t WHERE k."column" = 'status' AND t.id = k.row_id AND t.status = 'void')`;

function dropRefusedRows(db: Connection): void {
  db.exec(`DELETE FROM staging.rows WHERE line IN (SELECT line FROM staging.faults);
    DELETE FROM staging.resolved_references WHERE line IN (SELECT line FROM staging.faults)`);
}

function keepForReference({ db, kind }: FileScope): void {
  if (kind === 'cooperatives')
    db.exec('INSERT OR IGNORE INTO staging.known_cooperatives SELECT code FROM staging.rows');
  if (kind === 'members') {
    db.exec(`INSERT OR IGNORE INTO staging.known_members
      SELECT cooperative_code, member_code, identity_card FROM staging.rows`);
  }
  if (kind === 'loans') db.exec(KEEP_LOANS);
}

function apply(
  scope: FileScope,
  checked: { readonly version: number; readonly refusedRows: number; readonly again: () => void },
  nowSeconds: number,
  record: ImportRecord,
): ImportResult {
  const { db, monotonicMs } = scope;
  // What the rows refer to was resolved from the rows themselves, in the snapshot that the transaction
  // continues from, and nothing is deleted: looking each one up again would take longer than writing it.
  db.raw.pragma('foreign_keys = OFF');
  try {
    let { version } = checked;
    /** Of long ago, when somebody was asked: as much as possible is done without the lock. */
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

/** Writes the file, and hands what it changes to the journal. */
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
  keepCreatedRows(db, id, kind, rows);
  if (accounts !== undefined) keepCreatedRows(db, id, 'accounts', accounts);
  if (isEntered !== true) keepFile(db, id, record, changes, { refusedRows, replaces: scope.replaces });
  if (hasDerivedReferences(kind)) {
    if (hasDerived === true && zone !== undefined) keepTimeZone(db, id, zone);
    if (refusedRows > 0) keepRepeatedRows(db, id);
  }
  endOperation(db, id, changes);
  const set = {
    entity: kind,
    ...(isEmpty(rows) ? {} : { created: `r.id BETWEEN ${rows.first} AND ${rows.last}` }),
    ...(changes.changed === 0 ? {} : { values: 'SELECT * FROM staging.changes' }),
    ...(isPartOfMember(kind) ? { members: 'SELECT id FROM staging.touched_members' } : {}),
  };
  announce(db, [set], by);
  if (kind === 'payments') addPaidAmounts(db, 'staging.paid_amounts', by);
  return { ...changes, importId: id };
}

const isEmpty = ({ first, last }: IdRange): boolean => last < first;

/**
 * Finds the members whose entries the file adds or changes, without the lock. No entry changes its member:
 * checks.ts refuses that.
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
