/** Gives the tables the columns of this release, and the rows that came with a load or a batch. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Database } from './database.ts';
import { COMMENTS, incomingOf, type KindName, keyOf, TABLES, type Table, tablesOf } from './kinds.ts';

const file = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
/** What a mirror has before its first load. */
export const SCHEMA = file('./schema.sql');
const INDEXES = file('./indexes.sql');
const VIEWS = file('./views.sql');

/** Raised when rows that an earlier release stored may be wrong: the mirror then loads all of them again. */
const ROWS_VERSION = 2;

/** Names everything that this release has in the database. */
export const SHAPE = createHash('sha256')
  .update(JSON.stringify(TABLES) + SCHEMA + INDEXES + VIEWS + ROWS_VERSION)
  .digest('hex')
  .slice(0, 16);

/**
 * Makes the rows of a scope those that wait: part of the transaction under way. Rows that are equal stay as
 * they are, so readers wait for nothing.
 * @param scope SQL of the rows `old`, by the name of their key; all of them if it is not given
 * @returns whether rows are gone, and not only changed
 */
export async function exchange(
  { query }: Database,
  kind: KindName,
  scope: (key: string) => string = () => 'TRUE',
  values: readonly unknown[] = [],
): Promise<boolean> {
  const incoming = incomingOf(kind);
  let gone = 0;
  for (const table of tablesOf(kind)) {
    const { name } = table;
    const key = keyOf(table);
    const columns = Object.keys(table.columns);
    const rowOf = (alias: string) => `ROW(${columns.map((column) => `${alias}.${column}`).join(', ')})`;
    const { rows } = await query(
      `WITH deleted AS (
        DELETE FROM ${name} AS old WHERE (${scope(key)}) AND NOT EXISTS (
          SELECT FROM ${incoming} AS new
          WHERE new.${key} = old.${key} AND ${rowOf('new')} IS NOT DISTINCT FROM ${rowOf('old')})
        RETURNING old.${key})
      SELECT count(*) AS gone FROM deleted
      WHERE NOT EXISTS (SELECT FROM ${incoming} AS new WHERE new.${key} = deleted.${key})`,
      [...values],
    );
    gone += rows[0].gone;
    await query(
      `INSERT INTO ${name} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM ${incoming} AS new
      WHERE NOT EXISTS (SELECT FROM ${name} AS old WHERE old.${key} = new.${key})`,
    );
  }
  await query(`TRUNCATE ${incoming}`);
  return gone > 0;
}

/**
 * Gives every table the columns of this release, without values: part of the transaction under way.
 * @returns the tables that are new, which have no key yet
 */
export async function shapeTables({ query }: Database): Promise<Table[]> {
  const created: Table[] = [];
  for (const table of TABLES) {
    const { name } = table;
    const { rows } = await query(
      `SELECT attname || ' ' || format_type(atttypid, atttypmod) AS column FROM pg_attribute
      WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
      [name],
    );
    const there: string[] = rows.map(({ column }) => column);
    const wanted = Object.entries(table.columns).map(([column, [type]]) => `${column} ${type}`);
    const dropped = there.filter((column) => !wanted.includes(column));
    const added = wanted.filter((column) => !there.includes(column));
    if (there.length === 0) {
      await query(`CREATE TABLE ${name} ()`);
      created.push(table);
    }
    // The mirror's own views may have such a column. Those of others keep it, and the mirror ends.
    if (dropped.length > 0)
      await query('DROP VIEW IF EXISTS registry.people, registry_private.people, registry.memberships');
    for (const column of dropped) await query(`ALTER TABLE ${name} DROP COLUMN ${column.split(' ')[0]}`);
    for (const column of added) await query(`ALTER TABLE ${name} ADD COLUMN ${column}`);
  }
  return created;
}

/** What takes a fraction of the time when the rows are there. @param created tables without a key */
export async function completeTables({ query }: Database, created: readonly Table[]): Promise<void> {
  for (const table of created) await query(`ALTER TABLE ${table.name} ADD PRIMARY KEY (${keyOf(table)})`);
  await query(INDEXES + COMMENTS + VIEWS);
}
