
-- Instants are in seconds since 1970; a date without a time is YYYY-MM-DD.
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

-- A person is the national ID (identity_card), and has a membership in one or more cooperatives.
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
  -- The same for every membership of a person.
  date_of_death TEXT,
  mobile TEXT,
  role TEXT NOT NULL,
  status TEXT NOT NULL,
  registration_date INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- The read model of a lookup: what it needs of the member's entries, and nothing of the cooperative, so
  -- that a new name of one touches no member. NULL: the member has no such entries; empty: to be computed.
  production TEXT,
  loans TEXT,
  savings TEXT
) STRICT;
CREATE UNIQUE INDEX members_person ON members (identity_card, cooperative_id);
CREATE UNIQUE INDEX members_code ON members (member_code, cooperative_id);
CREATE INDEX members_status ON members (status);
CREATE INDEX members_cooperative_status ON members (cooperative_id, status);
CREATE INDEX members_unsummarized ON members (id) WHERE production = '' OR loans = '' OR savings = '';
CREATE INDEX members_mobile ON members (mobile) WHERE mobile IS NOT NULL;
CREATE INDEX members_deceased ON members (id) WHERE date_of_death IS NOT NULL;


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
CREATE INDEX savings_transactions_account ON savings_transactions (account_id, kind, amount_minor, transacted_at);


-- Whoever writes entries, SQL by hand included, sets the stale flag in the same transaction.
CREATE TRIGGER production_entries_insert AFTER INSERT ON production_entries BEGIN
  UPDATE members SET production = ''
    WHERE id = NEW.member_id AND production IS NOT ''; END;
CREATE TRIGGER production_entries_update AFTER UPDATE ON production_entries BEGIN
  UPDATE members SET production = ''
    WHERE id = OLD.member_id AND production IS NOT '';
  UPDATE members SET production = ''
    WHERE id = NEW.member_id AND production IS NOT ''; END;
CREATE TRIGGER production_entries_delete AFTER DELETE ON production_entries BEGIN
  UPDATE members SET production = ''
    WHERE id = OLD.member_id AND production IS NOT ''; END;
CREATE TRIGGER loans_insert AFTER INSERT ON loans BEGIN
  UPDATE members SET loans = ''
    WHERE id = NEW.member_id AND loans IS NOT ''; END;
CREATE TRIGGER loans_update AFTER UPDATE ON loans BEGIN
  UPDATE members SET loans = ''
    WHERE id = OLD.member_id AND loans IS NOT '';
  UPDATE members SET loans = ''
    WHERE id = NEW.member_id AND loans IS NOT ''; END;
CREATE TRIGGER loans_delete AFTER DELETE ON loans BEGIN
  UPDATE members SET loans = ''
    WHERE id = OLD.member_id AND loans IS NOT ''; END;
CREATE TRIGGER savings_accounts_insert AFTER INSERT ON savings_accounts BEGIN
  UPDATE members SET savings = ''
    WHERE id = NEW.member_id AND savings IS NOT ''; END;
CREATE TRIGGER savings_accounts_update AFTER UPDATE ON savings_accounts BEGIN
  UPDATE members SET savings = ''
    WHERE id = OLD.member_id AND savings IS NOT '';
  UPDATE members SET savings = ''
    WHERE id = NEW.member_id AND savings IS NOT ''; END;
CREATE TRIGGER savings_accounts_delete AFTER DELETE ON savings_accounts BEGIN
  UPDATE members SET savings = ''
    WHERE id = OLD.member_id AND savings IS NOT ''; END;
CREATE TRIGGER savings_transactions_insert AFTER INSERT ON savings_transactions BEGIN
  UPDATE members SET savings = ''
    WHERE id = (SELECT member_id FROM savings_accounts WHERE id = NEW.account_id) AND savings IS NOT ''; END;
CREATE TRIGGER savings_transactions_update AFTER UPDATE ON savings_transactions BEGIN
  UPDATE members SET savings = ''
    WHERE id = (SELECT member_id FROM savings_accounts WHERE id = OLD.account_id) AND savings IS NOT '';
  UPDATE members SET savings = ''
    WHERE id = (SELECT member_id FROM savings_accounts WHERE id = NEW.account_id) AND savings IS NOT ''; END;
CREATE TRIGGER savings_transactions_delete AFTER DELETE ON savings_transactions BEGIN
  UPDATE members SET savings = ''
    WHERE id = (SELECT member_id FROM savings_accounts WHERE id = OLD.account_id) AND savings IS NOT ''; END;


-- Whatever can be undone: an import, or a correction with its reason. Its changes have successive ids;
-- without any, the last id is one less than the first.
CREATE TABLE operations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  options TEXT NOT NULL,
  notes TEXT NOT NULL,
  reason TEXT,
  system_user TEXT NOT NULL,
  performed_at INTEGER NOT NULL,
  created INTEGER NOT NULL DEFAULT 0,
  changed INTEGER NOT NULL DEFAULT 0,
  first_change INTEGER NOT NULL,
  last_change INTEGER NOT NULL,
  undone_at INTEGER,
  -- An undo is often made by somebody else.
  undone_by TEXT
) STRICT;

-- The file of an import, and how it was read. The time zone is null where every row had a reference. It may
-- replace an earlier import, of which it has removed rows.
CREATE TABLE imported_files (
  operation_id INTEGER PRIMARY KEY REFERENCES operations (id),
  file_name TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  map TEXT,
  time_zone TEXT,
  unchanged INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  refused_rows INTEGER NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0,
  replaces INTEGER REFERENCES operations (id)
) STRICT;
CREATE INDEX imported_files_sha256 ON imported_files (sha256);
CREATE INDEX imported_files_replaces ON imported_files (replaces) WHERE replaces IS NOT NULL;

-- The rows that an operation created have successive ids in each table.
CREATE TABLE created_rows (
  entity TEXT NOT NULL,
  first_row INTEGER NOT NULL,
  last_row INTEGER NOT NULL,
  operation_id INTEGER NOT NULL REFERENCES operations (id),
  PRIMARY KEY (entity, first_row)
) STRICT, WITHOUT ROWID;
CREATE INDEX created_rows_operation ON created_rows (operation_id);

-- Stored entries that rows of a file were, of which others were refused: what the refused ones are not when
-- they come again, corrected. Successive ids are one row.
CREATE TABLE repeated_rows (
  operation_id INTEGER NOT NULL REFERENCES operations (id),
  first_row INTEGER NOT NULL,
  last_row INTEGER NOT NULL,
  PRIMARY KEY (operation_id, first_row)
) STRICT, WITHOUT ROWID;

