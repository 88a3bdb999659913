/** Every statement has an index and a bound: no request may cost more on a larger registry. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { cooperativeListsOn, ROW_ORDERS } from '../../../src/browse/cooperative-lists-sql.ts';
import { EVENT_CHECKS } from '../../../src/check/check.ts';
import { mergePairs } from '../../../src/people/corrections/merges.ts';
import { openMemberSearch } from '../../../src/search/member-search.ts';
import type { Connection, PreparedStatement } from '../../../src/sqlite/connection.ts';
import { openStatisticsReader } from '../../../src/statistics/statistics-store.ts';
import { KIGALI } from '../../../src/values/date-time.ts';
import { temporaryFolder } from '../../support/app.ts';
import { openFile, openKeyStore, openStore, WebhookStore } from '../../support/sqlite.ts';

const BIG = [
  'members',
  'production_entries',
  'loans',
  'payments',
  'savings_accounts',
  'savings_transactions',
  'events',
  'webhook_attempts',
  'm',
  'l',
  'p',
  't',
  'a',
  'd',
];
const AGGREGATE = /\b(count|sum|max|min|avg|total|group_concat)\s*\(|\bGROUP BY\b|\bDISTINCT\b|\bOFFSET\b/i;

function planOf(db: Connection, sql: string): string[] {
  const rows = db.raw.prepare(`EXPLAIN QUERY PLAN ${sql}`);
  const names = [...new Set([...sql.matchAll(/@(\w+)/g)].map(([, name = '']) => name))];
  const given =
    names.length > 0
      ? [Object.fromEntries(names.map((name) => [name, null]))]
      : [...sql].filter((c) => c === '?').map(() => null);
  return (rows.all(...given) as { detail: string }[]).map(({ detail }) => detail);
}

/** What is wrong with a statement, or undefined. */
function faultOf(db: Connection, { sql, bound }: PreparedStatement): string | undefined {
  if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/i.test(sql)) return undefined;
  const plan = planOf(db, sql);
  const scanned = plan.find((line) => BIG.some((table) => new RegExp(`^SCAN ${table}\\b`).test(line)));
  const isPage =
    /ORDER BY ((m\.)?id|sequence)\b[\s\S]*LIMIT/.test(sql) &&
    !plan.some((line) => line.includes('TEMP B-TREE'));
  if (scanned !== undefined && !isPage) return `walks a big table: ${scanned}`;
  if (bound !== undefined) return undefined;
  if (plan.some((line) => line.includes('TEMP B-TREE'))) return 'sorts without a declared bound';
  // The counter of an upsert is not an aggregate.
  if (AGGREGATE.test(sql) && /^\s*(SELECT|WITH)/i.test(sql))
    return 'aggregates or skips without a declared bound';
  return undefined;
}

function open(context: TestContext) {
  const folder = temporaryFolder(context);
  const store = openStore(join(folder, 'registry.db'));
  // Those of the thread that searches.
  openMemberSearch(store.connection);
  const keys = openKeyStore(join(folder, 'registry.keys.db'));
  const webhooks = new WebhookStore(join(folder, 'registry.db'), { waitMs: 0, create: true });
  const statistics = openFile(join(folder, 'registry.db'));
  openStatisticsReader(statistics, KIGALI);
  context.after(() => {
    statistics.close();
    keys.close();
    webhooks.close();
    return store.close();
  });
  return {
    ...{ registry: store.connection, keys: keys.connection, webhooks: webhooks.connection },
    statistics,
  };
}

test('every statement of the registry and of what is beside it has an index and a bound', (context) => {
  const { registry, keys, webhooks, statistics } = open(context);
  for (const [db, atLeast] of [
    [registry, 25],
    [keys, 8],
    [webhooks, 15],
    [statistics, 6],
  ] as const) {
    assert.ok(db.prepared.length >= atLeast, `${db.prepared.length} statements`);
    for (const statement of db.prepared) assert.equal(faultOf(db, statement), undefined, statement.sql);
  }
});

