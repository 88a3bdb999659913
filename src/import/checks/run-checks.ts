/** Finds the stored row of each staged row, and checks references and uniqueness in file and registry. */

import type { ImportKind } from '../../registry/file-columns.ts';
import type { LoanStatus } from '../../registry/loans.ts';
import { refuseCountedPayment, refuseNewPayment } from '../../registry/payments.ts';
import { hasErasedPersons, hashIdentity } from '../../registry/stored/erasures.ts';
import { beginningAfterTransfer, isBeginning, TRANSFERS } from '../../registry/stored/transfers.ts';
import type { Connection } from '../../sqlite/connection.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { mayEchoCell } from '../../values/errors.ts';
import { pack } from '../../values/message.ts';
import type { ImportFault } from '../files/records.ts';
import { changeId, LAST_PLACE, leaveStored } from '../staging/staged-changes.ts';
import {
  type FileScope,
  IS_ANOTHER_BALANCE,
  type StagedFile,
  stagedColumns,
} from '../staging/staging-tables.ts';
import { type Check, quoted, ROWS, saying, shared, twice, unknown, where } from './check-statements.ts';
import { haveCommonWord } from './compare-people.ts';
import { entryOfAnother, findEqualEntries } from './equal-entries.ts';
import { findMissing, separateOwners } from './missing-rows.ts';
import { KNOWN_LOAN_ID, PAYMENT_CHECKS } from './payment-checks.ts';

const COOPERATIVE = unknown(
  'cooperative_code',
  'There is no cooperative with the code "{code}". Import the cooperatives first.',
  'There is no cooperative with this code. Import the cooperatives first.',
  'p.cooperative_id IS NULL',
);
const UNIQUE_REFERENCE: Check = {
  ...twice('reference', ['cooperative_code', 'reference']),
  onlyWith: 'reference',
};
/** Refuses a new opening balance of a loan with payments (docs/import-reference.md#opening-balances). */
const OPENING_BALANCE: Check = {
  ...where(
    'paid_amount',
    'The paid amount is computed from the recorded payments. Leave the cell empty.',
    `t.paid_amount_minor > t.opening_balance_minor AND ${IS_ANOTHER_BALANCE}`,
    'CROSS JOIN main.loans t ON t.id = p.id',
  ),
  onlyWith: 'paid_amount',
};

/** SQL condition: the row `r` names the member `k` of an earlier file of the dry run. */
const KNOWN_MEMBER = 'k.cooperative_code = r.cooperative_code AND k.member_code = r.member_code';
const IS_MEMBER_UNKNOWN = `p.cooperative_id IS NOT NULL AND p.member_id IS NULL
  AND p.line NOT IN (SELECT line FROM staging.erased_rows)`;
/** Checks of the member code. `addMemberCodes` has added the codes of members named only by national ID. */
const MEMBER: readonly Check[] = [
  unknown(
    'member_code',
    'There is no member with the code "{code}" in the cooperative. Import its members first.',
    'There is no member with this code in the cooperative. Import its members first.',
    IS_MEMBER_UNKNOWN,
  ),
  ...[
    where(
      'identity_card',
      'There is no member with this national ID in the cooperative. Import its members first.',
      `r.member_code IS NULL AND r.identity_card IS NOT NULL AND ${IS_MEMBER_UNKNOWN}`,
    ),
    where(
      'identity_card',
      'The member with this member code has another national ID.',
      `r.identity_card <> coalesce(
         (SELECT identity_card FROM staging.known_members k WHERE ${KNOWN_MEMBER}),
         (SELECT identity_card FROM main.members WHERE id = p.member_id))`,
    ),
  ].map((check) => ({ ...check, onlyWith: 'identity_card' })),
];

