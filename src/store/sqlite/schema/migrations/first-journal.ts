/** First schema: operations, the history of changes, events, responses to repeated requests. */

export const JOURNAL = `
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

-- One row for each change of a cooperative, member, loan or payment, in the order of commits, for followers;
-- integers only (domain/events.ts explains them), and no index beside the key. The oldest are removed.
CREATE TABLE events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
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
`;
