/** The schema of the webhooks' file, as numbered migrations. One that has been released is never edited. */
import type { Schema } from '../../engine/migrate.ts';
import { ERASURES_SCHEMA } from './erasures.ts';
import { KEYS_SCHEMA } from './keys.ts';
import { REGISTRY_SCHEMA } from './registry.ts';

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

/** In the order in which they run. */
export const WEBHOOKS_SCHEMA: Schema = {
  applicationId: 0x63727731,
  migrations: [WEBHOOKS_1],
  mistakenFor: {
    [REGISTRY_SCHEMA.applicationId]: 'holds a registry. Name registry.webhooks.db instead.',
    [KEYS_SCHEMA.applicationId]: 'holds the keys of a registry. Name registry.webhooks.db instead.',
    [ERASURES_SCHEMA.applicationId]: 'holds the erasures of a registry. Name registry.webhooks.db instead.',
  },
};
