/** The schema of a file of erasures, as numbered migrations. One that has been released is never edited. */
import type { Schema } from '../../engine/migrate.ts';
import { KEYS_SCHEMA } from './keys.ts';
import { REGISTRY_SCHEMA } from './registry.ts';

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

/** In the order in which they run. */
export const ERASURES_SCHEMA: Schema = {
  applicationId: 0x63726531,
  migrations: [ERASURES_1],
  mistakenFor: {
    [REGISTRY_SCHEMA.applicationId]: 'holds a registry. Name registry.erasures.db instead.',
    [KEYS_SCHEMA.applicationId]: 'holds the keys of a registry. Name registry.erasures.db instead.',
  },
};
