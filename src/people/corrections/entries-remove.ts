/** Removes deliveries, savings transactions or loans that were recorded by mistake. */

import type { OperationScope } from '../../journal/command-transaction.ts';
import { memberSql, tableOf } from '../../registry/changes/tables.ts';
import type { EntryKind, EntrySelection } from '../../registry/entries.ts';
import { readEntryIds } from '../../registry/stored/identify.ts';
import type { Connection } from '../../sqlite/connection.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { formatDecimal, MONEY, WEIGHT } from '../../values/decimal.ts';
import { type Message, say, Written } from '../../values/message.ts';
import type { Collision } from '../correction-result.ts';
import { type Correction, refuse } from './run-correction.ts';

/** SQL for the totals of removed entries: column and kind of the amount, and column of the date. */
const SUMS = {
  production: { of: 'grams', digits: WEIGHT.fractionDigits, kind: "'weight'", at: 'delivered_at' },
  savings: { of: 'amount_minor', digits: MONEY.fractionDigits, kind: 'e.kind', at: 'transacted_at' },
  loans: { of: 'amount_minor', digits: MONEY.fractionDigits, kind: "'loan'", at: 'loan_start_date' },
} as const;

const AMOUNTS: { readonly [kind: string]: (sum: Written) => Message } = {
  weight: (sum) => say('{sum} kg', { sum }),
  loan: (sum) => say('{sum} Frw', { sum }),
  contribution: (sum) => say('{sum} Frw of contributions', { sum }),
  withdrawal: (sum) => say('{sum} Frw of withdrawals', { sum }),
};

export const removeEntries = (
  { db, format }: OperationScope,
  kind: EntryKind,
  selection: EntrySelection,
): Correction => ({
  kind: 'entries_remove',
  // The reference is not stored, because some cooperatives use national IDs in references.
  options: { kind, ...('memberId' in selection && { member_id: selection.memberId }) },
  decide() {
    const ids = readEntryIds(db, kind, selection);
    if (ids.length === 0) return refuse('There is no such entry.');
    // `work` drops the table. After a refusal, the rollback removes the table.
    db.exec('CREATE TEMP TABLE removed_entries (id INTEGER PRIMARY KEY)');
    const insert = db.raw.prepare('INSERT INTO temp.removed_entries VALUES (?)');
    for (const id of ids) insert.run(id);
    const payments = kind === 'loans' ? findPayments(db) : [];
    if (payments.length > 0) return refuse('A loan with payments cannot be removed.', payments);
    return {
      touched: { [kind]: 'SELECT id FROM temp.removed_entries' },
      members: db
        .values<number>(`SELECT DISTINCT ${memberSql(kind, 'e')} FROM ${going(kind)} ORDER BY 1`)
        .map((id) => ({ id, fate: 'stays' })),
      notes: noteSums(db, kind, format.zone),
      work() {
        db.exec(`DELETE FROM main.${tableOf(kind).table} WHERE id IN (SELECT id FROM temp.removed_entries);
          DROP TABLE temp.removed_entries`);
      },
    };
  },
});

const going = (kind: EntryKind): string =>
  `temp.removed_entries r CROSS JOIN main.${tableOf(kind).table} e ON e.id = r.id`;

/** Returns notes with the total and the first and last day, which help to notice a wrong selection. */
function noteSums(db: Connection, kind: EntryKind, { offsetSeconds }: TimeZone): Message[] {
  const { of, digits, kind: sort, at } = SUMS[kind];
  const day = (edge: 'min' | 'max') => `date(${edge}(e.${at}) + ${offsetSeconds}, 'unixepoch')`;
  return db
    .rows<{ sort: string; total: number; first: string | null; last: string | null }>(
      `SELECT ${sort} AS sort, sum(e.${of}) AS total, ${day('min')} AS first, ${day('max')} AS last
       FROM ${going(kind)} GROUP BY 1 ORDER BY 1`,
    )
    .map(({ sort, total, first, last }) => {
      const sum = (AMOUNTS[sort] as (sum: Written) => Message)(
        new Written('amount', formatDecimal(total, digits)),
      );
      if (first === null || last === null) return say('Total: {sum}.', { sum });
      const [from, to] = [new Written('day', first), new Written('day', last)];
      return first === last
        ? say('Total: {sum}, on {day}.', { sum, day: from })
        : say('Total: {sum}, from {first} to {last}.', { sum, first: from, last: to });
    });
}

const findPayments = (db: Connection): Collision[] =>
  db
    .rows<{ row: string; loan: string }>(
      `SELECT p.reference AS row, l.reference AS loan FROM temp.removed_entries r
       CROSS JOIN main.loans l ON l.id = r.id CROSS JOIN main.payments p ON p.loan_id = l.id ORDER BY p.id`,
    )
    .map(({ row, loan }) => ({
      entity: 'payments',
      row,
      message: say('It belongs to the loan {loan}.', { loan }),
    }));
