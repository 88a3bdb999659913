/**
 * The tables, views and triggers that follow declarations, as SQL: what a fresh registry has of them, and
 * what a migration that changes a declaration creates.
 */

import { type ReadModelColumn, STALE_SQL } from '../../src/registry/changes/tables.ts';
import { wordsOnlySql } from '../../src/registry/stores/name-index.ts';
import { COUNTS } from '../../src/sqlite/counts.ts';
import { addRowsSql, TOTALS, type Totals } from '../../src/sqlite/declared-totals.ts';

/** Not in any name, as texts have no control characters: a word that begins with it is not of the name. */
const MARK = 31;
/** Three characters of any two cooperatives differ, and each is a letter to the tokenizer. */
const [FIRST_LETTER, LETTERS] = [0x4e00, 20_000];

/** Besides `'`; the tokenizer would take U+02BC for a letter. */
const APOSTROPHES = ["''", '’', '‘', 'ʼ', '`', '´'];
const JOINED = APOSTROPHES.reduce((sql, each) => `replace(${sql}, '${each}', '')`, '@name');

/** SQL of the words of a name; those with an apostrophe also as if it were not there. */
const wordsOfName = (name: string): string =>
  `${name} || iif(${name} GLOB '*[${APOSTROPHES.join('')}]*', ' ' || ${JOINED.replace('@name', name)}, '')`;

/** SQL of the words by which a member is found: of the name, its cooperative and its status. */
function memberWordsSql(row: string): string {
  const cooperative = ['/', '%'].map((part) => `${FIRST_LETTER} + ${row}.cooperative_id ${part} ${LETTERS}`);
  const marked = `char(32, ${MARK}, ${cooperative.join(', ')}, 32, ${MARK})`;
  return `${wordsOfName(`${row}.full_name`)} || ${marked} || substr(${row}.status, 1, 1)`;
}

const cooperativeWordsSql = (row: string): string => wordsOfName(`${row}.name`);

/** Prefixes of so many letters are in the index themselves. */
const PREFIXES = [3, 4, 5, 6];

/** SQL of what follows the name of an index. @param options of FTS5, with a comma before each */
const indexSql = (options: string): string => wordsOnlySql(`, prefix = '${PREFIXES.join(' ')}'${options}`);

