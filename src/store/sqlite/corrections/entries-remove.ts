/** Removes deliveries, savings transactions or loans that should not be there. */
import type { EntryKind, EntrySelection } from '../../../domain/entries/entries.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { formatDecimal, MONEY, WEIGHT } from '../../../domain/values/decimal.ts';
import { type Message, say, Written } from '../../../domain/values/message.ts';
import type { Collision, CorrectionRefused } from '../../contract/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { readEntryIds } from '../persons/entry-rows.ts';
import { memberSql, tableOf } from '../schema/tables.ts';
import { type Correction, type CorrectionPlan, refuse } from './run.ts';

/** What is added up of the entries, by what they are of, and when they were made. */
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

/** @param zone of the days that are shown */
export const removeEntries = (
  db: Connection,
  kind: EntryKind,
  selection: EntrySelection,
  zone: TimeZone,
): Correction => ({
  kind: 'entries_remove',
  // Not the reference: some cooperatives use national IDs in theirs.
  options: { kind, ...('memberId' in selection ? { member_id: selection.memberId } : {}) },
  decide: () => planRemoval(db, kind, readEntryIds(db, kind, selection), zone),
});

function planRemoval(
  db: Connection,
  kind: EntryKind,
  ids: readonly number[],
  zone: TimeZone,
): CorrectionPlan | CorrectionRefused {
  if (ids.length === 0) return refuse('There is no such entry.');
  // Dropped by the work, or with the transaction.
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
    notes: noteSums(db, kind, zone),
    work() {
      db.exec(`DELETE FROM main.${tableOf(kind).table} WHERE id IN (SELECT id FROM temp.removed_entries);
        DROP TABLE temp.removed_entries`);
    },
  };
}

const going = (kind: EntryKind): string =>
  `temp.removed_entries r CROSS JOIN main.${tableOf(kind).table} e ON e.id = r.id`;

/** The sum, and the first and last day, so that nobody removes more than was meant. */
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
