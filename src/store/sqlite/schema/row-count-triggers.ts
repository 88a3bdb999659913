/**
 * The triggers that keep the number of rows of a large table. Released migrations use this text: never edit
 * it.
 */
export const countTriggers = (table: string): string => `
INSERT INTO row_counts (table_name, rows) SELECT '${table}', count(*) FROM ${table};
CREATE TRIGGER ${table}_added AFTER INSERT ON ${table} BEGIN
  UPDATE row_counts SET rows = rows + 1 WHERE table_name = '${table}'; END;
CREATE TRIGGER ${table}_removed AFTER DELETE ON ${table} BEGIN
  UPDATE row_counts SET rows = rows - 1 WHERE table_name = '${table}'; END;`;
