/** First schema: the indexes of names, for searches. Triggers keep them, SQL by hand included. */
import { cooperativeWordsSql, indexSql, memberWordsSql } from '../indexed-names.ts';

interface NameIndex {
  readonly name: string;
  readonly table: string;
  /** What the words are made of. */
  readonly columns: readonly string[];
  readonly words: (row: string) => string;
  /** Conditions on a row: it has a name; it is in the index, or is to be added now. */
  readonly isNamed: (row: string) => string;
  readonly isIndexed: (row: string) => string;
}

function nameIndex({ name, table, columns, words, isNamed, isIndexed }: NameIndex): string {
  const add = `INSERT INTO ${name} (rowid, words) SELECT NEW.id, ${words('NEW')} WHERE ${isIndexed('NEW')};`;
  // What is removed from such an index is given in full.
  const remove = `INSERT INTO ${name} (${name}, rowid, words)
    SELECT 'delete', OLD.id, ${words('OLD')} WHERE ${isIndexed('OLD')};`;
  const values = (row: string): string => columns.map((column) => `${row}.${column}`).join(', ');
  return `
CREATE VIEW ${name}_source (id, words) AS SELECT id, ${words(table)} FROM ${table} WHERE ${isNamed(table)};
CREATE VIRTUAL TABLE ${name} ${indexSql(`, content = '${name}_source', content_rowid = 'id'`)};
CREATE VIRTUAL TABLE ${name}_words USING fts5vocab(${name}, instance);
CREATE TRIGGER ${name}_added AFTER INSERT ON ${table} BEGIN
  ${add} END;
CREATE TRIGGER ${name}_removed AFTER DELETE ON ${table} BEGIN
  ${remove} END;
CREATE TRIGGER ${name}_changed AFTER UPDATE OF ${columns.join(', ')} ON ${table}
WHEN (${values('OLD')}) IS NOT (${values('NEW')}) BEGIN
  ${remove}
  ${add} END;
`;
}

const isNamedMember = (row: string): string => `${row}.status <> 'erased'`;

export const NAMES = `
-- The first member that is still to be indexed, with all that have higher ids: what a large import adds
-- follows in small transactions. Empty when all are indexed.
CREATE TABLE unindexed_names (first_id INTEGER PRIMARY KEY) STRICT;
${nameIndex({
  name: 'member_names',
  table: 'members',
  columns: ['full_name', 'cooperative_id', 'status'],
  words: memberWordsSql,
  isNamed: isNamedMember,
  isIndexed: (row) =>
    `${isNamedMember(row)} AND NOT EXISTS (SELECT 1 FROM unindexed_names WHERE first_id <= ${row}.id)`,
})}
${nameIndex({
  name: 'cooperative_names',
  table: 'cooperatives',
  columns: ['name'],
  words: cooperativeWordsSql,
  isNamed: () => 'true',
  isIndexed: () => 'true',
})}
`;
