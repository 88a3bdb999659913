/** First schema: what members deliver, borrow, pay and save, and when that makes the read model stale. */
import { type ReadModelColumn, STALE_SQL } from '../stale-flag.ts';

export const ENTRIES = `
CREATE TABLE production_entries (
  id INTEGER PRIMARY KEY,
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  member_id INTEGER NOT NULL REFERENCES members (id),
  reference TEXT NOT NULL,
  delivered_at INTEGER NOT NULL,
  grams INTEGER NOT NULL CHECK (grams > 0),
  product TEXT
) STRICT;
CREATE UNIQUE INDEX production_entries_reference ON production_entries (cooperative_id, reference);
CREATE INDEX production_entries_member ON production_entries (member_id, delivered_at, grams);

-- What is paid = the opening balance, which only imports set, + the recorded payments. A payment dated at or
-- before paid_until is in the opening balance; without one it is null.
CREATE TABLE loans (
  id INTEGER PRIMARY KEY,
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  member_id INTEGER NOT NULL REFERENCES members (id),
  reference TEXT NOT NULL,
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
  interest_rate_hundredths INTEGER NOT NULL CHECK (interest_rate_hundredths >= 0),
  status TEXT NOT NULL,
  paid_amount_minor INTEGER NOT NULL CHECK (paid_amount_minor >= 0),
  opening_balance_minor INTEGER NOT NULL DEFAULT 0 CHECK (opening_balance_minor >= 0),
  paid_until INTEGER,
  loan_start_date INTEGER,
  loan_end_date INTEGER,
  approved_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX loans_reference ON loans (cooperative_id, reference);
CREATE INDEX loans_member ON loans (member_id);
CREATE INDEX loans_status ON loans (status);
CREATE INDEX loans_cooperative_status ON loans (cooperative_id, status);
CREATE INDEX loans_updated ON loans (cooperative_id, updated_at);

CREATE TABLE payments (
  id INTEGER PRIMARY KEY,
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  loan_id INTEGER NOT NULL REFERENCES loans (id),
  reference TEXT NOT NULL,
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
  method TEXT NOT NULL,
  status TEXT NOT NULL,
  paid_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX payments_reference ON payments (cooperative_id, reference);
CREATE INDEX payments_loan ON payments (loan_id, status);
CREATE INDEX payments_status ON payments (status);
CREATE INDEX payments_cooperative_status ON payments (cooperative_id, status);
CREATE INDEX payments_updated ON payments (cooperative_id, updated_at);

CREATE TABLE savings_accounts (
  id INTEGER PRIMARY KEY,
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  member_id INTEGER NOT NULL REFERENCES members (id),
  account_number TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX savings_accounts_number ON savings_accounts (cooperative_id, account_number);
CREATE INDEX savings_accounts_member ON savings_accounts (member_id);

CREATE TABLE savings_transactions (
  id INTEGER PRIMARY KEY,
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  account_id INTEGER NOT NULL REFERENCES savings_accounts (id),
  reference TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('contribution', 'withdrawal')),
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
  transacted_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX savings_transactions_reference ON savings_transactions (cooperative_id, reference);
CREATE INDEX savings_transactions_account ON savings_transactions \
(account_id, kind, amount_minor, transacted_at);
`;

/** Triggers that set the stale flag of a column for the members that `ownerOf` finds, unless it is set. */
function staleTriggers(table: string, column: ReadModelColumn, ownerOf: (row: string) => string): string {
  const rowsOf = { INSERT: ['NEW'], UPDATE: ['OLD', 'NEW'], DELETE: ['OLD'] };
  const mark = (row: string) =>
    `UPDATE members SET ${column} = ${STALE_SQL}
    WHERE id = ${ownerOf(row)} AND ${column} IS NOT ${STALE_SQL};`;
  return Object.entries(rowsOf)
    .map(
      ([event, rows]) => `CREATE TRIGGER ${table}_${event.toLowerCase()} AFTER ${event} ON ${table} BEGIN
  ${rows.map(mark).join('\n  ')} END;`,
    )
    .join('\n');
}

const memberOf = (row: string): string => `${row}.member_id`;
const accountOwnerOf = (row: string): string =>
  `(SELECT member_id FROM savings_accounts WHERE id = ${row}.account_id)`;

export const READ_MODEL = `
-- Whoever writes entries, SQL by hand included, sets the stale flag in the same transaction.
${staleTriggers('production_entries', 'production', memberOf)}
${staleTriggers('loans', 'loans', memberOf)}
${staleTriggers('savings_accounts', 'savings', memberOf)}
${staleTriggers('savings_transactions', 'savings', accountOwnerOf)}
`;
