/** The schema of a file of the access ledger. One that has been released is never edited. */
import type { Schema } from '../../engine/migrate.ts';

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

/** In the order in which they run. */
export const LEDGER_SCHEMA: Schema = { applicationId: 0x63726c32, migrations: [LEDGER_1] };

/** A file of 1.0.0: several chains, each with several months. Its batches have the same form. */
export const OLD_LEDGER_ID = 0x63726c31;
