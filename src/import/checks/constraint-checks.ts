/** SQL checks of a staged file: references to stored rows, and uniqueness in the file and the registry. */

import type { ImportKind } from '../../registry/file-columns.ts';
import { IS_ANOTHER_BALANCE } from '../staging/targets.ts';
import { type Check, quoted, ROWS, shared, twice, unknown, where } from './check-statements.ts';
import { entryOfAnother } from './equal-entries.ts';
import { KNOWN_LOAN_ID, PAYMENT_CHECKS } from './payment-checks.ts';

const COOPERATIVE = unknown(
  'cooperative_code',
  'There is no cooperative with the code "{code}". Import the cooperatives first.',
  'There is no cooperative with this code. Import the cooperatives first.',
  'p.cooperative_id IS NULL',
);
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

/** SQL condition: the row `r` names the member `k`, who is from an earlier file of the same dry run. */
const KNOWN_MEMBER = 'k.cooperative_code = r.cooperative_code AND k.member_code = r.member_code';
const IS_MEMBER_UNKNOWN = `p.cooperative_id IS NOT NULL AND p.member_id IS NULL
  AND p.line NOT IN (SELECT line FROM staging.erased_rows)`;
/** Checks of an entry's member. `addMemberCodes` has added the codes of members named only by national ID. */
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

export const CHECKS: { readonly [kind in ImportKind]: readonly Check[] } = {
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
      'The national ID of the member with this code has replaced another one. Use nid replace to change it.',
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
    { ...twice('reference', ['cooperative_code', 'reference']), onlyWith: 'reference' },
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
    twice('reference', ['cooperative_code', 'reference']),
    where(
      'reference',
      'This reference belongs to a loan of another member.',
      't.member_id <> p.member_id',
      'CROSS JOIN main.loans t ON t.id = p.id',
    ),
    OPENING_BALANCE,
  ],
  payments: [COOPERATIVE, twice('reference', ['cooperative_code', 'reference']), ...PAYMENT_CHECKS],
  savings: [
    COOPERATIVE,
    ...MEMBER,
    { ...twice('reference', ['cooperative_code', 'reference']), onlyWith: 'reference' },
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
/** Minimum number of national IDs for the check below. Fewer national IDs may all end in 0 by chance. */
const TRAILING_ZERO_ROWS = 20;

/**
 * Detects national IDs that lost their 16th digit because a spreadsheet stored them as numbers
 * (docs/import-reference.md#effects-of-spreadsheets).
 */
export const TRAILING_ZERO: Check = {
  column: 'identity_card',
  sql: `SELECT 1, ${quoted(ALL_END_IN_ZERO)}
        FROM (SELECT count(DISTINCT identity_card) AS cards, sum(identity_card NOT LIKE '%0') AS others
              FROM staging.rows WHERE identity_card IS NOT NULL)
        WHERE cards >= ${TRAILING_ZERO_ROWS} AND others = 0`,
};

// In a dry run, a cooperative or member of an earlier file has the id -1, because it is not stored.
const cooperativeId = `coalesce(c.id,
  (SELECT -1 FROM staging.known_cooperatives WHERE code = r.cooperative_code))`;
// In a dry run, an earlier file may give a stored member another code. SQLite evaluates EXISTS only once.
// Usually there is no earlier file, and SQLite skips the search.
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

/** SELECTs for `resolved_references`: ids of the stored rows that each staged row updates or refers to. */
export const RESOLVED_REFERENCES: { readonly [kind in ImportKind]: string } = {
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
 * Resolves a row with a new national ID to the member who has the row's code. The import then updates this
 * member's ID. If the file also contains the old ID, the row stays unresolved, and a check refuses it. If
 * the new ID belongs to another member of the cooperative, the row is already resolved to this other member,
 * and a check refuses the row's code.
 */
export const CHANGED_NUMBERS = `DELETE FROM staging.code_holders;
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
