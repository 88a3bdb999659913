/** Runs the checks of a staged file against the registry. */

import type { ImportKind } from '../../registry/file-columns.ts';
import type { LoanStatus } from '../../registry/loans.ts';
import { refuseCountedPayment, refuseNewPayment } from '../../registry/payments.ts';
import { hasErasedPersons, hashIdentity } from '../../registry/stored/erasures.ts';
import {
  beginningAfterTransfer,
  isBeginning,
  TRANSFERS,
} from '../../registry/stored/former-ids-and-transfers.ts';
import type { Connection } from '../../sqlite/connection.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { mayEchoCell } from '../../values/errors.ts';
import { pack } from '../../values/message.ts';
import type { ImportFault } from '../files/records.ts';
import { changeId, LAST_PLACE, leaveStored } from '../staging/staged-changes.ts';
import type { FileScope } from '../staging/staging-tables.ts';
import { stagedColumns } from '../staging/targets.ts';
import { type Check, saying } from './check-statements.ts';
import { haveCommonWord } from './compare-people.ts';
import { CHANGED_NUMBERS, CHECKS, RESOLVED_REFERENCES } from './constraint-checks.ts';
import { findEqualEntries } from './equal-entries.ts';
import { findMissing, separateOwners } from './missing-rows.ts';

// Rows with a national ID that a correction has replaced (docs/correcting.md#a-wrong-national-id)

/** Replaces former national IDs in the staged rows with the current IDs. Runs again in repeated checks. */
export function readReplacedNumbers({ db, kind }: FileScope): void {
  if (!stagedColumns(kind).some(({ name }) => name === 'identity_card')) return;
  if (!db.has('main.former_identity_cards')) return;
  db.exec(`INSERT OR IGNORE INTO staging.replaced_numbers (line, number)
      SELECT r.line, r.identity_card FROM staging.rows r
      CROSS JOIN main.former_identity_cards n ON n.old = r.identity_card;
    UPDATE staging.rows AS r SET identity_card = n.new FROM main.former_identity_cards n
      WHERE n.old = r.identity_card`);
}

/**
 * Keeps values that a correction has set and that differ from the file: the current national ID, and the
 * code of a member into whom the row's member was merged.
 */
export function keepCurrentNumbers(scope: FileScope): void {
  const { db, kind } = scope;
  if (kind !== 'members') return;
  if (!db.has('staging.replaced_numbers')) return;
  leaveStored(
    scope,
    `SELECT e.id FROM staging.changes e CROSS JOIN staging.replaced_numbers f ON f.line = e.line
     WHERE e."column" = 'member_code' AND e.new IN (
       SELECT c.old FROM main.former_members g CROSS JOIN main.changes c
         ON c.entity = 'members' AND c.row_id = g.id AND c.field = 'member_code'
       WHERE g.into_id = e.row_id)`,
  );
  db.exec(`INSERT INTO staging.kept (id, line, row_id, "column", old, new)
    SELECT ${changeId('f.line', LAST_PLACE)},
      f.line, p.id, 'identity_card', r.identity_card, f.number FROM staging.replaced_numbers f
    CROSS JOIN staging.rows r ON r.line = f.line CROSS JOIN staging.resolved_references p ON p.line = f.line
    WHERE p.id IS NOT NULL`);
}

const MOVED = 'The member changed to {cooperative} on {day}: what came after that day belongs there.';

function transferChecks({ kind, zone }: FileScope): Check[] {
  if (!isBeginning(kind)) return [];
  const { column, isAfter } = beginningAfterTransfer(kind, zone);
  return [
    {
      column,
      sql: `SELECT r.line, ${saying(MOVED, { cooperative: 't.code', day: 't.day' })}
        FROM (${TRANSFERS}) t
        CROSS JOIN staging.resolved_references p ON p.member_id = t.member_id
        CROSS JOIN staging.rows r ON r.line = p.line
        WHERE p.id IS NULL AND ${isAfter}`,
    },
  ];
}

/** SQL condition: the row names an erased person who was not registered again. */
const IS_ERASED = `r.identity_card IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM main.members m WHERE m.identity_card = r.identity_card)
  AND EXISTS (SELECT 1 FROM main.erasure_secrets s WHERE identity_hash(s.secret, r.identity_card)
    IN (SELECT identity_hash FROM main.erased_persons))`;

