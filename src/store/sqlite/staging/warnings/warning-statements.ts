/**
 * What about a checked file its sender should look at before it is imported
 * (docs/import-reference.md#warnings), set by set. Those that stop a file look at its new and changed rows
 * only, so that one which was accepted can be imported again; the others look at all of its rows.
 */

import { MOST_TIMES_PAID } from '../../../../domain/lending/payments.ts';
import { ENDED_COOPERATIVE_STATUSES } from '../../../../domain/membership/cooperatives.ts';
import { say, type Text, unpack } from '../../../../domain/values/message.ts';
import type { ImportKind } from '../../../contract/import/import-session.ts';
import { WARNINGS, type WarningKind } from '../../../contract/import/import-warnings.ts';
import { ENDED } from '../../identity/transfers.ts';
import { REVERSED_ACTORS } from '../../journal/operations.ts';
import { ERASED_STATUS, MEMBER_COUNTS } from '../../schema/counts.ts';
import { currentSql } from '../../schema/declared-totals.ts';
import { saying } from '../checks/check-statements.ts';
import type { FileScope } from '../staged/file-scope.ts';
import { contradictedCardsSql, lookalikesSql } from './identity-warnings.ts';
import { LEDGER_WARNINGS, newerVersion } from './ledger-warnings.ts';
import { MEMBERS_OF_ANOTHER_COOPERATIVE } from './members-of-another-cooperative.ts';
import { TYPED_WARNINGS } from './typed-warnings.ts';

export interface WarningStatement {
  readonly kind: WarningKind;
  /** Columns that the file must have for it. */
  readonly needs: readonly string[];
  /** SELECT of `line` and a text for the message; undefined when there is nothing to look for. */
  readonly sql: (scope: FileScope) => string | undefined;
  /** @param detail the text of the SELECT; warnings with different ones are told apart */
  readonly message: (rows: number, detail: string) => Text;
}

const listed = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(', ');

const statement = (
  kind: WarningKind,
  needs: readonly string[],
  sql: string | WarningStatement['sql'],
  message: WarningStatement['message'],
): WarningStatement => ({ kind, needs, sql: typeof sql === 'string' ? () => sql : sql, message });

const wouldRevive = (ended: string): string => `SELECT line, '' FROM staging.changes
  WHERE "column" = 'status' AND old IN (${ended}) AND new NOT IN (${ended})`;

/** More than this share of a cooperative's members, and more than this many. */
const MANY = { share: 10, members: 5 } as const;
const MANY_CHANGE =
  '{rows} of the {members} members of {cooperative} would change name, national ID or status.';
const MANY_CHANGES = `WITH
  changed AS MATERIALIZED (SELECT DISTINCT e.line, p.cooperative_id FROM staging.changes e
    CROSS JOIN staging.resolved_references p ON p.line = e.line
    WHERE e."column" IN ('full_name', 'identity_card', 'status')),
  sums AS (SELECT cooperative_id, count(*) AS rows,
      (SELECT sum(rows) FROM (${currentSql(
        MEMBER_COUNTS.ofCooperatives,
        `cooperative_id = changed.cooperative_id AND status <> '${ERASED_STATUS}'`,
      )})) AS members
    FROM changed GROUP BY 1 HAVING count(*) > ${MANY.members})
  SELECT e.line, ${saying(MANY_CHANGE, { rows: 's.rows', members: 's.members', cooperative: 'c.code' })}
  FROM sums s
  CROSS JOIN main.cooperatives c ON c.id = s.cooperative_id
  CROSS JOIN changed e ON e.cooperative_id = s.cooperative_id
  WHERE s.rows * ${MANY.share} > s.members`;

/** New rows of people whom a correction took out of the cooperative, with what they had. */
const MOVED = `SELECT DISTINCT e.line,
    json_object('cooperative', c.code, 'id', replace(h.actor, 'correction:', ''))
  FROM staging.elsewhere e CROSS JOIN staging.resolved_references p ON p.line = e.line
  CROSS JOIN main.members m ON m.id = e.member_id CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id
  CROSS JOIN main.changes h ON h.entity = 'members' AND h.row_id IN (SELECT m.id UNION ALL
      SELECT g.id FROM main.former_members g WHERE g.into_id = m.id)
  WHERE p.id IS NULL AND h.field = 'cooperative_id' AND h.old = p.cooperative_id
    AND h.actor GLOB 'correction:*' AND h.actor NOT IN (${REVERSED_ACTORS})`;

/** What says who somebody is. */
export const IDENTITY_COLUMNS = listed(['full_name', 'date_of_birth', 'identity_card']);

/** Rows that are new, or that give a stored member another identity. */
const NAME_DIFFERS = ({ columns }: FileScope): string | undefined => {
  const born = columns.has('date_of_birth') ? 'r.date_of_birth' : 't.date_of_birth';
  return `SELECT DISTINCT e.line, '' FROM staging.elsewhere e CROSS JOIN staging.rows r ON r.line = e.line
    CROSS JOIN staging.resolved_references p ON p.line = e.line
    CROSS JOIN main.members m ON m.id = e.member_id LEFT JOIN main.members t ON t.id = p.id
    WHERE (p.id IS NULL
        OR e.line IN (SELECT line FROM staging.changes WHERE "column" IN (${IDENTITY_COLUMNS})))
      AND substr(${born}, 1, 4) <> substr(m.date_of_birth, 1, 4)
      AND NOT have_common_word(coalesce(r.full_name, t.full_name), m.full_name)`;
};

/**
 * Twelve hours after the day, when it has ended in every time zone. The few members whose death is recorded
 * are found by an index, so that a file without entries of theirs costs nothing. A status that was corrected
 * since ends it.
 */
