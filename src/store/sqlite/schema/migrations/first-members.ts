/** Part of the first schema, which registry.ts puts together: cooperatives, their members, and who is who. */
import { STALE_SQL } from '../stale-flag.ts';

export const MEMBERS = `
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
CREATE UNIQUE INDEX members_code ON members (cooperative_id, member_code);
CREATE INDEX members_status ON members (status);
CREATE INDEX members_cooperative_status ON members (cooperative_id, status);
CREATE INDEX members_unsummarized ON members (id) \
WHERE production = ${STALE_SQL} OR loans = ${STALE_SQL} OR savings = ${STALE_SQL};
CREATE INDEX members_member_code ON members (member_code);
CREATE INDEX members_mobile ON members (mobile) WHERE mobile IS NOT NULL;
CREATE INDEX members_deceased ON members (id) WHERE date_of_death IS NOT NULL;
`;

/** Refers to operations: a correction is one. */
export const FORMER_IDENTITIES = `
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
`;
