/** The schema of a registry follows the declarations of today (CONTRIBUTING.md#add-a-migration). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { REGISTRY_SCHEMA } from '../../../src/sqlite/schemas.ts';
import { DECLARED_SQL } from '../../support/sqlite-declared.ts';

const plain = (sql: string): string => sql.replace(/\s+/g, ' ').trim();

test('the migrations create what the declarations of counts, totals, names and the stale flag say', () => {
  const db = new Database(':memory:');
  for (const sql of REGISTRY_SCHEMA.migrations) db.exec(sql);
  const created = db.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').pluck().all() as string[];
  const known = new Set(created.map(plain));
  // A statement ends with a semicolon that the schema does not have; a trigger has others inside.
  const declared = DECLARED_SQL.flatMap((sql) =>
    sql
      .replace(/^--.*$/gm, '')
      .split(/(?=^CREATE )/m)
      .map((each) => plain(each).replace(/;$/, ''))
      .filter((each) => each !== ''),
  );
  assert.ok(declared.length > 80);
  assert.deepEqual(
    declared.filter((sql) => !known.has(sql)),
    [],
    'Put these into a new migration, with what drops their former shape.',
  );
});
