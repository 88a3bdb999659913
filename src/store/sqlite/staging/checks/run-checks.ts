/** Runs the checks of a staged file, against the registry as it is at this moment. */
import type { ImportFault } from '../../../ports/import/import-session.ts';
import type { Connection } from '../../engine/connection.ts';
import type { FileScope } from '../staged/file-scope.ts';
import type { Check } from './check-statements.ts';
import { CHANGED_NUMBERS, CHECKS, RESOLVED_REFERENCES } from './checks.ts';
import { findEqualEntries } from './equal-entries.ts';
import { erasureChecks, findErasedRows } from './erased-checks.ts';
import { readReplacedNumbers } from './replaced-numbers.ts';
import { findMissing, separateOwners } from './replacement.ts';
import { transferChecks } from './transfers.ts';

/** A number that changes when another connection commits to the registry. */
export const readDataVersion = (db: Connection): number =>
  db.raw.pragma('main.data_version', { simple: true }) as number;

/** Finds what each row refers to and updates, and adds the faults that this shows. */
export function resolveAndCheck(scope: FileScope): void {
  const { db, kind, columns } = scope;
  readReplacedNumbers(scope);
  findErasedRows(scope);
  db.exec(`DELETE FROM staging.resolved_references;
    INSERT INTO staging.resolved_references (line, id, cooperative_id, member_id, account_id, loan_id)
    ${RESOLVED_REFERENCES[kind]}`);
  if (kind === 'members') db.exec(CHANGED_NUMBERS);
  findEqualEntries(scope);
  separateOwners(scope);
  const checks = CHECKS[kind].filter(({ onlyWith }) => onlyWith === undefined || columns.has(onlyWith));
  runChecks(db, checks, 'row');
  runChecks(db, [...erasureChecks(scope), ...transferChecks(scope)], 'row');
  findMissing(scope);
}

export function runChecks(db: Connection, checks: readonly Check[], refuses: ImportFault['refuses']): void {
  for (const { column, sql } of checks) {
    // The WITH renames the two columns of a check's SELECT.
    db.run(
      `INSERT INTO staging.faults SELECT line, ?, message, ?
       FROM (WITH found (line, message) AS (${sql}) SELECT line, message FROM found)`,
      [column, refuses],
    );
  }
}
