/** Registry migration 5: payments, what is paid on a loan, and the counts of both lists. */
import { LARGE_BLOCK, SMALL_BLOCK } from './block-sizes.ts';
import { countTriggers } from './row-count-triggers.ts';

/** The tables of a count index by status, filled from what is stored. */
const countTables = (one: string, many: string): string => `
CREATE TABLE ${one}_counts (
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  status TEXT NOT NULL,
  ${many} INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, status)
) STRICT, WITHOUT ROWID;
INSERT INTO ${one}_counts SELECT cooperative_id, status, count(*) FROM ${many} GROUP BY 1, 2;

CREATE TABLE ${one}_blocks (
  span INTEGER NOT NULL CHECK (span IN (${SMALL_BLOCK}, ${LARGE_BLOCK})),
  status TEXT NOT NULL,
  block INTEGER NOT NULL,
  ${many} INTEGER NOT NULL,
  PRIMARY KEY (span, status, block)
) STRICT, WITHOUT ROWID;
${[SMALL_BLOCK, LARGE_BLOCK]
  .map(
    (span) => `INSERT INTO ${one}_blocks
  SELECT ${span}, status, id / ${span}, count(*) FROM ${many} GROUP BY 2, 3
  UNION ALL SELECT ${span}, 'any', id / ${span}, count(*) FROM ${many} GROUP BY 3;`,
  )
  .join('\n')}

-- The same inside one cooperative, by large blocks only: its rows are spread over the ids of all.
CREATE TABLE ${one}_cooperative_blocks (
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  status TEXT NOT NULL,
  block INTEGER NOT NULL,
  ${many} INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, status, block)
) STRICT, WITHOUT ROWID;
INSERT INTO ${one}_cooperative_blocks
  SELECT cooperative_id, status, id / ${LARGE_BLOCK}, count(*) FROM ${many} GROUP BY 1, 2, 3;
CREATE INDEX ${many}_status ON ${many} (status);
CREATE INDEX ${many}_cooperative_status ON ${many} (cooperative_id, status);
`;

export const REGISTRY_5 = `
-- What is paid = the opening balance, which only imports set, + the recorded payments. A payment dated at or
-- before paid_until is in the opening balance; without one it is null.
ALTER TABLE loans ADD COLUMN opening_balance_minor INTEGER NOT NULL DEFAULT 0 \
CHECK (opening_balance_minor >= 0);
ALTER TABLE loans ADD COLUMN paid_until INTEGER;
UPDATE loans SET opening_balance_minor = paid_amount_minor, paid_until = updated_at
  WHERE paid_amount_minor > 0;

CREATE TABLE payments (
  id INTEGER PRIMARY KEY,
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  loan_id INTEGER NOT NULL REFERENCES loans (id),
  reference TEXT NOT NULL,
  amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
  method TEXT NOT NULL,
  status TEXT NOT NULL,
  paid_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX payments_reference ON payments (cooperative_id, reference);
CREATE INDEX payments_loan ON payments (loan_id, status);
${countTriggers('payments')}
${countTables('loan', 'loans')}
${countTables('payment', 'payments')}
`;