const afterDeath = (instant: string): string => `SELECT r.line, ''
  FROM main.members m INDEXED BY members_deceased
  CROSS JOIN staging.resolved_references p ON p.member_id = m.id
  CROSS JOIN staging.rows r ON r.line = p.line
  WHERE m.date_of_death IS NOT NULL AND m.status = 'deceased'
    AND r.${instant} >= unixepoch(m.date_of_death, '+36 hours')`;

/** Payments of loans on which so much will be paid. */
const OVERPAID_LOANS = `SELECT p.line, '' FROM staging.resolved_references p
  CROSS JOIN main.loans l ON l.id = p.loan_id LEFT JOIN staging.paid_amounts a ON a.loan_id = l.id
  WHERE l.paid_amount_minor + coalesce(a.delta, 0) > ${MOST_TIMES_PAID} * l.amount_minor`;

/** Hundredths of a per cent: nobody lends for less, and 0.18 is 18 % as a share. */
const LEAST_INTEREST = 100;

export const WARNING_STATEMENTS: { readonly [kind in ImportKind]?: readonly WarningStatement[] } = {
  cooperatives: [
    statement('ended_status', ['status'], wouldRevive(listed(ENDED_COOPERATIVE_STATUSES)), (n) =>
      say('{n|# cooperative|# cooperatives} recorded as dissolved would get another status.', { n }),
    ),
  ],
  members: [
    statement('ended_status', ['status'], wouldRevive(ENDED), (n) =>
      say('{n|# member|# members} recorded as withdrawn or deceased would get another status.', { n }),
    ),
    statement('many_changes', [], MANY_CHANGES, (_, detail) => unpack(detail)),
    statement('other_cooperative', [], MEMBERS_OF_ANOTHER_COOPERATIVE, (_, detail) => unpack(detail)),
    statement('moved', [], MOVED, (n, detail) =>
      say(
        '{n|# member of this list was|# members of this list were} moved to {cooperative} by ' +
          'correction {id}.',
        { n, ...(JSON.parse(detail) as { cooperative: string; id: string }) },
      ),
    ),
    statement('name_differs', [], NAME_DIFFERS, (n) =>
      say(
        '{n|# national ID is|# national IDs are} held in another cooperative under a different name and ' +
          'with another year of birth.',
        { n },
      ),
    ),
    statement('near_duplicate', [], lookalikesSql, (n) =>
      say(
        '{n|# row has|# rows have} the name and phone of another member, here or in another cooperative, ' +
          'and a national ID that differs in one digit.',
        { n },
      ),
    ),
    statement(
      'changed_id',
      [],
      `SELECT line, '' FROM staging.changes WHERE "column" = 'identity_card'`,
      (n) =>
        say(
          '{n|# member code belongs|# member codes belong} to a member with another national ID, which ' +
            'would be replaced.',
          { n },
        ),
    ),
    statement(
      'impossible_id',
      [],
      `SELECT line, '' FROM staging.rows WHERE identity_card < '1' OR identity_card >= '4'`,
      (n) => say('{n|# national ID begins|# national IDs begin} with neither 1, 2 nor 3.', { n }),
    ),
    statement('contradicted_id', [], contradictedCardsSql, (_, detail) => unpack(detail)),
    statement(
      'born_after_registration',
      ['date_of_birth', 'registration_date'],
      // A day later, so that no time zone matters.
      `SELECT line, '' FROM staging.rows
       WHERE date_of_birth > date(registration_date + ${24 * 3600}, 'unixepoch')`,
      (n) => say('{n|# member was|# members were} born after the date of registration.', { n }),
    ),
  ],
  production: [
    ...LEDGER_WARNINGS,
    newerVersion('production'),
    ...TYPED_WARNINGS.production,
    statement('after_death', [], afterDeath('delivered_at'), (n) =>
      say('{n|# delivery is|# deliveries are} dated after the death of the member.', { n }),
    ),
  ],
  savings: [
    ...LEDGER_WARNINGS,
    newerVersion('savings'),
    ...TYPED_WARNINGS.savings,
    statement('after_death', [], afterDeath('transacted_at'), (n) =>
      say('{n|# transaction is|# transactions are} dated after the death of the member.', { n }),
    ),
  ],
  payments: [
    ...LEDGER_WARNINGS,
    statement('overpaid', [], OVERPAID_LOANS, (n) =>
      say('{n|# payment is|# payments are} on loans paid beyond three times the amount.', { n }),
    ),
    ...TYPED_WARNINGS.payments,
  ],
  loans: [
    ...LEDGER_WARNINGS,
    statement(
      'overpaid',
      ['paid_amount'],
      `SELECT line, '' FROM staging.rows WHERE paid_amount > ${MOST_TIMES_PAID} * amount`,
      (n) => say('{n|# loan is|# loans are} paid beyond three times the amount.', { n }),
    ),
    statement(
      'end_before_start',
      ['loan_start_date', 'loan_end_date'],
      `SELECT line, '' FROM staging.rows WHERE loan_end_date < loan_start_date`,
      (n) => say('{n|# loan ends|# loans end} before the start.', { n }),
    ),
    statement(
      'low_interest',
      ['interest_rate'],
      `SELECT line, '' FROM staging.rows WHERE interest_rate > 0 AND interest_rate < ${LEAST_INTEREST}`,
      (n) =>
        say('{n|# loan has|# loans have} an interest of less than 1 % a year: is 0.18 meant as 18 %?', { n }),
    ),
  ],
};

/** Kinds of warnings that stop an import. */
export const STOPPING_KINDS = Object.entries(WARNINGS).flatMap(([kind, { stops }]) => (stops ? [kind] : []));