function findErasedRows({ db, kind }: FileScope): void {
  db.exec('DELETE FROM staging.erased_rows');
  if (!stagedColumns(kind).some(({ name }) => name === 'identity_card') || !hasErasedPersons(db)) return;
  db.exec(`INSERT INTO staging.erased_rows SELECT r.line FROM staging.rows r WHERE ${IS_ERASED}`);
}

function erasureChecks({ kind, despiteErasure = false }: FileScope): Check[] {
  if (kind === 'members' && despiteErasure) return [];
  const message =
    kind === 'members'
      ? 'This person was erased. --despite-erasure imports the row.'
      : 'This person was erased.';
  return [{ column: 'identity_card', sql: `SELECT line, '${message}' FROM staging.erased_rows` }];
}

/** Returns a number that changes whenever another connection commits to the registry. */
export const readDataVersion = (db: Connection): number =>
  db.raw.pragma('main.data_version', { simple: true }) as number;

/** Resolves each row to the stored rows that it updates or refers to, and stages the faults of all checks. */
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
  runChecks(db, [...checks, ...erasureChecks(scope), ...transferChecks(scope)], 'row');
  findMissing(scope);
}

export function runChecks(db: Connection, checks: readonly Check[], refuses: ImportFault['refuses']): void {
  for (const { column, sql } of checks) {
    // The WITH names the two columns of the SELECT.
    db.run(
      `INSERT INTO staging.faults SELECT line, ?, message, ?
       FROM (WITH found (line, message) AS (${sql}) SELECT line, message FROM found)`,
      [column, refuses],
    );
  }
}

// SQL functions in JavaScript, for the statements of an import

/**
 * Adds three SQL functions. `identity_hash(secret, number)` hashes a national ID as for an erased person.
 * `may_show(code)` is true if a message may contain the code or reference. `have_common_word(name, name)` is
 * true for names with a word in common.
 */
export function addSqlFunctions({ raw }: Connection): void {
  raw.function('identity_hash', { deterministic: true }, (secret, number) =>
    hashIdentity(secret as Buffer, String(number)),
  );
  raw.function('may_show', { deterministic: true }, (code) =>
    typeof code === 'string' && mayEchoCell(code) ? 1 : 0,
  );
  raw.function('have_common_word', { deterministic: true }, (one, other) =>
    typeof one === 'string' && typeof other === 'string' && haveCommonWord(one, other) ? 1 : 0,
  );
}

/**
 * Adds the SQL functions `refused_new_payment(status)` and `refused_counted_payment(paid_until, paid_at)`.
 * They return the message if a loan refuses a payment, otherwise null.
 * @param zone time zone of instants in the messages
 */
export function addPaymentMessages({ raw }: Connection, zone: TimeZone): void {
  raw.function('refused_new_payment', { deterministic: true }, (status) => {
    const refused = refuseNewPayment(status as LoanStatus);
    return refused && pack(refused);
  });
  raw.function('refused_counted_payment', { deterministic: true }, (paidUntil, paidAt) => {
    const refused = refuseCountedPayment({ paidUntil: paidUntil as number }, paidAt as number, zone);
    return refused && pack(refused);
  });
}

// Time zone of entries without a reference (docs/import-reference.md#entries-without-a-reference)

const HAS_DERIVED = 'EXISTS (SELECT 1 FROM staging.rows WHERE origin IS NOT NULL)';

/**
 * Refuses rows without a reference if an earlier import used another time zone. Dates then mean other
 * instants, so entries that are already stored would be imported again. Undone imports are ignored.
 */
export const otherTimeZone = (kind: ImportKind, { suffix }: TimeZone): Check => ({
  column: 'reference',
  sql: `SELECT 1, 'Rows without a reference were imported in the time zone ' || f.time_zone
      || ', and would count again in ${suffix}. Set TIME_ZONE_OFFSET=' || f.time_zone
      || ' again, or give the rows references.'
    FROM main.operations o CROSS JOIN main.imported_files f ON f.operation_id = o.id
    WHERE o.kind = '${kind}' AND o.undone_at IS NULL AND f.time_zone <> '${suffix}' AND ${HAS_DERIVED}
    LIMIT 1`,
});

/** Records the time zone of an import that has rows without a reference. */
export const keepTimeZone = (db: Connection, operationId: number, zone: TimeZone): void =>
  void db.run(`UPDATE main.imported_files SET time_zone = ? WHERE operation_id = ? AND ${HAS_DERIVED}`, [
    zone.suffix,
    operationId,
  ]);