const CHECKS: { readonly [kind in ImportKind]: readonly Check[] } = {
  cooperatives: [twice('code', ['code'])],
  members: [
    COOPERATIVE,
    twice('identity_card', ['cooperative_code', 'identity_card']),
    shared(
      'member_code',
      ['cooperative_code', 'member_code'],
      'identity_card',
      'Another person has this member code on line {line}.',
    ),
    where(
      'identity_card',
      'This national ID was replaced, and the person is not a member here. Use the current one.',
      `NOT EXISTS (SELECT 1 FROM main.members m
         WHERE m.identity_card = r.identity_card AND m.cooperative_id = p.cooperative_id)`,
      'CROSS JOIN staging.replaced_numbers f ON f.line = p.line',
    ),
    where(
      'identity_card',
      'The member with this code has a national ID that replaced another. Use nid replace to change this ID.',
      `m.identity_card <> r.identity_card
         AND m.identity_card IN (SELECT new FROM main.former_identity_cards)`,
      'CROSS JOIN main.members m ON m.id = p.id',
    ),
    where(
      'member_code',
      'Another member of the cooperative has this code.',
      'p.id IS NOT h.member_id',
      'CROSS JOIN staging.code_holders h ON h.line = p.line',
    ),
    where(
      'member_code',
      'Another member of the cooperative has this code in a file before this one.',
      'k.identity_card <> r.identity_card',
      `CROSS JOIN staging.known_members k ON ${KNOWN_MEMBER}`,
    ),
  ],
  production: [
    COOPERATIVE,
    ...MEMBER,
    UNIQUE_REFERENCE,
    entryOfAnother('production'),
    where(
      'reference',
      'This reference belongs to a delivery of another member.',
      't.member_id <> p.member_id',
      'CROSS JOIN main.production_entries t ON t.id = p.id',
    ),
  ],
  loans: [
    COOPERATIVE,
    ...MEMBER,
    UNIQUE_REFERENCE,
    where(
      'reference',
      'This reference belongs to a loan of another member.',
      't.member_id <> p.member_id',
      'CROSS JOIN main.loans t ON t.id = p.id',
    ),
    OPENING_BALANCE,
  ],
  payments: [COOPERATIVE, UNIQUE_REFERENCE, ...PAYMENT_CHECKS],
  savings: [
    COOPERATIVE,
    ...MEMBER,
    UNIQUE_REFERENCE,
    shared(
      'account_number',
      ['cooperative_code', 'account_number'],
      'member_code',
      'The account belongs to another member on line {line}.',
    ),
    where(
      'account_number',
      'This account belongs to another member of the cooperative.',
      'a.member_id <> p.member_id',
      'CROSS JOIN main.savings_accounts a ON a.id = p.account_id',
    ),
    entryOfAnother('savings'),
    where(
      'reference',
      'This reference belongs to a transaction of another member.',
      'a.member_id <> p.member_id',
      `CROSS JOIN main.savings_transactions t ON t.id = p.id
       CROSS JOIN main.savings_accounts a ON a.id = t.account_id`,
    ),
  ],
};

const ALL_END_IN_ZERO =
  'Every national ID ends in 0: a spreadsheet has kept them as numbers of 15 digits and lost the last one. ' +
  'Format the column as text and enter them again, or import them with --accept-trailing-zero.';
/** Minimum number of national IDs for the check. Fewer may all end in 0 by chance. */
const TRAILING_ZERO_ROWS = 20;

/** Detects national IDs that lost their 16th digit (docs/import-reference.md#effects-of-spreadsheets). */
export const TRAILING_ZERO: Check = {
  column: 'identity_card',
  sql: `SELECT 1, ${quoted(ALL_END_IN_ZERO)}
        FROM (SELECT count(DISTINCT identity_card) AS cards, sum(identity_card NOT LIKE '%0') AS others
              FROM staging.rows WHERE identity_card IS NOT NULL)
        WHERE cards >= ${TRAILING_ZERO_ROWS} AND others = 0`,
};

// In a dry run, a cooperative or member of an earlier file has the id -1.
const cooperativeId = `coalesce(c.id,
  (SELECT -1 FROM staging.known_cooperatives WHERE code = r.cooperative_code))`;
// In a dry run, an earlier file may give a stored member another code. SQLite evaluates EXISTS only once, and
// skips the search if there is no earlier file.
const memberId = `coalesce(
  iif((SELECT EXISTS (SELECT 1 FROM staging.known_members)), (SELECT o.id FROM staging.known_members k
     CROSS JOIN main.members o ON o.cooperative_id = c.id AND o.identity_card = k.identity_card
     WHERE ${KNOWN_MEMBER}), NULL),
  m.id, (SELECT -1 FROM staging.known_members k WHERE ${KNOWN_MEMBER}))`;
const STAGED = 'staging.rows r LEFT JOIN main.cooperatives c ON c.code = r.cooperative_code';
const WITH_MEMBER = `${STAGED}
  LEFT JOIN main.members m ON m.cooperative_id = c.id AND m.member_code = r.member_code`;
