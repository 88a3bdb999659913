/** The schema of the access ledger, as numbered migrations. One that has been released is never edited. */
import type { Schema } from '../../engine/migrate.ts';
import { ERASURES_SCHEMA } from './erasures.ts';
import { KEYS_SCHEMA } from './keys.ts';
import { REGISTRY_SCHEMA } from './registry.ts';
import { WEBHOOKS_SCHEMA } from './webhooks.ts';

const LEDGER_1 = `
-- Each is one row of batches without a gap. No row is ever removed: a number that is missing was taken away.
CREATE TABLE ledger_chains (
  id INTEGER PRIMARY KEY,
  -- 32 random hexadecimal digits. Two chains have the same where two copies of a ledger went on apart.
  origin TEXT NOT NULL,
  -- Whether this location adds its readings to it.
  is_open INTEGER NOT NULL,
  -- What retention has removed: the last sequence, the hash of its batch, and when (epoch milliseconds).
  removed_through INTEGER NOT NULL DEFAULT 0,
  removed_hash TEXT NOT NULL DEFAULT '${'0'.repeat(64)}',
  removed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX ledger_chains_open ON ledger_chains (is_open) WHERE is_open = 1;

CREATE TABLE ledger_batches (
  -- 2^40 times the chain, plus the sequence of the first entry: one tree, written at the end of a chain.
  id INTEGER PRIMARY KEY,
  count INTEGER NOT NULL,
  -- The earliest and the latest instant of its entries, in epoch milliseconds.
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  -- SHA-256, in hexadecimal digits, of the batch before and of this one.
  hash TEXT NOT NULL,
  -- A line of JSON for each reading.
  entries TEXT NOT NULL
) STRICT;

-- From which sequence on a chain hashes national IDs with which key.
CREATE TABLE ledger_periods (
  chain_id INTEGER NOT NULL REFERENCES ledger_chains (id),
  first INTEGER NOT NULL,
  -- In UTC, as 2026-11.
  month TEXT NOT NULL,
  -- Of ledger_keys in the file of the API keys.
  key_id TEXT NOT NULL,
  PRIMARY KEY (chain_id, first)
) STRICT, WITHOUT ROWID;
`;

const OTHERS: readonly [Schema, string][] = [
  [REGISTRY_SCHEMA, 'holds a registry'],
  [KEYS_SCHEMA, 'holds the keys of a registry'],
  [ERASURES_SCHEMA, 'holds the erasures of a registry'],
  [WEBHOOKS_SCHEMA, 'holds the webhooks of a registry'],
];

/** In the order in which they run. */
export const LEDGER_SCHEMA: Schema = {
  applicationId: 0x63726c31,
  migrations: [LEDGER_1],
  mistakenFor: Object.fromEntries(
    OTHERS.map(([{ applicationId }, what]) => [applicationId, `${what}. Name registry.ledger.db instead.`]),
  ),
};
