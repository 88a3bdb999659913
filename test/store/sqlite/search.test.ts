/** The indexes of names: what a search finds, and that they have exactly the words of all names. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { isVisible, type Visible } from '../../../src/domain/access/visible.ts';
import { MEMBER_STATUSES, type MemberStatus } from '../../../src/domain/membership/members.ts';
import { parseSearch } from '../../../src/domain/values/search-words.ts';
import { checkNames } from '../../../src/store/sqlite/check/name-checks.ts';
import { indexNames, leaveUnindexed } from '../../../src/store/sqlite/search/index-names.ts';
import { openMemberSearch } from '../../../src/store/sqlite/search/member-search.ts';
import { temporaryFolder } from '../../support/app.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { type Connection, openStore } from '../../support/sqlite.ts';

interface Row {
  readonly id: number;
  cooperativeId: number;
  status: MemberStatus;
  name: string;
}

const WORDS = [
  ...[
    'Uwimana',
    'UWIMANA',
    'Uwimanayezu',
    'Uwi',
    'Mukamana',
    'Béatrice',
    'Zoé',
    'Émile',
    'Nsengiyumva',
    'Ng’andu',
  ],
  ...["d'Élevage", "N'Diaye", 'Jean-Paul', 'Jean', 'Ba', 'Ngô', 'Đặng', '12', 'ʼUmar', "O''Neil", 'Straße'],
];
const QUERIES = [
  ...['uwi', 'uwimana', 'uwimanay', 'UWIMAN', 'muk', 'mukamana', 'beat', 'zoe', 'emi', 'emile', 'elevage'],
  ...[
    'delevage',
    "d'élev",
    'ndiaye',
    'diaye',
    'jean',
    'paul',
    'jeanpaul',
    'nsengiyumva',
    'nsengiy',
    'ngandu',
  ],
  ...['andu', 'umar', 'oneil', 'nei', 'stra', 'ngo', 'xyz', 'nsengiyumvaa'],
];

const fold = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();
const wordsOf = (text: string): string[] => fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
const APOSTROPHE = /['’ʼ]/g;

/** What the documents say, by hand. */
function isFound(name: string, query: string): boolean {
  const words = [...wordsOf(name.replace(APOSTROPHE, ' ')), ...wordsOf(name.replace(APOSTROPHE, ''))];
  return wordsOf(query.replace(APOSTROPHE, '')).every((word) => words.some((each) => each.startsWith(word)));
}

/** A registry with three cooperatives. */
function openRegistry(context: TestContext): Connection {
  const store = openStore(join(temporaryFolder(context), 'registry.db'));
  context.after(() => store.close());
  for (const id of [1, 2, 3])
    store.connection.run(
      `INSERT INTO cooperatives (id, code, name, status, created_at, updated_at)
       VALUES (?, ?, 'C', 'active', 1, 1)`,
      [id, `C${id}`],
    );
  return store.connection;
}

const insertRow = (db: Connection, { id, cooperativeId, status, name }: Row) =>
  db.run(
    `INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name, role, status,
       registration_date, created_at, updated_at) VALUES (?, ?, ?, ?, ?, 'MEMBER', ?, 0, 1, 1)`,
    [id, cooperativeId, String(1_198_589_000_000_000 + id), `M${id % 4}-${id}`, name, status],
  );

const faultsOf = (db: Connection) => checkNames(db).filter(({ fault }) => fault !== null);

const row = fc.record({
  id: fc.integer({ min: 1, max: 60_000 }),
  cooperativeId: fc.integer({ min: 1, max: 3 }),
  status: fc.constantFrom(...MEMBER_STATUSES),
  name: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }).map((words) => words.join(' ')),
});
const filter = fc.record(
  {
    cooperativeId: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom(...MEMBER_STATUSES),
    memberCode: fc.integer({ min: 1, max: 60_000 }).map((id) => `M${id % 4}-${id}`),
  },
  { requiredKeys: [] },
);
const asked = fc.record({
  query: fc
    .array(fc.constantFrom(...QUERIES), { minLength: 1, maxLength: 3 })
    .map((words) => words.join(' ')),
  filter,
  visible: fc.constantFrom<Visible[]>(null, [], [2], [1, 3], [3, 99, 2]),
  page: fc.integer({ min: 1, max: 3 }),
});

