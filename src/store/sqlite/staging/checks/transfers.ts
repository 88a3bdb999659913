/**
 * Entries of a membership that are dated after the person has changed to another cooperative
 * (docs/correcting.md#a-change-of-cooperative). What is stored already, and what ends old savings and loans,
 * may be.
 */
import type { ImportKind } from '../../../ports/import/import-session.ts';
import { transfersSql } from '../../identity/transfers.ts';
import { REVERSED_ACTORS } from '../../journal/operations.ts';
import type { FileScope } from '../staged/file-scope.ts';
import { type Check, saying } from './check-statements.ts';

const BEGINNINGS: {
  readonly [kind in ImportKind]?: { readonly column: string; readonly condition: string };
} = {
  production: { column: 'delivered_at', condition: 'true' },
  savings: { column: 'transacted_at', condition: "r.kind = 'contribution'" },
  loans: { column: 'loan_start_date', condition: 'true' },
};

const MOVED = 'The member changed to {cooperative} on {day}: what came after that day belongs there.';

export function transferChecks({ kind, zone }: FileScope): Check[] {
  const beginning = BEGINNINGS[kind];
  if (beginning === undefined) return [];
  const { column, condition } = beginning;
  const nextDay = `unixepoch(t.day, '+1 day') - ${zone?.offsetSeconds ?? 0}`;
  return [
    {
      column,
      sql: `SELECT r.line, ${saying(MOVED, { cooperative: 't.code', day: 't.day' })}
        FROM (${transfersSql(REVERSED_ACTORS)}) t
        CROSS JOIN staging.resolved_references p ON p.member_id = t.member_id
        CROSS JOIN staging.rows r ON r.line = p.line
        WHERE p.id IS NULL AND ${condition} AND r.${column} >= ${nextDay}`,
    },
  ];
}
