/** Runs the checks of a staged file, against the registry as it is at this moment. */
import type { ImportFault } from '../../../contract/import/import-session.ts';
import type { Connection } from '../../engine/connection.ts';
import { hasErasedPersons } from '../../identity/identity-hash.ts';
import { beginningAfterTransfer, isBeginning, transfersSql } from '../../identity/transfers.ts';
import { REVERSED_ACTORS } from '../../journal/operations.ts';
import { stagedColumns } from '../../schema/targets.ts';
import type { FileScope } from '../staged/file-scope.ts';
import { type Check, saying } from './check-statements.ts';
import { CHANGED_NUMBERS, CHECKS, RESOLVED_REFERENCES } from './checks.ts';
import { findEqualEntries } from './equal-entries.ts';
import { findMissing, separateOwners } from './missing-rows.ts';
import { readReplacedNumbers } from './replaced-numbers.ts';

const MOVED = 'The member changed to {cooperative} on {day}: what came after that day belongs there.';

export function transferChecks({ kind, zone }: FileScope): Check[] {
  if (!isBeginning(kind)) return [];
  const { column, isAfter } = beginningAfterTransfer(kind, zone);
  return [
    {
      column,
      sql: `SELECT r.line, ${saying(MOVED, { cooperative: 't.code', day: 't.day' })}
        FROM (${transfersSql(REVERSED_ACTORS)}) t
        CROSS JOIN staging.resolved_references p ON p.member_id = t.member_id
        CROSS JOIN staging.rows r ON r.line = p.line
        WHERE p.id IS NULL AND ${isAfter}`,
    },
  ];
}

/** Who was registered again since, over HTTP or despite the erasure, is imported like others. */
const IS_ERASED = `r.identity_card IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM main.members m WHERE m.identity_card = r.identity_card)
  AND EXISTS (SELECT 1 FROM main.erasure_secrets s WHERE identity_hash(s.secret, r.identity_card)
    IN (SELECT identity_hash FROM main.erased_persons))`;

/** Finds the rows that name such a person; the checks look no further at whom they name. */
export function findErasedRows({ db, kind }: FileScope): void {
  db.exec('DELETE FROM staging.erased_rows');
  if (!stagedColumns(kind).some(({ name }) => name === 'identity_card') || !hasErasedPersons(db)) return;
  db.exec(`INSERT INTO staging.erased_rows SELECT r.line FROM staging.rows r WHERE ${IS_ERASED}`);
}

const refusing = (message: string): Check => ({
  column: 'identity_card',
  sql: `SELECT line, '${message}' FROM staging.erased_rows`,
});

const MEMBER = refusing('This person was erased. --despite-erasure imports the row.');
const ENTRY = refusing('This person was erased.');

export function erasureChecks({ kind, despiteErasure = false }: FileScope): Check[] {
  if (kind === 'members') return despiteErasure ? [] : [MEMBER];
  return [ENTRY];
}

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