test('a search finds what a walk through all names finds, on every page, after any writes', async (context) => {
  const db = openRegistry(context);
  const search = openMemberSearch(db);
  await fc.assert(
    fc.property(
      fc.uniqueArray(row, { maxLength: 30, selector: ({ id }) => id }),
      fc.array(fc.record({ place: fc.nat(), to: row, isRemoved: fc.boolean() }), { maxLength: 8 }),
      fc.array(asked, { minLength: 1, maxLength: 6 }),
      (drawn, changes, searches) => {
        db.exec('DELETE FROM members');
        const rows = new Map(drawn.map((each) => [each.id, { ...each }]));
        for (const each of rows.values()) insertRow(db, each);
        for (const { place, to, isRemoved } of changes) {
          const changed = [...rows.values()][place % Math.max(rows.size, 1)];
          if (changed === undefined) continue;
          if (isRemoved) rows.delete(changed.id);
          else Object.assign(changed, { ...to, id: changed.id });
          const { id, name, status, cooperativeId } = changed;
          if (isRemoved) db.run('DELETE FROM members WHERE id = ?', [id]);
          else
            db.run('UPDATE members SET full_name = ?, status = ?, cooperative_id = ? WHERE id = ?', [
              ...[name, status, cooperativeId, id],
            ]);
        }
        for (const { query, filter, visible, page } of searches) {
          const expected = [...rows.values()]
            .filter(
              ({ id, name, status, cooperativeId }) =>
                isFound(name, query) &&
                isVisible(visible, cooperativeId) &&
                (filter.status ?? status) === status &&
                (filter.cooperativeId ?? cooperativeId) === cooperativeId &&
                (filter.memberCode ?? `M${id % 4}-${id}`) === `M${id % 4}-${id}`,
            )
            .map(({ id }) => id)
            .sort((a, b) => a - b);
          const words = parseSearch(query) as string[];
          const request = { page, pageSize: 2 };
          const found = search({ filter: { ...filter, search: words }, request, visible });
          assert.deepEqual(
            [found.count, found.rows.map(({ id }) => id)],
            [expected.length, expected.slice((page - 1) * 2, page * 2)],
            JSON.stringify({ query, filter, visible }),
          );
        }
        assert.deepEqual(faultsOf(db), []);
      },
    ),
    { numRuns: quickOrLong(60, 1_000) },
  );
});

test('names that an import has left for later are added in order, whatever was written meanwhile', (context) => {
  const db = openRegistry(context);
  const search = openMemberSearch(db);
  const find = (text: string) =>
    search({ filter: { search: [text] }, request: { page: 1, pageSize: 9 }, visible: null }).rows.map(
      ({ id }) => id,
    );
  const rowOf = (id: number, name: string): Row => ({ id, cooperativeId: 1, status: 'active', name });
  insertRow(db, rowOf(1, 'Uwimana'));
  leaveUnindexed(db, 2);
  for (const id of [2, 3, 4, 5, 6]) insertRow(db, rowOf(id, 'Mukamana'));
  assert.throws(() => find('uwimana'), /are being indexed/);
  db.exec(`UPDATE members SET full_name = 'Habimana' WHERE id IN (1, 3);
    DELETE FROM members WHERE id = 4`);
  leaveUnindexed(db, 6);
  assert.equal(checkNames(db)[0]?.value, '4');
  const pauses: unknown[] = [];
  indexNames(db, {
    batch: 2,
    pause() {
      pauses.push(db.value('SELECT first_id FROM unindexed_names'));
      if (pauses.length > 1) return;
      db.exec("UPDATE members SET full_name = 'Habimana' WHERE id IN (2, 6)");
      insertRow(db, rowOf(9, 'Uwimana'));
    },
  });
  assert.deepEqual(pauses, [4, 7, 10, undefined]);
  assert.deepEqual([find('habimana'), find('mukamana'), find('uwimana')], [[1, 2, 3, 6], [5], [9]]);
  assert.deepEqual(faultsOf(db), []);
});

