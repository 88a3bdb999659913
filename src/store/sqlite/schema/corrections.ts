/** Registry migration 8: who is who, corrected. */

export const REGISTRY_8 = `
-- A correction has its row in imports, so that one sequence of ids names whatever can be undone.
ALTER TABLE imports ADD COLUMN reason TEXT;

-- Lists of members by code and by telephone number.
CREATE INDEX members_member_code ON members (member_code);
CREATE INDEX members_mobile ON members (mobile) WHERE mobile IS NOT NULL;

-- YYYY-MM-DD; the same for every membership of a person.
ALTER TABLE members ADD COLUMN date_of_death TEXT;
CREATE INDEX members_deceased ON members (id) WHERE date_of_death IS NOT NULL;

-- A national ID that was wrong or was reissued still finds its person, under the current number. A row that a
-- later correction has replaced or released stays, so that undoing that correction brings it back.
CREATE TABLE replaced_identity_cards (
  old TEXT NOT NULL,
  new TEXT NOT NULL,
  correction_id INTEGER NOT NULL REFERENCES imports (id),
  ended_by INTEGER REFERENCES imports (id),
  PRIMARY KEY (old, correction_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX replaced_identity_cards_old ON replaced_identity_cards (old) WHERE ended_by IS NULL;
CREATE INDEX replaced_identity_cards_new ON replaced_identity_cards (new);

-- Members that were merged into others, by the id of the member that has their entries now.
CREATE TABLE merged_members (
  id INTEGER NOT NULL,
  into_id INTEGER NOT NULL,
  correction_id INTEGER NOT NULL REFERENCES imports (id),
  ended_by INTEGER REFERENCES imports (id),
  PRIMARY KEY (id, correction_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX merged_members_id ON merged_members (id) WHERE ended_by IS NULL;
CREATE INDEX merged_members_into ON merged_members (into_id);

-- Keyed hashes of the national IDs of erased persons: an import does not bring them back. cleared_at is null
-- as long as the log and the free space of the file may still hold their values.
CREATE TABLE erased_persons (
  identity_hash BLOB PRIMARY KEY,
  erased_at INTEGER NOT NULL,
  cleared_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE erasure_secret (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  secret BLOB NOT NULL
) STRICT;
INSERT INTO erasure_secret (id, secret) VALUES (1, randomblob(32));
`;
