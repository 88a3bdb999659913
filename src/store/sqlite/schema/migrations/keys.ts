/** The schema of a keys' file, as numbered migrations. One that has been released is never edited. */
import type { Schema } from '../../engine/migrate.ts';

const FIRST = `
CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  -- JSON arrays of text.
  scopes TEXT NOT NULL,
  allowed_addresses TEXT NOT NULL,
  allowed_hosts TEXT NOT NULL,
  is_lookup_only INTEGER NOT NULL,
  may_export INTEGER NOT NULL,
  -- A JSON array of ids, which are never given to another cooperative; NULL: all.
  cooperatives TEXT,
  -- Recorded with the readings of the key; NULL: none.
  purpose TEXT,
  requires_purpose INTEGER NOT NULL,
  per_hour INTEGER NOT NULL,
  per_day INTEGER NOT NULL,
  is_active INTEGER NOT NULL,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- A key has one secret, and a second one during the overlap of a rotation. The secret itself is never stored.
CREATE TABLE api_key_secrets (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  key_id INTEGER NOT NULL REFERENCES api_keys (id),
  prefix TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ends_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_secrets_key ON api_key_secrets (key_id);

-- Requests of a key that did the same: were admitted, used something deprecated, were refused for a reason.
CREATE TABLE key_uses (
  key_id INTEGER NOT NULL REFERENCES api_keys (id),
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Since 1970; of refused ones only, the others have 0.
  hour INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, kind, name, hour)
) STRICT, WITHOUT ROWID;

-- What hashes the national IDs of a month's readings; apart from them, and destroyed with them.
CREATE TABLE ledger_keys (
  -- The first 16 hexadecimal digits of the SHA-256 of the secret: a changed one is noticed.
  id TEXT PRIMARY KEY,
  -- In UTC, as 2026-11.
  month TEXT NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`;

const LAST_ID = `
-- A restore raises it: the next key has a higher id, so that readings of two keys stay apart.
CREATE TABLE last_key_id (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last_id INTEGER NOT NULL
) STRICT;
INSERT INTO last_key_id (id, last_id) VALUES (1, 0);
`;

/** In the order in which they run. */
export const KEYS_SCHEMA: Schema = {
  applicationId: 0x63726b32,
  migrations: [FIRST, LAST_ID],
  mistakenFor: {
    1668442929: 'was created by a version before 1.0.0. Move it away, and create the keys again.',
  },
};