test('the check finds a name that is missing in an index, one too many, and one of another row', (context) => {
  const db = openRegistry(context);
  for (const [id, name] of [
    [1, 'Uwimana'],
    [2, 'Mukamana'],
  ] as const)
    insertRow(db, { id, cooperativeId: 1, status: 'active', name });
  const wordsOfRow = (id: number) => `SELECT words FROM member_names_source WHERE id = ${id}`;
  const remove = (id: number, of = id) =>
    `INSERT INTO member_names (member_names, rowid, words) VALUES ('delete', ${id}, (${wordsOfRow(of)}))`;
  const add = (id: number, of = id) =>
    `INSERT INTO member_names (rowid, words) VALUES (${id}, (${wordsOfRow(of)}))`;
  for (const [statements, at] of [
    [[remove(2)], 2],
    [[add(3, 1)], 3],
    [[remove(1), remove(2), add(1, 2), add(2, 1)], 1],
    [['DELETE FROM unindexed_names'], undefined],
  ] as const) {
    db.exec('SAVEPOINT fault');
    for (const sql of statements) db.exec(sql);
    assert.deepEqual(
      faultsOf(db).map(({ check }) => check),
      at === undefined ? [] : ['names of members'],
    );
    db.exec('ROLLBACK TO fault; RELEASE fault');
  }
});

test('a search of many hits ends at 10,000, and a common beginning of many words is found, too', (context) => {
  const db = openRegistry(context);
  db.exec(`WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 10010)
    INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name, role, status,
      registration_date, created_at, updated_at)
    SELECT id, 1, printf('%016d', id), 'M' || id, 'Nsengiyumva' || (id % 150) || ' Jean',
      'MEMBER', 'active', 0, 1, 1
    FROM n`);
  const search = openMemberSearch(db);
  const find = (text: string, page: number) =>
    search({
      ...{
        filter: { search: parseSearch(text) as string[] },
        request: { page, pageSize: 200 },
        visible: null,
      },
    });
  for (const text of ['jean', 'nsengiyumva', 'nsengiyumva1 jea']) {
    const isAll = !text.includes('1');
    const { count, rows } = find(text, isAll ? 50 : 1);
    const matching = Array.from({ length: 10_010 }, (_, i) => i + 1).filter(
      (id) => isAll || String(id % 150).startsWith('1'),
    );
    assert.equal(count, Math.min(10_000, matching.length), text);
    assert.deepEqual(
      rows.map(({ id }) => id),
      isAll ? matching.slice(9_800, 10_000) : matching.slice(0, 200),
    );
    if (isAll) assert.deepEqual(find(text, 51).rows, []);
  }
});

test('the words of a search are folded as those of the index, in every Latin letter', (context) => {
  const db = openRegistry(context);
  const search = openMemberSearch(db);
  const letters = Array.from({ length: 0x1f00 }, (_, code) => String.fromCodePoint(code)).filter(
    (letter) => /\p{Script=Latin}/u.test(letter) && letter.normalize('NFC') === letter,
  );
  assert.ok(letters.length > 800);
  for (const [i, letter] of letters.entries())
    insertRow(db, { id: i + 1, cooperativeId: 1, status: 'active', name: `abc${letter}defg` });
  const missed = letters.filter((letter, i) => {
    const memberCode = `M${(i + 1) % 4}-${i + 1}`;
    const filter = { search: parseSearch(`abc${letter}defg`) as string[], memberCode };
    return search({ filter, request: { page: 1, pageSize: 1 }, visible: null }).count !== 1;
  });
  // Of no language that is written here.
  assert.deepEqual(missed, ['Ǡ', 'ǡ']);
});
