/** First schema: counts of rows, so that no list and no check of sizes scans a table (decision 3). */
import { BLOCK_SPANS } from '../block-sizes.ts';

/** The counts of a table by status: of each cooperative, and of blocks of ids. */
const countTables = (one: string, many: string): string => `
-- How many ${many} of each status a cooperative has.
CREATE TABLE ${one}_counts (
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  status TEXT NOT NULL,
  ${many} INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, status)
) STRICT, WITHOUT ROWID;

-- How many ${many} with an id in [block * span, (block + 1) * span) have the status, or 'any'.
CREATE TABLE ${one}_blocks (
  span INTEGER NOT NULL CHECK (span IN (${BLOCK_SPANS.join(', ')})),
  status TEXT NOT NULL,
  block INTEGER NOT NULL,
  ${many} INTEGER NOT NULL,
  PRIMARY KEY (span, status, block)
) STRICT, WITHOUT ROWID;
`;

/** The same inside one cooperative, by large blocks only: its rows are spread over the ids of all. */
const cooperativeBlocks = (one: string, many: string): string => `
CREATE TABLE ${one}_cooperative_blocks (
  cooperative_id INTEGER NOT NULL REFERENCES cooperatives (id),
  status TEXT NOT NULL,
  block INTEGER NOT NULL,
  ${many} INTEGER NOT NULL,
  PRIMARY KEY (cooperative_id, status, block)
) STRICT, WITHOUT ROWID;
`;

const rowCountTriggers = (table: string): string => `
INSERT INTO row_counts (table_name, rows) VALUES ('${table}', 0);
CREATE TRIGGER ${table}_added AFTER INSERT ON ${table} BEGIN
  UPDATE row_counts SET rows = rows + 1 WHERE table_name = '${table}'; END;
CREATE TRIGGER ${table}_removed AFTER DELETE ON ${table} BEGIN
  UPDATE row_counts SET rows = rows - 1 WHERE table_name = '${table}'; END;`;

export const COUNTS = `
${countTables('member', 'members')}
${cooperativeBlocks('member', 'members')}
${countTables('loan', 'loans')}
${cooperativeBlocks('loan', 'loans')}
${countTables('payment', 'payments')}
${cooperativeBlocks('payment', 'payments')}

-- How many rows a large table has.
CREATE TABLE row_counts (
  table_name TEXT PRIMARY KEY,
  rows INTEGER NOT NULL CHECK (rows >= 0)
) STRICT, WITHOUT ROWID;
${['production_entries', 'loans', 'savings_transactions', 'payments'].map(rowCountTriggers).join('\n')}
`;
