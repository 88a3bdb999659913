/**
 * Schemas of the registry's databases, as lists of migrations. A released migration is never edited, not even
 * its comments, because it was already run on existing files. The registry's tables and triggers for counts,
 * totals, names and the stale flag must match the declarations in counts.ts, declared-totals.ts,
 * registry/stores/name-index.ts and registry/changes/tables.ts. A test compares them.
 */
import { readFileSync } from 'node:fs';
import type { Schema } from './open-database.ts';

// API keys

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

export const KEYS_SCHEMA: Schema = {
  applicationId: 0x63726b32,
  migrations: [FIRST, LAST_ID],
  mistakenFor: {
    1668442929: 'was created by a version before 1.0.0. Move it away, and create the keys again.',
  },
};

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');

const UNRELEASED =
  'was created by a version before 1.0.0. ' +
  'Export everything with that version, and import it into a new file.';

export const REGISTRY_SCHEMA: Schema = {
  applicationId: 0x63727234,
  migrations: ['registry-1.sql'].map(read),
  mistakenFor: {
    [KEYS_SCHEMA.applicationId]: "holds the keys of a registry. Name the registry's file instead.",
    1668444721: UNRELEASED,
    1668444722: UNRELEASED,
    1668444723: UNRELEASED,
  },
};

// Access ledger

const LEDGER_1 = `
-- The one part of a chain that this file has.
CREATE TABLE ledger_part (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- The chain: 32 random hexadecimal digits.
  origin TEXT NOT NULL,
  -- The registry whose people are named; empty where it was not known.
  registry TEXT NOT NULL,
  -- In UTC, as 2026-11.
  month TEXT NOT NULL,
  -- The key in ledger_keys, in the file of the API keys, that hashes national IDs.
  key_id TEXT NOT NULL,
  first_sequence INTEGER NOT NULL,
  -- The hash of the batch before the first one.
  previous_hash TEXT NOT NULL,
  -- The name of the newest file when this one was begun; empty for the first.
  follows TEXT NOT NULL,
  -- Once the file is closed: its last sequence (first_sequence - 1 without any) and the hash there.
  last_sequence INTEGER,
  last_hash TEXT
) STRICT;

CREATE TABLE ledger_batches (
  -- The sequence of the first entry.
  id INTEGER PRIMARY KEY,
  count INTEGER NOT NULL,
  -- The earliest and the latest instant of its entries, in epoch milliseconds.
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  -- SHA-256, in hexadecimal digits, of the batch before and of this one.
  hash TEXT NOT NULL,
  -- A line of JSON for each entry.
  entries TEXT NOT NULL
) STRICT;

-- Files that retention has removed while this one was open: one that is missing and not named was taken away.
CREATE TABLE ledger_removed (
  name TEXT PRIMARY KEY,
  entries INTEGER NOT NULL,
  removed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Pages that are given back when the disk is full.
CREATE TABLE ledger_reserve (
  id INTEGER PRIMARY KEY,
  filler BLOB NOT NULL
) STRICT;
`;

export const LEDGER_SCHEMA: Schema = { applicationId: 0x63726c32, migrations: [LEDGER_1] };

// Erasures

const ERASURES_1 = `
-- As in the registry: the hashes of all its erased persons, and the keys that they were made with.
CREATE TABLE erased_persons (
  identity_hash BLOB PRIMARY KEY,
  erased_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE erasure_secrets (
  id INTEGER PRIMARY KEY,
  secret BLOB NOT NULL UNIQUE
) STRICT;
`;

export const ERASURES_SCHEMA: Schema = {
  applicationId: 0x63726531,
  migrations: [ERASURES_1],
  mistakenFor: {
    [REGISTRY_SCHEMA.applicationId]: 'holds a registry. Name registry.erasures.db instead.',
    [KEYS_SCHEMA.applicationId]: 'holds the keys of a registry. Name registry.erasures.db instead.',
  },
};

/** Application id of a ledger file of 1.0.0, with several chains and months in the same batch format. */
export const OLD_LEDGER_ID = 0x63726c31;

// Webhooks

const WEBHOOKS_1 = `
-- Who receives what, and how far. Everything up to the sequence number was delivered or passed over; a number
-- means something only together with the epoch of its sequence.
CREATE TABLE webhook_endpoints (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key_id INTEGER NOT NULL,
  url TEXT NOT NULL,
  -- A JSON array of types; NULL: all.
  types TEXT,
  allows_private INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER,
  epoch TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  -- Whether the receiver is still to be told that it must start again from here.
  is_restarted INTEGER NOT NULL DEFAULT 0,
  -- Of the message that comes next: how often it failed, and when it is tried again, in epoch milliseconds.
  failures INTEGER NOT NULL DEFAULT 0,
  failing_sequence INTEGER,
  next_attempt_at INTEGER NOT NULL DEFAULT 0,
  -- Raised by each change that a command makes: the service then reads again before it stores anything.
  revision INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Kept as they are: what signs must be known. A second one only during the overlap of a rotation.
CREATE TABLE webhook_secrets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  secret BLOB NOT NULL,
  ends_at INTEGER
) STRICT;
CREATE INDEX webhook_secrets_endpoint ON webhook_secrets (endpoint_id);

-- Messages that an operator wants passed over when their turn comes.
CREATE TABLE webhook_skips (
  endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (endpoint_id, sequence)
) STRICT, WITHOUT ROWID;

-- The last attempts of each endpoint: those that succeeded and those that failed are trimmed separately.
CREATE TABLE webhook_attempts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  webhook_id TEXT NOT NULL,
  type TEXT NOT NULL,
  sequence INTEGER,
  -- Epoch milliseconds.
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,
  -- Why it failed; NULL when it succeeded.
  fault TEXT
) STRICT;
CREATE INDEX webhook_attempts_endpoint ON webhook_attempts (endpoint_id, fault IS NULL, id);
`;

export const WEBHOOKS_SCHEMA: Schema = {
  applicationId: 0x63727731,
  migrations: [WEBHOOKS_1],
  mistakenFor: {
    [REGISTRY_SCHEMA.applicationId]: 'holds a registry. Name registry.webhooks.db instead.',
    [KEYS_SCHEMA.applicationId]: 'holds the keys of a registry. Name registry.webhooks.db instead.',
    [ERASURES_SCHEMA.applicationId]: 'holds the erasures of a registry. Name registry.webhooks.db instead.',
  },
};