test('a merge walks no table: it holds the lock as long in a large registry as in a small one', (context) => {
  const { statistics: db } = open(context);
  db.exec('CREATE TEMP TABLE pairs (from_id INTEGER PRIMARY KEY, into_id INTEGER NOT NULL UNIQUE)');
  const exec = context.mock.method(db, 'exec');
  mergePairs(db, 1);
  const statements = exec.mock.calls.map(({ arguments: [sql] }) => sql);
  assert.equal(statements.length, 5);
  for (const sql of statements) {
    const walked = planOf(db, sql).filter((line) => /^SCAN (?!p\b|pairs\b)/.test(line));
    assert.deepEqual(walked, [], sql);
  }
});

test('the lists of a cooperative walk no table, in whatever order they are', (context) => {
  const { statistics: db } = open(context);
  const [rows, value] = [context.mock.method(db, 'rows'), context.mock.method(db, 'value')];
  const page = { page: 1, pageSize: 50 };
  const stored = cooperativeListsOn(db);
  for (const order of [undefined, ...ROW_ORDERS]) {
    stored.listWithoutDelivery(1, 1, { ...page, order });
    stored.listLateLoans(1, 1, { ...page, order });
    for (const kind of ['production', 'savings', 'loans', 'payments'] as const)
      for (const memberCode of [undefined, 'M-1'])
        stored.listRecorded(kind, 1, memberCode, { ...page, order });
  }
  const statements = [...rows.mock.calls, ...value.mock.calls].map(({ arguments: [sql] }) => sql);
  // Of ten lists the rows and their count.
  assert.equal(statements.length, 2 * 10 * (1 + ROW_ORDERS.length));
  for (const sql of new Set(statements)) {
    const walked = planOf(db, sql).filter((line) => /^SCAN (?!page\b)/.test(line));
    assert.deepEqual(walked, [], sql);
  }
});

test('a check of the events finds the newest change from the end, not by sorting all of them', (context) => {
  const { registry } = open(context);
  for (const { sql } of EVENT_CHECKS)
    assert.ok(!planOf(registry, sql).some((line) => line.includes('TEMP B-TREE FOR ORDER BY')), sql);
});

test('no SELECT is planned by the values of its parameters, which would plan it again each time', (context) => {
  const { registry, keys } = open(context);
  const selects = [...registry.prepared, ...keys.prepared].filter(({ sql }) =>
    /^\s*(SELECT|WITH)/i.test(sql),
  );
  assert.ok(selects.some(({ sql }) => sql.includes('LIMIT +')));
  for (const { sql } of selects)
    assert.doesNotMatch(sql.replaceAll(/'[^']*'/g, ''), /(?<!\+)(?:\?|@\w)/, sql);
});

test('the lookup finds a person by the index of persons, whatever the planner assumes of the others', (context) => {
  const { registry } = open(context);
  const lookups = registry.prepared.filter(({ sql }) => /members_person/.test(sql));
  assert.equal(lookups.length, 10);
  for (const { sql } of lookups) {
    const first = planOf(registry, sql).find((line) => /^(SEARCH|SCAN) m\b/.test(line));
    assert.match(first ?? '', /^SEARCH m USING (COVERING )?INDEX members_person \(identity_card=\?/);
  }
});

for (const [sql, fault] of [
  ['SELECT * FROM members WHERE full_name = ?', /walks a big table/],
  ['SELECT id FROM members ORDER BY full_name LIMIT 50', /walks a big table/],
  ["SELECT count(*) FROM members WHERE status = 'active'", /aggregates or skips/],
  ['SELECT id FROM members WHERE status = ? ORDER BY id LIMIT 50 OFFSET 5000000', /aggregates or skips/],
  ['SELECT * FROM loans WHERE member_id = ? ORDER BY amount_minor', /sorts without/],
  ['SELECT sum(grams) FROM production_entries WHERE member_id = ?', /aggregates or skips/],
  ['UPDATE loans SET status = ? WHERE paid_amount_minor = 0', /walks a big table/],
] as const) {
  test(`the check refuses: ${sql}`, (context) => {
    const { registry } = open(context);
    assert.match(faultOf(registry, { sql, bound: undefined }) ?? '', fault);
  });
}

test('the check allows a page in order of id', (context) => {
  const { registry } = open(context);
  assert.equal(
    faultOf(registry, { sql: 'SELECT id FROM members ORDER BY id LIMIT 50', bound: undefined }),
    undefined,
  );
});