const byReference = (table: string): string =>
  `(SELECT t.id FROM main.${table} t WHERE t.cooperative_id = c.id AND t.reference = r.reference)`;

const RESOLVED_REFERENCES: { readonly [kind in ImportKind]: string } = {
  cooperatives: `SELECT r.line, (SELECT id FROM main.cooperatives WHERE code = r.code), NULL, NULL, NULL, NULL
    FROM staging.rows r`,
  members: `SELECT r.line,
      (SELECT m.id FROM main.members m WHERE m.identity_card = r.identity_card AND m.cooperative_id = c.id),
      ${cooperativeId}, NULL, NULL, NULL
    FROM ${STAGED}`,
  production: withMember(byReference('production_entries'), 'NULL'),
  loans: withMember(byReference('loans'), 'NULL'),
  payments: `SELECT r.line, ${byReference('payments')}, ${cooperativeId}, NULL, NULL, ${KNOWN_LOAN_ID}
    FROM ${STAGED}
    LEFT JOIN main.loans l ON l.cooperative_id = c.id AND l.reference = r.loan_reference`,
  savings: withMember(
    byReference('savings_transactions'),
    `(SELECT a.id FROM main.savings_accounts a
      WHERE a.cooperative_id = c.id AND a.account_number = r.account_number)`,
  ),
};

/**
 * SQL that resolves a row with a new national ID to the member with the same code. The import updates the ID.
 * Checks refuse the row if the file also contains the old ID, or if another member of the cooperative has the
 * new ID.
 */
const CHANGED_NUMBERS = `DELETE FROM staging.code_holders;
  INSERT INTO staging.code_holders (line, member_id)
    SELECT p.line, m.id FROM ${ROWS}
    CROSS JOIN main.members m ON m.cooperative_id = p.cooperative_id AND m.member_code = r.member_code
    WHERE m.identity_card <> r.identity_card;
  UPDATE staging.resolved_references AS p SET id = h.member_id
    FROM staging.code_holders h CROSS JOIN main.members m ON m.id = h.member_id
    CROSS JOIN staging.rows r ON r.line = h.line
    WHERE p.line = h.line AND p.id IS NULL AND (r.cooperative_code, m.identity_card) NOT IN
      (SELECT cooperative_code, identity_card FROM staging.rows
       WHERE cooperative_code IS NOT NULL AND identity_card IS NOT NULL)`;

function withMember(id: string, accountId: string): string {
  return `SELECT r.line, ${id}, ${cooperativeId}, ${memberId}, ${accountId}, NULL FROM ${WITH_MEMBER}`;
}

/**
 * Updates staged rows whose national ID a correction has replaced
 * (docs/correcting.md#a-wrong-national-id). Runs again in repeated checks.
 */
export function useCurrentNumbers({ db, kind }: StagedFile): void {
  if (!stagedColumns(kind).some(({ name }) => name === 'identity_card')) return;
  if (!db.has('main.former_identity_cards')) return;
  db.exec(`INSERT OR IGNORE INTO staging.replaced_numbers (line, number)
      SELECT r.line, r.identity_card FROM staging.rows r
      CROSS JOIN main.former_identity_cards n ON n.old = r.identity_card;
    UPDATE staging.rows AS r SET identity_card = n.new FROM main.former_identity_cards n
      WHERE n.old = r.identity_card`);
}

/** Keeps a member's current national ID and, after a merge, the code of the remaining member. */
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

/** SQL condition: the row is of an erased person. False if the person was registered again. */
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

/** Returns a number that changes when another connection commits to the registry. */
export const readDataVersion = (db: Connection): number =>
  db.raw.pragma('main.data_version', { simple: true }) as number;

/** Stages the ids of the stored rows that each row updates or refers to, and the faults of all checks. */
export function resolveAndCheck(scope: FileScope): void {
  const { db, kind, columns } = scope;
  useCurrentNumbers(scope);
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

/** Adds SQL functions that return the message if a loan refuses a payment, otherwise null. */
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
 * instants, so stored entries would be imported again.
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

export const keepTimeZone = (db: Connection, operationId: number, zone: TimeZone): void =>
  void db.run(`UPDATE main.imported_files SET time_zone = ? WHERE operation_id = ? AND ${HAS_DERIVED}`, [
    zone.suffix,
    operationId,
  ]);
