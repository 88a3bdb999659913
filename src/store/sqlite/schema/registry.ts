/**
 * The schema of a registry's file, as numbered migrations. One that has been released is never edited: files
 * in use have run it.
 */
import type { Schema } from '../engine/migrate.ts';
import { LARGE_BLOCK, SMALL_BLOCK } from './block-sizes.ts';
import { REGISTRY_8 } from './corrections.ts';
import { REGISTRY_6 } from './events.ts';
import { REGISTRY_7 } from './idempotency.ts';
import { KEYS_SCHEMA } from './keys.ts';
import { REGISTRY_5 } from './loans-and-payments.ts';
import { countTriggers } from './row-count-triggers.ts';
import { STALE_SQL } from './stale-flag.ts';

const REGISTRY_1 = `
CREATE TABLE cooperatives (
  id INTEGER PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  sector TEXT,
  province TEXT,
  district TEXT,
  registration_date TEXT,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
  id INTEGER PRIMARY KEY,
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  identity_card TEXT NOT NULL CHECK (length(identity_card) = 16),
  member_code TEXT NOT NULL,
  full_name TEXT NOT NULL,
  first_name TEXT,
  last_name TEXT,
  gender TEXT,
  date_of_birth TEXT,
  mobile TEXT,
  role TEXT NOT NULL,
  status TEXT NOT NULL,
  registration_date INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX members_person ON members (identity_card, cooperative_id);
CREATE UNIQUE INDEX members_code ON members (cooperative_id, member_code);
CREATE INDEX members_status ON members (status);
CREATE INDEX members_cooperative_status ON members (cooperative_id, status);

-- How many members a cooperative has of each status.
CREATE TABLE member_counts (
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  status TEXT NOT NULL,
  members INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, status)
) STRICT, WITHOUT ROWID;

-- How many members with an id in [block * span, (block + 1) * span) have the status, or 'any'.
CREATE TABLE member_blocks (
  span INTEGER NOT NULL CHECK (span IN (${SMALL_BLOCK}, ${LARGE_BLOCK})),
  status TEXT NOT NULL,
  block INTEGER NOT NULL,
  members INTEGER NOT NULL,
  PRIMARY KEY (span, status, block)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE loans (
  id INTEGER PRIMARY KEY,
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  member_id INTEGER NOT NULL REFERENCES members (id),
  reference TEXT NOT NULL,
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
  interest_rate_hundredths INTEGER NOT NULL CHECK (interest_rate_hundredths >= 0),
  status TEXT NOT NULL,
  paid_amount_minor INTEGER NOT NULL CHECK (paid_amount_minor >= 0),
  loan_start_date INTEGER,
  loan_end_date INTEGER,
  approved_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX loans_reference ON loans (cooperative_id, reference);
CREATE INDEX loans_member ON loans (member_id);

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

/** Marks a column of the member that `owner` finds as stale, when it is not already. */
const markSql = (owner: string, column: string): string =>
  `UPDATE members SET ${column} = ${STALE_SQL} WHERE id = ${owner} AND ${column} IS NOT ${STALE_SQL};`;

const staleTriggers = (table: string, column: string, ownerOf: (row: string) => string): string => {
  const events = { INSERT: ['NEW'], UPDATE: ['OLD', 'NEW'], DELETE: ['OLD'] };
  return Object.entries(events)
    .map(
      ([event, rows]) =>
        `CREATE TRIGGER ${table}_${event.toLowerCase()} AFTER ${event} ON ${table} BEGIN
  ${rows.map((row) => markSql(ownerOf(row), column)).join(' ')} END;`,
    )
    .join('\n');
};
const memberOf = (row: string): string => `${row}.member_id`;
const accountOwnerOf = (row: string): string =>
  `(SELECT member_id FROM savings_accounts WHERE id = ${row}.account_id)`;

const REGISTRY_2 = `
-- The read model of a lookup: what it needs of a member's entries, and nothing of the cooperative, \
so that a new name of
-- one touches no member. NULL: the member has no such entries; empty: to be computed; \
summary-parts.ts says what else
-- is in them.
ALTER TABLE members ADD COLUMN production TEXT;
ALTER TABLE members ADD COLUMN loans TEXT;
ALTER TABLE members ADD COLUMN savings TEXT;
CREATE INDEX members_unsummarized ON members (id) \
WHERE production = ${STALE_SQL} OR loans = ${STALE_SQL} OR savings = ${STALE_SQL};

-- Running totals of members with many deliveries; right as long as the member's production is not marked.
CREATE TABLE production_days (
  member_id INTEGER PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
  days BLOB NOT NULL
) STRICT;

-- Whoever writes entries, SQL by hand included, marks the part in the same transaction.
${staleTriggers('production_entries', 'production', memberOf)}
${staleTriggers('loans', 'loans', memberOf)}
${staleTriggers('savings_accounts', 'savings', memberOf)}
${staleTriggers('savings_transactions', 'savings', accountOwnerOf)}

UPDATE members SET production = ${STALE_SQL} WHERE id IN (SELECT member_id FROM production_entries);
UPDATE members SET loans = ${STALE_SQL} WHERE id IN (SELECT member_id FROM loans);
UPDATE members SET savings = ${STALE_SQL} WHERE id IN (SELECT member_id FROM savings_accounts);
`;

const REGISTRY_3 = `
-- How many rows a large table has.
CREATE TABLE row_counts (
  table_name TEXT PRIMARY KEY,
  rows INTEGER NOT NULL CHECK (rows >= 0)
) STRICT, WITHOUT ROWID;
${['production_entries', 'loans', 'savings_transactions'].map(countTriggers).join('\n')}
`;

const REGISTRY_4 = `
-- One row for each import that was applied. Its new rows have successive ids, and so have the accounts it
-- opened and its changes; without any, the last id is one less than the first.
CREATE TABLE imports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file_name TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  kind TEXT NOT NULL,
  map TEXT,
  options TEXT NOT NULL,
  notes TEXT NOT NULL,
  system_user TEXT NOT NULL,
  imported_at INTEGER NOT NULL,
  created INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  unchanged INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  refused_rows INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  last_row INTEGER NOT NULL,
  first_account INTEGER NOT NULL,
  last_account INTEGER NOT NULL,
  first_change INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  undone_at INTEGER
) STRICT;
CREATE INDEX imports_sha256 ON imports (sha256);

-- Each value that was changed: of which row, by whom, when. A row that was created over HTTP has one with the
-- field 'created'; those of imports are known by their ids.
CREATE TABLE changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  entity TEXT NOT NULL,
  row_id INTEGER NOT NULL,
  field TEXT NOT NULL,
  old ANY,
  new ANY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  line INTEGER
) STRICT;
CREATE INDEX changes_row ON changes (entity, row_id);

-- The highest id that an undo has removed from a table: it is not used again.
CREATE TABLE removed_ids (
  table_name TEXT PRIMARY KEY,
  last_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** In the order in which they run. */
export const REGISTRY_SCHEMA: Schema = {
  applicationId: 0x63727231,
  migrations: [
    REGISTRY_1,
    REGISTRY_2,
    REGISTRY_3,
    REGISTRY_4,
    REGISTRY_5,
    REGISTRY_6,
    REGISTRY_7,
    REGISTRY_8,
  ],
  mistakenFor: {
    applicationId: KEYS_SCHEMA.applicationId,
    advice: "holds the keys of a registry. Name the registry's file instead.",
  },
};
