/** Registry migration 6: the sequence of changes that followers read. */

export const REGISTRY_6 = `
-- One row for each change of a cooperative, member, loan or payment, in the order of commits; integers only
-- (domain/events.ts says what they stand for), and no index beside the key. The oldest are removed.
CREATE TABLE events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  type INTEGER NOT NULL,
  row_id INTEGER NOT NULL,
  cooperative_id INTEGER NOT NULL,
  fields INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor INTEGER NOT NULL
) STRICT;

-- Fixed when the registry is created, and new after a restore: sequence numbers are comparable within it.
CREATE TABLE feed (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  epoch TEXT NOT NULL
) STRICT;
INSERT INTO feed (id, epoch) VALUES (1, lower(hex(randomblob(8))));
`;