-- Each value that was changed: of which row, by whom, when. A row that was created over HTTP has one with the
-- field 'created'; those of imports are known by their ids.
CREATE TABLE changes (
  id INTEGER PRIMARY KEY,
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

-- One row for each change of a cooperative, member, loan or payment, in the order of commits, for followers;
-- integers only (domain/events.ts explains them), and no index beside the key. The oldest are removed, the
-- newest never, so that no number comes again; AUTOINCREMENT would cost each commit a page.
CREATE TABLE events (
  sequence INTEGER PRIMARY KEY,
  type INTEGER NOT NULL,
  row_id INTEGER NOT NULL,
  cooperative_id INTEGER NOT NULL,
  fields INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor INTEGER NOT NULL
) STRICT;

-- The events of each operation, which follow each other. The actor is written as in their rows.
CREATE TABLE operation_events (
  actor INTEGER PRIMARY KEY,
  first_sequence INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL
) STRICT;

-- Fixed when the registry is created, and new after a restore: sequence numbers are comparable within it.
CREATE TABLE feed (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  epoch TEXT NOT NULL,
  -- How often the registry was restored: of two copies of it with different epochs, the higher one is newer.
  generation INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO feed (id, epoch) VALUES (1, lower(hex(randomblob(8))));

-- The response to a POST with an Idempotency-Key, kept for a day. The body may hold personal data.
CREATE TABLE idempotent_responses (
  key_id INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  location TEXT,
  etag TEXT,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotent_responses_age ON idempotent_responses (created_at);


-- A national ID that was wrong or was reissued still finds its person, under the current number. A row that a
-- later correction has replaced or released stays, so that undoing that correction brings it back.
CREATE TABLE replaced_identity_cards (
  old TEXT NOT NULL,
  new TEXT NOT NULL,
  correction_id INTEGER NOT NULL REFERENCES operations (id),
  ended_by INTEGER REFERENCES operations (id),
  PRIMARY KEY (old, correction_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX replaced_identity_cards_old ON replaced_identity_cards (old) WHERE ended_by IS NULL;
CREATE INDEX replaced_identity_cards_new ON replaced_identity_cards (new);

-- Those in force: who had the number old has the number new now. Whoever follows former numbers reads this.
CREATE VIEW former_identity_cards (old, new) AS
  SELECT old, new FROM replaced_identity_cards WHERE ended_by IS NULL;

-- Members that were merged into others, by the id of the member that has their entries now.
CREATE TABLE merged_members (
  id INTEGER NOT NULL,
  into_id INTEGER NOT NULL,
  correction_id INTEGER NOT NULL REFERENCES operations (id),
  ended_by INTEGER REFERENCES operations (id),
  PRIMARY KEY (id, correction_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX merged_members_id ON merged_members (id) WHERE ended_by IS NULL;
CREATE INDEX merged_members_into ON merged_members (into_id);
CREATE VIEW former_members (id, into_id) AS SELECT id, into_id FROM merged_members WHERE ended_by IS NULL;

-- Keyed hashes of the national IDs of erased persons: neither an import nor a restore brings them back. They
-- are also in the file of erasures, under the same keys. erased_at rises each time that a person is erased;
-- cleared_at is null as long as the log and the free space of the file may still hold their values.
CREATE TABLE erased_persons (
  identity_hash BLOB PRIMARY KEY,
  erased_at INTEGER NOT NULL,
  cleared_at INTEGER
) STRICT, WITHOUT ROWID;
-- The keys: 1 is the registry's own, the others are of registries that were at its location before it.
CREATE TABLE erasure_secrets (
  id INTEGER PRIMARY KEY,
  secret BLOB NOT NULL UNIQUE
) STRICT;
INSERT INTO erasure_secrets (id, secret) VALUES (1, randomblob(32));


-- New rows wait until there is a batch of them, as each would write a page of every index and total below. Those
-- from next_id on are in no total, and members not in the index of names; whoever reads these looks at them, too.
CREATE TABLE batches (
  table_name TEXT PRIMARY KEY,
  next_id INTEGER NOT NULL DEFAULT 1,
  size INTEGER NOT NULL DEFAULT 128
) STRICT, WITHOUT ROWID;
INSERT INTO batches (table_name) VALUES ('members'), ('production_entries'), ('loans'), ('payments'),
  ('savings_accounts'), ('savings_transactions');

-- The first member that is still to be indexed, with all that have higher ids: what a large import adds
-- follows in small transactions. Empty when all are indexed.
CREATE TABLE unindexed_names (first_id INTEGER PRIMARY KEY) STRICT;

CREATE VIEW member_names_source (id, words) AS SELECT id, members.full_name || iif(members.full_name GLOB '*[''’‘ʼ`´]*', ' ' || replace(replace(replace(replace(replace(replace(members.full_name, '''', ''), '’', ''), '‘', ''), 'ʼ', ''), '`', ''), '´', ''), '') || char(32, 31, 19968 + members.cooperative_id / 20000, 19968 + members.cooperative_id % 20000, 32, 31) || substr(members.status, 1, 1) FROM members WHERE members.status <> 'erased';
CREATE VIRTUAL TABLE member_names USING fts5(words, detail = none, columnsize = 0, tokenize = "unicode61 remove_diacritics 2 separators 'ʼ' tokenchars ''", prefix = '3 4 5 6', content = 'member_names_source', content_rowid = 'id');
CREATE VIRTUAL TABLE member_names_words USING fts5vocab(member_names, instance);
CREATE TRIGGER member_names_removed AFTER DELETE ON members BEGIN
  INSERT INTO member_names (member_names, rowid, words)
    SELECT 'delete', OLD.id, OLD.full_name || iif(OLD.full_name GLOB '*[''’‘ʼ`´]*', ' ' || replace(replace(replace(replace(replace(replace(OLD.full_name, '''', ''), '’', ''), '‘', ''), 'ʼ', ''), '`', ''), '´', ''), '') || char(32, 31, 19968 + OLD.cooperative_id / 20000, 19968 + OLD.cooperative_id % 20000, 32, 31) || substr(OLD.status, 1, 1) WHERE OLD.status <> 'erased' AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') AND NOT EXISTS (SELECT 1 FROM unindexed_names WHERE first_id <= OLD.id); END;
CREATE TRIGGER member_names_changed AFTER UPDATE OF full_name, cooperative_id, status ON members
WHEN (OLD.full_name, OLD.cooperative_id, OLD.status) IS NOT (NEW.full_name, NEW.cooperative_id, NEW.status) BEGIN
  INSERT INTO member_names (member_names, rowid, words)
    SELECT 'delete', OLD.id, OLD.full_name || iif(OLD.full_name GLOB '*[''’‘ʼ`´]*', ' ' || replace(replace(replace(replace(replace(replace(OLD.full_name, '''', ''), '’', ''), '‘', ''), 'ʼ', ''), '`', ''), '´', ''), '') || char(32, 31, 19968 + OLD.cooperative_id / 20000, 19968 + OLD.cooperative_id % 20000, 32, 31) || substr(OLD.status, 1, 1) WHERE OLD.status <> 'erased' AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') AND NOT EXISTS (SELECT 1 FROM unindexed_names WHERE first_id <= OLD.id);
  INSERT INTO member_names (rowid, words) SELECT NEW.id, NEW.full_name || iif(NEW.full_name GLOB '*[''’‘ʼ`´]*', ' ' || replace(replace(replace(replace(replace(replace(NEW.full_name, '''', ''), '’', ''), '‘', ''), 'ʼ', ''), '`', ''), '´', ''), '') || char(32, 31, 19968 + NEW.cooperative_id / 20000, 19968 + NEW.cooperative_id % 20000, 32, 31) || substr(NEW.status, 1, 1) WHERE NEW.status <> 'erased' AND NEW.id < (SELECT next_id FROM batches WHERE table_name = 'members') AND NOT EXISTS (SELECT 1 FROM unindexed_names WHERE first_id <= NEW.id); END;
CREATE VIEW cooperative_names_source (id, words) AS SELECT id, cooperatives.name || iif(cooperatives.name GLOB '*[''’‘ʼ`´]*', ' ' || replace(replace(replace(replace(replace(replace(cooperatives.name, '''', ''), '’', ''), '‘', ''), 'ʼ', ''), '`', ''), '´', ''), '') FROM cooperatives WHERE true;
CREATE VIRTUAL TABLE cooperative_names USING fts5(words, detail = none, columnsize = 0, tokenize = "unicode61 remove_diacritics 2 separators 'ʼ' tokenchars ''", prefix = '3 4 5 6', content = 'cooperative_names_source', content_rowid = 'id');
CREATE VIRTUAL TABLE cooperative_names_words USING fts5vocab(cooperative_names, instance);
CREATE TRIGGER cooperative_names_added AFTER INSERT ON cooperatives BEGIN
  INSERT INTO cooperative_names (rowid, words) SELECT NEW.id, NEW.name || iif(NEW.name GLOB '*[''’‘ʼ`´]*', ' ' || replace(replace(replace(replace(replace(replace(NEW.name, '''', ''), '’', ''), '‘', ''), 'ʼ', ''), '`', ''), '´', ''), '') WHERE true; END;
CREATE TRIGGER cooperative_names_removed AFTER DELETE ON cooperatives BEGIN
  INSERT INTO cooperative_names (cooperative_names, rowid, words)
    SELECT 'delete', OLD.id, OLD.name || iif(OLD.name GLOB '*[''’‘ʼ`´]*', ' ' || replace(replace(replace(replace(replace(replace(OLD.name, '''', ''), '’', ''), '‘', ''), 'ʼ', ''), '`', ''), '´', ''), '') WHERE true; END;
CREATE TRIGGER cooperative_names_changed AFTER UPDATE OF name ON cooperatives
WHEN (OLD.name) IS NOT (NEW.name) BEGIN
  INSERT INTO cooperative_names (cooperative_names, rowid, words)
    SELECT 'delete', OLD.id, OLD.name || iif(OLD.name GLOB '*[''’‘ʼ`´]*', ' ' || replace(replace(replace(replace(replace(replace(OLD.name, '''', ''), '’', ''), '‘', ''), 'ʼ', ''), '`', ''), '´', ''), '') WHERE true;
  INSERT INTO cooperative_names (rowid, words) SELECT NEW.id, NEW.name || iif(NEW.name GLOB '*[''’‘ʼ`´]*', ' ' || replace(replace(replace(replace(replace(replace(NEW.name, '''', ''), '’', ''), '‘', ''), 'ʼ', ''), '`', ''), '´', ''), '') WHERE true; END;



-- By which rules, and in which time zone, the totals are kept; empty: nothing was added up yet, and whoever
-- opens the registry does it (statistics/stored-totals.ts).
CREATE TABLE totals_zone (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version TEXT NOT NULL,
  offset_seconds INTEGER NOT NULL
) STRICT;
INSERT INTO totals_zone (id, version, offset_seconds) VALUES (1, '', 0);

CREATE TABLE member_large_blocks (
  block INTEGER NOT NULL,
  status TEXT NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (block, status)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER member_large_blocks_removed AFTER DELETE ON members WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN INSERT INTO member_large_blocks (block, status, rows) VALUES (OLD.id / 65536, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER member_large_blocks_changed AFTER UPDATE OF status ON members
WHEN (OLD.id / 65536, OLD.status) IS NOT (NEW.id / 65536, NEW.status) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN
  INSERT INTO member_large_blocks (block, status, rows) VALUES (OLD.id / 65536, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO member_large_blocks (block, status, rows) VALUES (NEW.id / 65536, NEW.status, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER member_large_blocks_summed AFTER UPDATE OF status ON members
WHEN (OLD.status) IS NOT (NEW.status) AND (OLD.id / 65536, OLD.status) IS (NEW.id / 65536, NEW.status)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN
  UPDATE member_large_blocks SET rows = rows + (1) - (1)
  WHERE (block, status) = (NEW.id / 65536, NEW.status); END;

CREATE TABLE member_small_blocks (
  block INTEGER NOT NULL,
  status TEXT NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (block, status)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER member_small_blocks_removed AFTER DELETE ON members WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN INSERT INTO member_small_blocks (block, status, rows) VALUES (OLD.id / 512, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER member_small_blocks_changed AFTER UPDATE OF status ON members
WHEN (OLD.id / 512, OLD.status) IS NOT (NEW.id / 512, NEW.status) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN
  INSERT INTO member_small_blocks (block, status, rows) VALUES (OLD.id / 512, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO member_small_blocks (block, status, rows) VALUES (NEW.id / 512, NEW.status, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER member_small_blocks_summed AFTER UPDATE OF status ON members
WHEN (OLD.status) IS NOT (NEW.status) AND (OLD.id / 512, OLD.status) IS (NEW.id / 512, NEW.status)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN
  UPDATE member_small_blocks SET rows = rows + (1) - (1)
  WHERE (block, status) = (NEW.id / 512, NEW.status); END;

CREATE TABLE member_counts (
  cooperative_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  block INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, status, block)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER member_counts_removed AFTER DELETE ON members WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN INSERT INTO member_counts (cooperative_id, status, block, rows) VALUES (OLD.cooperative_id, OLD.status, OLD.id / 65536, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER member_counts_changed AFTER UPDATE OF cooperative_id, status ON members
WHEN (OLD.cooperative_id, OLD.status, OLD.id / 65536) IS NOT (NEW.cooperative_id, NEW.status, NEW.id / 65536) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN
  INSERT INTO member_counts (cooperative_id, status, block, rows) VALUES (OLD.cooperative_id, OLD.status, OLD.id / 65536, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO member_counts (cooperative_id, status, block, rows) VALUES (NEW.cooperative_id, NEW.status, NEW.id / 65536, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER member_counts_summed AFTER UPDATE OF cooperative_id, status ON members
WHEN (OLD.cooperative_id, OLD.status) IS NOT (NEW.cooperative_id, NEW.status) AND (OLD.cooperative_id, OLD.status, OLD.id / 65536) IS (NEW.cooperative_id, NEW.status, NEW.id / 65536)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN
  UPDATE member_counts SET rows = rows + (1) - (1)
  WHERE (cooperative_id, status, block) = (NEW.cooperative_id, NEW.status, NEW.id / 65536); END;

CREATE TABLE loan_large_blocks (
  block INTEGER NOT NULL,
  status TEXT NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (block, status)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER loan_large_blocks_removed AFTER DELETE ON loans WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN INSERT INTO loan_large_blocks (block, status, rows) VALUES (OLD.id / 65536, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER loan_large_blocks_changed AFTER UPDATE OF status ON loans
WHEN (OLD.id / 65536, OLD.status) IS NOT (NEW.id / 65536, NEW.status) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN
  INSERT INTO loan_large_blocks (block, status, rows) VALUES (OLD.id / 65536, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO loan_large_blocks (block, status, rows) VALUES (NEW.id / 65536, NEW.status, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER loan_large_blocks_summed AFTER UPDATE OF status ON loans
WHEN (OLD.status) IS NOT (NEW.status) AND (OLD.id / 65536, OLD.status) IS (NEW.id / 65536, NEW.status)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN
  UPDATE loan_large_blocks SET rows = rows + (1) - (1)
  WHERE (block, status) = (NEW.id / 65536, NEW.status); END;

CREATE TABLE loan_small_blocks (
  block INTEGER NOT NULL,
  status TEXT NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (block, status)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER loan_small_blocks_removed AFTER DELETE ON loans WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN INSERT INTO loan_small_blocks (block, status, rows) VALUES (OLD.id / 512, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER loan_small_blocks_changed AFTER UPDATE OF status ON loans
WHEN (OLD.id / 512, OLD.status) IS NOT (NEW.id / 512, NEW.status) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN
  INSERT INTO loan_small_blocks (block, status, rows) VALUES (OLD.id / 512, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO loan_small_blocks (block, status, rows) VALUES (NEW.id / 512, NEW.status, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER loan_small_blocks_summed AFTER UPDATE OF status ON loans
WHEN (OLD.status) IS NOT (NEW.status) AND (OLD.id / 512, OLD.status) IS (NEW.id / 512, NEW.status)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN
  UPDATE loan_small_blocks SET rows = rows + (1) - (1)
  WHERE (block, status) = (NEW.id / 512, NEW.status); END;

CREATE TABLE loan_counts (
  cooperative_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  block INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, status, block)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER loan_counts_removed AFTER DELETE ON loans WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN INSERT INTO loan_counts (cooperative_id, status, block, rows) VALUES (OLD.cooperative_id, OLD.status, OLD.id / 65536, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER loan_counts_changed AFTER UPDATE OF cooperative_id, status ON loans
WHEN (OLD.cooperative_id, OLD.status, OLD.id / 65536) IS NOT (NEW.cooperative_id, NEW.status, NEW.id / 65536) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN
  INSERT INTO loan_counts (cooperative_id, status, block, rows) VALUES (OLD.cooperative_id, OLD.status, OLD.id / 65536, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO loan_counts (cooperative_id, status, block, rows) VALUES (NEW.cooperative_id, NEW.status, NEW.id / 65536, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER loan_counts_summed AFTER UPDATE OF cooperative_id, status ON loans
WHEN (OLD.cooperative_id, OLD.status) IS NOT (NEW.cooperative_id, NEW.status) AND (OLD.cooperative_id, OLD.status, OLD.id / 65536) IS (NEW.cooperative_id, NEW.status, NEW.id / 65536)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN
  UPDATE loan_counts SET rows = rows + (1) - (1)
  WHERE (cooperative_id, status, block) = (NEW.cooperative_id, NEW.status, NEW.id / 65536); END;

CREATE TABLE payment_large_blocks (
  block INTEGER NOT NULL,
  status TEXT NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (block, status)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER payment_large_blocks_removed AFTER DELETE ON payments WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'payments') BEGIN INSERT INTO payment_large_blocks (block, status, rows) VALUES (OLD.id / 65536, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER payment_large_blocks_changed AFTER UPDATE OF status ON payments
WHEN (OLD.id / 65536, OLD.status) IS NOT (NEW.id / 65536, NEW.status) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'payments') BEGIN
  INSERT INTO payment_large_blocks (block, status, rows) VALUES (OLD.id / 65536, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO payment_large_blocks (block, status, rows) VALUES (NEW.id / 65536, NEW.status, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER payment_large_blocks_summed AFTER UPDATE OF status ON payments
WHEN (OLD.status) IS NOT (NEW.status) AND (OLD.id / 65536, OLD.status) IS (NEW.id / 65536, NEW.status)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'payments') BEGIN
  UPDATE payment_large_blocks SET rows = rows + (1) - (1)
  WHERE (block, status) = (NEW.id / 65536, NEW.status); END;

CREATE TABLE payment_small_blocks (
  block INTEGER NOT NULL,
  status TEXT NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (block, status)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER payment_small_blocks_removed AFTER DELETE ON payments WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'payments') BEGIN INSERT INTO payment_small_blocks (block, status, rows) VALUES (OLD.id / 512, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER payment_small_blocks_changed AFTER UPDATE OF status ON payments
WHEN (OLD.id / 512, OLD.status) IS NOT (NEW.id / 512, NEW.status) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'payments') BEGIN
  INSERT INTO payment_small_blocks (block, status, rows) VALUES (OLD.id / 512, OLD.status, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO payment_small_blocks (block, status, rows) VALUES (NEW.id / 512, NEW.status, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER payment_small_blocks_summed AFTER UPDATE OF status ON payments
WHEN (OLD.status) IS NOT (NEW.status) AND (OLD.id / 512, OLD.status) IS (NEW.id / 512, NEW.status)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'payments') BEGIN
  UPDATE payment_small_blocks SET rows = rows + (1) - (1)
  WHERE (block, status) = (NEW.id / 512, NEW.status); END;

CREATE TABLE payment_counts (
  cooperative_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  block INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, status, block)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER payment_counts_removed AFTER DELETE ON payments WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'payments') BEGIN INSERT INTO payment_counts (cooperative_id, status, block, rows) VALUES (OLD.cooperative_id, OLD.status, OLD.id / 65536, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER payment_counts_changed AFTER UPDATE OF cooperative_id, status ON payments
WHEN (OLD.cooperative_id, OLD.status, OLD.id / 65536) IS NOT (NEW.cooperative_id, NEW.status, NEW.id / 65536) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'payments') BEGIN
  INSERT INTO payment_counts (cooperative_id, status, block, rows) VALUES (OLD.cooperative_id, OLD.status, OLD.id / 65536, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO payment_counts (cooperative_id, status, block, rows) VALUES (NEW.cooperative_id, NEW.status, NEW.id / 65536, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER payment_counts_summed AFTER UPDATE OF cooperative_id, status ON payments
WHEN (OLD.cooperative_id, OLD.status) IS NOT (NEW.cooperative_id, NEW.status) AND (OLD.cooperative_id, OLD.status, OLD.id / 65536) IS (NEW.cooperative_id, NEW.status, NEW.id / 65536)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'payments') BEGIN
  UPDATE payment_counts SET rows = rows + (1) - (1)
  WHERE (cooperative_id, status, block) = (NEW.cooperative_id, NEW.status, NEW.id / 65536); END;

CREATE TABLE production_counts (
  block INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (block)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER production_counts_removed AFTER DELETE ON production_entries WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'production_entries') BEGIN INSERT INTO production_counts (block, rows) VALUES (OLD.id / 65536, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER production_counts_changed AFTER UPDATE OF id ON production_entries
WHEN (OLD.id / 65536) IS NOT (NEW.id / 65536) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'production_entries') BEGIN
  INSERT INTO production_counts (block, rows) VALUES (OLD.id / 65536, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO production_counts (block, rows) VALUES (NEW.id / 65536, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER production_counts_summed AFTER UPDATE OF id ON production_entries
WHEN (OLD.id) IS NOT (NEW.id) AND (OLD.id / 65536) IS (NEW.id / 65536)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'production_entries') BEGIN
  UPDATE production_counts SET rows = rows + (1) - (1)
  WHERE (block) = (NEW.id / 65536); END;

CREATE TABLE savings_counts (
  block INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY (block)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER savings_counts_removed AFTER DELETE ON savings_transactions WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'savings_transactions') BEGIN INSERT INTO savings_counts (block, rows) VALUES (OLD.id / 65536, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
CREATE TRIGGER savings_counts_changed AFTER UPDATE OF id ON savings_transactions
WHEN (OLD.id / 65536) IS NOT (NEW.id / 65536) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'savings_transactions') BEGIN
  INSERT INTO savings_counts (block, rows) VALUES (OLD.id / 65536, -(1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO savings_counts (block, rows) VALUES (NEW.id / 65536, (1)) ON CONFLICT DO UPDATE SET rows = rows + excluded.rows; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER savings_counts_summed AFTER UPDATE OF id ON savings_transactions
WHEN (OLD.id) IS NOT (NEW.id) AND (OLD.id / 65536) IS (NEW.id / 65536)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'savings_transactions') BEGIN
  UPDATE savings_counts SET rows = rows + (1) - (1)
  WHERE (block) = (NEW.id / 65536); END;

CREATE TABLE member_totals (
  cooperative_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  gender TEXT NOT NULL,
  role TEXT NOT NULL,
  joining_year TEXT NOT NULL,
  members INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, status, gender, role, joining_year)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER member_totals_removed AFTER DELETE ON members WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN INSERT INTO member_totals (cooperative_id, status, gender, role, joining_year, members) VALUES (OLD.cooperative_id, OLD.status, coalesce(OLD.gender, ''), OLD.role, strftime('%Y', OLD.registration_date + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), -(1)) ON CONFLICT DO UPDATE SET members = members + excluded.members; END;
CREATE TRIGGER member_totals_changed AFTER UPDATE OF cooperative_id, status, gender, role, registration_date ON members
WHEN (OLD.cooperative_id, OLD.status, coalesce(OLD.gender, ''), OLD.role, strftime('%Y', OLD.registration_date + (SELECT offset_seconds FROM totals_zone), 'unixepoch')) IS NOT (NEW.cooperative_id, NEW.status, coalesce(NEW.gender, ''), NEW.role, strftime('%Y', NEW.registration_date + (SELECT offset_seconds FROM totals_zone), 'unixepoch')) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN
  INSERT INTO member_totals (cooperative_id, status, gender, role, joining_year, members) VALUES (OLD.cooperative_id, OLD.status, coalesce(OLD.gender, ''), OLD.role, strftime('%Y', OLD.registration_date + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), -(1)) ON CONFLICT DO UPDATE SET members = members + excluded.members;
  INSERT INTO member_totals (cooperative_id, status, gender, role, joining_year, members) VALUES (NEW.cooperative_id, NEW.status, coalesce(NEW.gender, ''), NEW.role, strftime('%Y', NEW.registration_date + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), (1)) ON CONFLICT DO UPDATE SET members = members + excluded.members; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER member_totals_summed AFTER UPDATE OF cooperative_id, status, gender, role, registration_date ON members
WHEN (OLD.cooperative_id, OLD.status, OLD.gender, OLD.role, OLD.registration_date) IS NOT (NEW.cooperative_id, NEW.status, NEW.gender, NEW.role, NEW.registration_date) AND (OLD.cooperative_id, OLD.status, coalesce(OLD.gender, ''), OLD.role, strftime('%Y', OLD.registration_date + (SELECT offset_seconds FROM totals_zone), 'unixepoch')) IS (NEW.cooperative_id, NEW.status, coalesce(NEW.gender, ''), NEW.role, strftime('%Y', NEW.registration_date + (SELECT offset_seconds FROM totals_zone), 'unixepoch'))
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'members') BEGIN
  UPDATE member_totals SET members = members + (1) - (1)
  WHERE (cooperative_id, status, gender, role, joining_year) = (NEW.cooperative_id, NEW.status, coalesce(NEW.gender, ''), NEW.role, strftime('%Y', NEW.registration_date + (SELECT offset_seconds FROM totals_zone), 'unixepoch')); END;

CREATE TABLE production_totals (
  cooperative_id INTEGER NOT NULL,
  month TEXT NOT NULL,
  product TEXT NOT NULL,
  deliveries INTEGER NOT NULL,
  grams_millions INTEGER NOT NULL,
  grams_rest INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, month, product)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER production_totals_removed AFTER DELETE ON production_entries WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'production_entries') BEGIN INSERT INTO production_totals (cooperative_id, month, product, deliveries, grams_millions, grams_rest) VALUES (OLD.cooperative_id, strftime('%Y-%m', OLD.delivered_at + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), coalesce(OLD.product, ''), -(1), -(OLD.grams / 1000000), -(OLD.grams % 1000000)) ON CONFLICT DO UPDATE SET deliveries = deliveries + excluded.deliveries,grams_millions = grams_millions + excluded.grams_millions,grams_rest = grams_rest + excluded.grams_rest; END;
CREATE TRIGGER production_totals_changed AFTER UPDATE OF cooperative_id, delivered_at, product, grams ON production_entries
WHEN (OLD.cooperative_id, strftime('%Y-%m', OLD.delivered_at + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), coalesce(OLD.product, '')) IS NOT (NEW.cooperative_id, strftime('%Y-%m', NEW.delivered_at + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), coalesce(NEW.product, '')) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'production_entries') BEGIN
  INSERT INTO production_totals (cooperative_id, month, product, deliveries, grams_millions, grams_rest) VALUES (OLD.cooperative_id, strftime('%Y-%m', OLD.delivered_at + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), coalesce(OLD.product, ''), -(1), -(OLD.grams / 1000000), -(OLD.grams % 1000000)) ON CONFLICT DO UPDATE SET deliveries = deliveries + excluded.deliveries,grams_millions = grams_millions + excluded.grams_millions,grams_rest = grams_rest + excluded.grams_rest;
  INSERT INTO production_totals (cooperative_id, month, product, deliveries, grams_millions, grams_rest) VALUES (NEW.cooperative_id, strftime('%Y-%m', NEW.delivered_at + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), coalesce(NEW.product, ''), (1), (NEW.grams / 1000000), (NEW.grams % 1000000)) ON CONFLICT DO UPDATE SET deliveries = deliveries + excluded.deliveries,grams_millions = grams_millions + excluded.grams_millions,grams_rest = grams_rest + excluded.grams_rest; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER production_totals_summed AFTER UPDATE OF cooperative_id, delivered_at, product, grams ON production_entries
WHEN (OLD.cooperative_id, OLD.delivered_at, OLD.product, OLD.grams) IS NOT (NEW.cooperative_id, NEW.delivered_at, NEW.product, NEW.grams) AND (OLD.cooperative_id, strftime('%Y-%m', OLD.delivered_at + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), coalesce(OLD.product, '')) IS (NEW.cooperative_id, strftime('%Y-%m', NEW.delivered_at + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), coalesce(NEW.product, ''))
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'production_entries') BEGIN
  UPDATE production_totals SET deliveries = deliveries + (1) - (1), grams_millions = grams_millions + (NEW.grams / 1000000) - (OLD.grams / 1000000), grams_rest = grams_rest + (NEW.grams % 1000000) - (OLD.grams % 1000000)
  WHERE (cooperative_id, month, product) = (NEW.cooperative_id, strftime('%Y-%m', NEW.delivered_at + (SELECT offset_seconds FROM totals_zone), 'unixepoch'), coalesce(NEW.product, '')); END;

CREATE TABLE loan_totals (
  cooperative_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  loans INTEGER NOT NULL,
  amount_millions INTEGER NOT NULL,
  amount_rest INTEGER NOT NULL,
  paid_millions INTEGER NOT NULL,
  paid_rest INTEGER NOT NULL,
  outstanding_millions INTEGER NOT NULL,
  outstanding_rest INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, status)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER loan_totals_removed AFTER DELETE ON loans WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN INSERT INTO loan_totals (cooperative_id, status, loans, amount_millions, amount_rest, paid_millions, paid_rest, outstanding_millions, outstanding_rest) VALUES (OLD.cooperative_id, OLD.status, -(1), -(OLD.amount_minor / 1000000), -(OLD.amount_minor % 1000000), -(OLD.paid_amount_minor / 1000000), -(OLD.paid_amount_minor % 1000000), -(max(0, OLD.amount_minor - OLD.paid_amount_minor) / 1000000), -(max(0, OLD.amount_minor - OLD.paid_amount_minor) % 1000000)) ON CONFLICT DO UPDATE SET loans = loans + excluded.loans,amount_millions = amount_millions + excluded.amount_millions,amount_rest = amount_rest + excluded.amount_rest,paid_millions = paid_millions + excluded.paid_millions,paid_rest = paid_rest + excluded.paid_rest,outstanding_millions = outstanding_millions + excluded.outstanding_millions,outstanding_rest = outstanding_rest + excluded.outstanding_rest; END;
CREATE TRIGGER loan_totals_changed AFTER UPDATE OF cooperative_id, status, amount_minor, paid_amount_minor ON loans
WHEN (OLD.cooperative_id, OLD.status) IS NOT (NEW.cooperative_id, NEW.status) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN
  INSERT INTO loan_totals (cooperative_id, status, loans, amount_millions, amount_rest, paid_millions, paid_rest, outstanding_millions, outstanding_rest) VALUES (OLD.cooperative_id, OLD.status, -(1), -(OLD.amount_minor / 1000000), -(OLD.amount_minor % 1000000), -(OLD.paid_amount_minor / 1000000), -(OLD.paid_amount_minor % 1000000), -(max(0, OLD.amount_minor - OLD.paid_amount_minor) / 1000000), -(max(0, OLD.amount_minor - OLD.paid_amount_minor) % 1000000)) ON CONFLICT DO UPDATE SET loans = loans + excluded.loans,amount_millions = amount_millions + excluded.amount_millions,amount_rest = amount_rest + excluded.amount_rest,paid_millions = paid_millions + excluded.paid_millions,paid_rest = paid_rest + excluded.paid_rest,outstanding_millions = outstanding_millions + excluded.outstanding_millions,outstanding_rest = outstanding_rest + excluded.outstanding_rest;
  INSERT INTO loan_totals (cooperative_id, status, loans, amount_millions, amount_rest, paid_millions, paid_rest, outstanding_millions, outstanding_rest) VALUES (NEW.cooperative_id, NEW.status, (1), (NEW.amount_minor / 1000000), (NEW.amount_minor % 1000000), (NEW.paid_amount_minor / 1000000), (NEW.paid_amount_minor % 1000000), (max(0, NEW.amount_minor - NEW.paid_amount_minor) / 1000000), (max(0, NEW.amount_minor - NEW.paid_amount_minor) % 1000000)) ON CONFLICT DO UPDATE SET loans = loans + excluded.loans,amount_millions = amount_millions + excluded.amount_millions,amount_rest = amount_rest + excluded.amount_rest,paid_millions = paid_millions + excluded.paid_millions,paid_rest = paid_rest + excluded.paid_rest,outstanding_millions = outstanding_millions + excluded.outstanding_millions,outstanding_rest = outstanding_rest + excluded.outstanding_rest; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER loan_totals_summed AFTER UPDATE OF cooperative_id, status, amount_minor, paid_amount_minor ON loans
WHEN (OLD.cooperative_id, OLD.status, OLD.amount_minor, OLD.paid_amount_minor) IS NOT (NEW.cooperative_id, NEW.status, NEW.amount_minor, NEW.paid_amount_minor) AND (OLD.cooperative_id, OLD.status) IS (NEW.cooperative_id, NEW.status)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'loans') BEGIN
  UPDATE loan_totals SET loans = loans + (1) - (1), amount_millions = amount_millions + (NEW.amount_minor / 1000000) - (OLD.amount_minor / 1000000), amount_rest = amount_rest + (NEW.amount_minor % 1000000) - (OLD.amount_minor % 1000000), paid_millions = paid_millions + (NEW.paid_amount_minor / 1000000) - (OLD.paid_amount_minor / 1000000), paid_rest = paid_rest + (NEW.paid_amount_minor % 1000000) - (OLD.paid_amount_minor % 1000000), outstanding_millions = outstanding_millions + (max(0, NEW.amount_minor - NEW.paid_amount_minor) / 1000000) - (max(0, OLD.amount_minor - OLD.paid_amount_minor) / 1000000), outstanding_rest = outstanding_rest + (max(0, NEW.amount_minor - NEW.paid_amount_minor) % 1000000) - (max(0, OLD.amount_minor - OLD.paid_amount_minor) % 1000000)
  WHERE (cooperative_id, status) = (NEW.cooperative_id, NEW.status); END;

CREATE TABLE account_totals (
  cooperative_id INTEGER NOT NULL,
  accounts INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER account_totals_removed AFTER DELETE ON savings_accounts WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'savings_accounts') BEGIN INSERT INTO account_totals (cooperative_id, accounts) VALUES (OLD.cooperative_id, -(1)) ON CONFLICT DO UPDATE SET accounts = accounts + excluded.accounts; END;
CREATE TRIGGER account_totals_changed AFTER UPDATE OF cooperative_id ON savings_accounts
WHEN (OLD.cooperative_id) IS NOT (NEW.cooperative_id) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'savings_accounts') BEGIN
  INSERT INTO account_totals (cooperative_id, accounts) VALUES (OLD.cooperative_id, -(1)) ON CONFLICT DO UPDATE SET accounts = accounts + excluded.accounts;
  INSERT INTO account_totals (cooperative_id, accounts) VALUES (NEW.cooperative_id, (1)) ON CONFLICT DO UPDATE SET accounts = accounts + excluded.accounts; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER account_totals_summed AFTER UPDATE OF cooperative_id ON savings_accounts
WHEN (OLD.cooperative_id) IS NOT (NEW.cooperative_id) AND (OLD.cooperative_id) IS (NEW.cooperative_id)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'savings_accounts') BEGIN
  UPDATE account_totals SET accounts = accounts + (1) - (1)
  WHERE (cooperative_id) = (NEW.cooperative_id); END;

CREATE TABLE savings_totals (
  cooperative_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  amount_millions INTEGER NOT NULL,
  amount_rest INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, kind)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER savings_totals_removed AFTER DELETE ON savings_transactions WHEN OLD.id < (SELECT next_id FROM batches WHERE table_name = 'savings_transactions') BEGIN INSERT INTO savings_totals (cooperative_id, kind, amount_millions, amount_rest) VALUES (OLD.cooperative_id, OLD.kind, -(OLD.amount_minor / 1000000), -(OLD.amount_minor % 1000000)) ON CONFLICT DO UPDATE SET amount_millions = amount_millions + excluded.amount_millions,amount_rest = amount_rest + excluded.amount_rest; END;
CREATE TRIGGER savings_totals_changed AFTER UPDATE OF cooperative_id, kind, amount_minor ON savings_transactions
WHEN (OLD.cooperative_id, OLD.kind) IS NOT (NEW.cooperative_id, NEW.kind) AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'savings_transactions') BEGIN
  INSERT INTO savings_totals (cooperative_id, kind, amount_millions, amount_rest) VALUES (OLD.cooperative_id, OLD.kind, -(OLD.amount_minor / 1000000), -(OLD.amount_minor % 1000000)) ON CONFLICT DO UPDATE SET amount_millions = amount_millions + excluded.amount_millions,amount_rest = amount_rest + excluded.amount_rest;
  INSERT INTO savings_totals (cooperative_id, kind, amount_millions, amount_rest) VALUES (NEW.cooperative_id, NEW.kind, (NEW.amount_minor / 1000000), (NEW.amount_minor % 1000000)) ON CONFLICT DO UPDATE SET amount_millions = amount_millions + excluded.amount_millions,amount_rest = amount_rest + excluded.amount_rest; END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER savings_totals_summed AFTER UPDATE OF cooperative_id, kind, amount_minor ON savings_transactions
WHEN (OLD.cooperative_id, OLD.kind, OLD.amount_minor) IS NOT (NEW.cooperative_id, NEW.kind, NEW.amount_minor) AND (OLD.cooperative_id, OLD.kind) IS (NEW.cooperative_id, NEW.kind)
  AND OLD.id < (SELECT next_id FROM batches WHERE table_name = 'savings_transactions') BEGIN
  UPDATE savings_totals SET amount_millions = amount_millions + (NEW.amount_minor / 1000000) - (OLD.amount_minor / 1000000), amount_rest = amount_rest + (NEW.amount_minor % 1000000) - (OLD.amount_minor % 1000000)
  WHERE (cooperative_id, kind) = (NEW.cooperative_id, NEW.kind); END;

CREATE TRIGGER members_batched AFTER INSERT ON members
WHEN (SELECT NEW.id < next_id OR NEW.id > next_id + size - 2 FROM batches WHERE table_name = 'members') BEGIN
  INSERT INTO member_large_blocks (block, status, rows)
   SELECT r.id / 65536 AS block, r.status AS status, sum(1) AS rows FROM members r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'members')) AND NEW.id
    GROUP BY 1, 2 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO member_small_blocks (block, status, rows)
   SELECT r.id / 512 AS block, r.status AS status, sum(1) AS rows FROM members r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'members')) AND NEW.id
    GROUP BY 1, 2 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO member_counts (cooperative_id, status, block, rows)
   SELECT r.cooperative_id AS cooperative_id, r.status AS status, r.id / 65536 AS block, sum(1) AS rows FROM members r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'members')) AND NEW.id
    GROUP BY 1, 2, 3 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO member_totals (cooperative_id, status, gender, role, joining_year, members)
   SELECT r.cooperative_id AS cooperative_id, r.status AS status, coalesce(r.gender, '') AS gender, r.role AS role, strftime('%Y', r.registration_date + (SELECT offset_seconds FROM totals_zone), 'unixepoch') AS joining_year, sum(1) AS members FROM members r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'members')) AND NEW.id
    GROUP BY 1, 2, 3, 4, 5 ON CONFLICT DO UPDATE SET members = members + excluded.members;
  INSERT INTO member_names (rowid, words)
    SELECT id, words FROM member_names_source r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'members')) AND NEW.id AND NOT EXISTS (SELECT 1 FROM unindexed_names WHERE first_id <= r.id);
  UPDATE batches SET next_id = NEW.id + 1 WHERE table_name = 'members' AND next_id <= NEW.id;
END;

CREATE TRIGGER loans_batched AFTER INSERT ON loans
WHEN (SELECT NEW.id < next_id OR NEW.id > next_id + size - 2 FROM batches WHERE table_name = 'loans') BEGIN
  INSERT INTO loan_large_blocks (block, status, rows)
   SELECT r.id / 65536 AS block, r.status AS status, sum(1) AS rows FROM loans r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'loans')) AND NEW.id
    GROUP BY 1, 2 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO loan_small_blocks (block, status, rows)
   SELECT r.id / 512 AS block, r.status AS status, sum(1) AS rows FROM loans r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'loans')) AND NEW.id
    GROUP BY 1, 2 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO loan_counts (cooperative_id, status, block, rows)
   SELECT r.cooperative_id AS cooperative_id, r.status AS status, r.id / 65536 AS block, sum(1) AS rows FROM loans r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'loans')) AND NEW.id
    GROUP BY 1, 2, 3 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO loan_totals (cooperative_id, status, loans, amount_millions, amount_rest, paid_millions, paid_rest, outstanding_millions, outstanding_rest)
   SELECT r.cooperative_id AS cooperative_id, r.status AS status, sum(1) AS loans, sum(r.amount_minor / 1000000) AS amount_millions, sum(r.amount_minor % 1000000) AS amount_rest, sum(r.paid_amount_minor / 1000000) AS paid_millions, sum(r.paid_amount_minor % 1000000) AS paid_rest, sum(max(0, r.amount_minor - r.paid_amount_minor) / 1000000) AS outstanding_millions, sum(max(0, r.amount_minor - r.paid_amount_minor) % 1000000) AS outstanding_rest FROM loans r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'loans')) AND NEW.id
    GROUP BY 1, 2 ON CONFLICT DO UPDATE SET loans = loans + excluded.loans,amount_millions = amount_millions + excluded.amount_millions,amount_rest = amount_rest + excluded.amount_rest,paid_millions = paid_millions + excluded.paid_millions,paid_rest = paid_rest + excluded.paid_rest,outstanding_millions = outstanding_millions + excluded.outstanding_millions,outstanding_rest = outstanding_rest + excluded.outstanding_rest;
  UPDATE batches SET next_id = NEW.id + 1 WHERE table_name = 'loans' AND next_id <= NEW.id;
END;

CREATE TRIGGER payments_batched AFTER INSERT ON payments
WHEN (SELECT NEW.id < next_id OR NEW.id > next_id + size - 2 FROM batches WHERE table_name = 'payments') BEGIN
  INSERT INTO payment_large_blocks (block, status, rows)
   SELECT r.id / 65536 AS block, r.status AS status, sum(1) AS rows FROM payments r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'payments')) AND NEW.id
    GROUP BY 1, 2 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO payment_small_blocks (block, status, rows)
   SELECT r.id / 512 AS block, r.status AS status, sum(1) AS rows FROM payments r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'payments')) AND NEW.id
    GROUP BY 1, 2 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO payment_counts (cooperative_id, status, block, rows)
   SELECT r.cooperative_id AS cooperative_id, r.status AS status, r.id / 65536 AS block, sum(1) AS rows FROM payments r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'payments')) AND NEW.id
    GROUP BY 1, 2, 3 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  UPDATE batches SET next_id = NEW.id + 1 WHERE table_name = 'payments' AND next_id <= NEW.id;
END;

CREATE TRIGGER production_entries_batched AFTER INSERT ON production_entries
WHEN (SELECT NEW.id < next_id OR NEW.id > next_id + size - 2 FROM batches WHERE table_name = 'production_entries') BEGIN
  INSERT INTO production_counts (block, rows)
   SELECT r.id / 65536 AS block, sum(1) AS rows FROM production_entries r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'production_entries')) AND NEW.id
    GROUP BY 1 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO production_totals (cooperative_id, month, product, deliveries, grams_millions, grams_rest)
   SELECT r.cooperative_id AS cooperative_id, strftime('%Y-%m', r.delivered_at + (SELECT offset_seconds FROM totals_zone), 'unixepoch') AS month, coalesce(r.product, '') AS product, sum(1) AS deliveries, sum(r.grams / 1000000) AS grams_millions, sum(r.grams % 1000000) AS grams_rest FROM production_entries r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'production_entries')) AND NEW.id
    GROUP BY 1, 2, 3 ON CONFLICT DO UPDATE SET deliveries = deliveries + excluded.deliveries,grams_millions = grams_millions + excluded.grams_millions,grams_rest = grams_rest + excluded.grams_rest;
  UPDATE batches SET next_id = NEW.id + 1 WHERE table_name = 'production_entries' AND next_id <= NEW.id;
END;

CREATE TRIGGER savings_transactions_batched AFTER INSERT ON savings_transactions
WHEN (SELECT NEW.id < next_id OR NEW.id > next_id + size - 2 FROM batches WHERE table_name = 'savings_transactions') BEGIN
  INSERT INTO savings_counts (block, rows)
   SELECT r.id / 65536 AS block, sum(1) AS rows FROM savings_transactions r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'savings_transactions')) AND NEW.id
    GROUP BY 1 ON CONFLICT DO UPDATE SET rows = rows + excluded.rows;
  INSERT INTO savings_totals (cooperative_id, kind, amount_millions, amount_rest)
   SELECT r.cooperative_id AS cooperative_id, r.kind AS kind, sum(r.amount_minor / 1000000) AS amount_millions, sum(r.amount_minor % 1000000) AS amount_rest FROM savings_transactions r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'savings_transactions')) AND NEW.id
    GROUP BY 1, 2 ON CONFLICT DO UPDATE SET amount_millions = amount_millions + excluded.amount_millions,amount_rest = amount_rest + excluded.amount_rest;
  UPDATE batches SET next_id = NEW.id + 1 WHERE table_name = 'savings_transactions' AND next_id <= NEW.id;
END;

CREATE TRIGGER savings_accounts_batched AFTER INSERT ON savings_accounts
WHEN (SELECT NEW.id < next_id OR NEW.id > next_id + size - 2 FROM batches WHERE table_name = 'savings_accounts') BEGIN
  INSERT INTO account_totals (cooperative_id, accounts)
   SELECT r.cooperative_id AS cooperative_id, sum(1) AS accounts FROM savings_accounts r WHERE r.id BETWEEN min(NEW.id, (SELECT next_id FROM batches WHERE table_name = 'savings_accounts')) AND NEW.id
    GROUP BY 1 ON CONFLICT DO UPDATE SET accounts = accounts + excluded.accounts;
  UPDATE batches SET next_id = NEW.id + 1 WHERE table_name = 'savings_accounts' AND next_id <= NEW.id;
END;