interface NameIndex {
  readonly name: string;
  readonly table: string;
  /** What the words are made of. */
  readonly columns: readonly string[];
  readonly words: (row: string) => string;
  /** A condition on a row: it has a name. */
  readonly isNamed: (row: string) => string;
  /** The same: its name is in the index. */
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
${table === 'members' ? '' : `CREATE TRIGGER ${name}_added AFTER INSERT ON ${table} BEGIN\n  ${add} END;\n`}\
CREATE TRIGGER ${name}_removed AFTER DELETE ON ${table} BEGIN
  ${remove} END;
CREATE TRIGGER ${name}_changed AFTER UPDATE OF ${columns.join(', ')} ON ${table}
WHEN (${values('OLD')}) IS NOT (${values('NEW')}) BEGIN
  ${remove}
  ${add} END;
`;
}

/** Of a row: its batch is full. */
const isInBatch = (table: string, row: string): string =>
  `${row}.id < (SELECT next_id FROM batches WHERE table_name = '${table}')`;
/** Of a member: no large import has left it. */
const isNotLeft = (row: string): string =>
  `NOT EXISTS (SELECT 1 FROM unindexed_names WHERE first_id <= ${row}.id)`;
const isNamedMember = (row: string): string => `${row}.status <> 'erased'`;

const NAMES = [
  nameIndex({
    name: 'member_names',
    table: 'members',
    columns: ['full_name', 'cooperative_id', 'status'],
    words: memberWordsSql,
    isNamed: isNamedMember,
    isIndexed: (row) => `${isNamedMember(row)} AND ${isInBatch('members', row)} AND ${isNotLeft(row)}`,
  }),
  nameIndex({
    name: 'cooperative_names',
    table: 'cooperatives',
    columns: ['name'],
    words: cooperativeWordsSql,
    isNamed: () => 'true',
    isIndexed: () => 'true',
  }),
];

const names = ({ key, sums }: Totals): string => [...Object.keys(key), ...Object.keys(sums)].join(', ');
const upsert = ({ sums }: Totals): string =>
  `ON CONFLICT DO UPDATE SET ${Object.keys(sums).map((sum) => `${sum} = ${sum} + excluded.${sum}`)}`;

/** SQL of the trigger on new rows: it adds a batch that is full to the totals and the index of names. */
export function batchTrigger(rows: string, totals: readonly Totals[]): string {
  const next = `(SELECT next_id FROM batches WHERE table_name = '${rows}')`;
  const isInBatch = (row: string) => `${row}.id BETWEEN min(NEW.id, ${next}) AND NEW.id`;
  const statements = [
    ...totals.map((each) => addRowsSql(each, isInBatch('r')).replaceAll('main.', '')),
    ...(rows === 'members'
      ? [
          `INSERT INTO member_names (rowid, words)
    SELECT id, words FROM member_names_source r WHERE ${isInBatch('r')} AND ${isNotLeft('r')}`,
        ]
      : []),
    `UPDATE batches SET next_id = NEW.id + 1 WHERE table_name = '${rows}' AND next_id <= NEW.id`,
  ];
  return `
CREATE TRIGGER ${rows}_batched AFTER INSERT ON ${rows}
WHEN (SELECT NEW.id < next_id OR NEW.id > next_id + size - 2 FROM batches WHERE table_name = '${rows}') BEGIN
${statements.map((sql) => `  ${sql};\n`).join('')}\
END;
`;
}

/** SQL of the table, and of the triggers on its rows that are in it. */
export function totalsTable(totals: Totals): string {
  const { table, rows, columns, key, sums } = totals;
  const add = (row: 'NEW' | 'OLD'): string => {
    const sign = row === 'NEW' ? '' : '-';
    const values = [
      ...Object.values(key).map((sql) => sql(row)),
      ...Object.values(sums).map((sql) => `${sign}(${sql(row)})`),
    ];
    return `INSERT INTO ${table} (${names(totals)}) VALUES (${values.join(', ')}) ${upsert(totals)};`;
  };
  const valuesOf = (row: string): string => columns.map((each) => `${row}.${each}`).join(', ');
  const keyOf = (row: string): string =>
    Object.values(key)
      .map((sql) => sql(row))
      .join(', ');
  const differences = Object.entries(sums).map(
    ([sum, sql]) => `${sum} = ${sum} + (${sql('NEW')}) - (${sql('OLD')})`,
  );
  const isIn = isInBatch(rows, 'OLD');
  const isText = (name: string): boolean => name !== 'cooperative_id' && name !== 'block';
  return `
CREATE TABLE ${table} (
${Object.keys(key)
  .map((name) => `  ${name} ${isText(name) ? 'TEXT' : 'INTEGER'} NOT NULL,\n`)
  .join('')}\
${Object.keys(sums)
  .map((name) => `  ${name} INTEGER NOT NULL,\n`)
  .join('')}\
  PRIMARY KEY (${Object.keys(key).join(', ')})
) STRICT, WITHOUT ROWID;
CREATE TRIGGER ${table}_removed AFTER DELETE ON ${rows} WHEN ${isIn} BEGIN ${add('OLD')} END;
CREATE TRIGGER ${table}_changed AFTER UPDATE OF ${columns.join(', ')} ON ${rows}
WHEN (${keyOf('OLD')}) IS NOT (${keyOf('NEW')}) AND ${isIn} BEGIN
  ${add('OLD')}
  ${add('NEW')} END;
-- In place, as each payment changes its loan: it takes half as long.
CREATE TRIGGER ${table}_summed AFTER UPDATE OF ${columns.join(', ')} ON ${rows}
WHEN (${valuesOf('OLD')}) IS NOT (${valuesOf('NEW')}) AND (${keyOf('OLD')}) IS (${keyOf('NEW')})
  AND ${isIn} BEGIN
  UPDATE ${table} SET ${differences.join(', ')}
  WHERE (${Object.keys(key).join(', ')}) = (${keyOf('NEW')}); END;
`;
}

/** Triggers that set the stale flag of a column for the members that `ownerOf` finds, unless it is set. */
function staleTriggers(table: string, column: ReadModelColumn, ownerOf: (row: string) => string): string {
  const rowsOf = { INSERT: ['NEW'], UPDATE: ['OLD', 'NEW'], DELETE: ['OLD'] };
  const mark = (row: string) =>
    `UPDATE members SET ${column} = ${STALE_SQL}
    WHERE id = ${ownerOf(row)} AND ${column} IS NOT ${STALE_SQL};`;
  return Object.entries(rowsOf)
    .map(
      ([event, rows]) => `CREATE TRIGGER ${table}_${event.toLowerCase()} AFTER ${event} ON ${table} BEGIN
  ${rows.map(mark).join('\n  ')} END;`,
    )
    .join('\n');
}

const memberOf = (row: string): string => `${row}.member_id`;
const accountOwnerOf = (row: string): string =>
  `(SELECT member_id FROM savings_accounts WHERE id = ${row}.account_id)`;

const ADDED_UP: readonly Totals[] = [...COUNTS, ...TOTALS];

/** What says which rows are in no batch yet. */
export const BATCHES_SQL = `
CREATE TABLE batches (
  table_name TEXT PRIMARY KEY,
  next_id INTEGER NOT NULL DEFAULT 1,
  size INTEGER NOT NULL DEFAULT 128
) STRICT, WITHOUT ROWID;
`;

/** Everything that follows declarations. */
export const DECLARED_SQL: readonly string[] = [
  staleTriggers('production_entries', 'production', memberOf),
  staleTriggers('loans', 'loans', memberOf),
  staleTriggers('savings_accounts', 'savings', memberOf),
  staleTriggers('savings_transactions', 'savings', accountOwnerOf),
  ...NAMES,
  BATCHES_SQL,
  ...ADDED_UP.map(totalsTable),
  ...[...Map.groupBy(ADDED_UP, ({ rows }) => rows)].map(([rows, totals]) => batchTrigger(rows, totals)),
];
