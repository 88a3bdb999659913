/** What a search finds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isVisible, type Visible } from '../../../src/access/api-keys.ts';
import { MEMBER_STATUSES } from '../../../src/registry/members.ts';
import { openMemberSearch } from '../../../src/search/member-search.ts';
import { parseSearch } from '../../../src/values/search-words-and-typos.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { faultsOf, insertRow, openRegistry } from './named-members.ts';

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
  await fc.assert(
    fc.property(
      fc.uniqueArray(row, { maxLength: 30, selector: ({ id }) => id }),
      fc.array(fc.record({ place: fc.nat(), to: row, isRemoved: fc.boolean() }), { maxLength: 8 }),
      fc.array(asked, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(1, 4, 128),
      (drawn, changes, searches, batch) => {
        db.exec(`DELETE FROM members; UPDATE batches SET next_id = 1, size = ${batch}`);
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
        // What it keeps is forgotten when another connection writes, and this one has written.
        const search = openMemberSearch(db);
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

test('a count that is asked for again makes no other one be forgotten', (context) => {
  const db = openRegistry(context);
  const name = 'abcdefghij'.repeat(10);
  const add = (id: number) => insertRow(db, { id, cooperativeId: 1, status: 'active', name });
  for (const id of [1, 2]) add(id);
  const search = openMemberSearch(db);
  const countOf = (length: number): number =>
    search({
      ...{ filter: { search: [name.slice(0, length)] }, visible: null },
      request: { page: 1, pageSize: 1 },
    }).count;
  for (let length = 1; length <= 100; length++) assert.equal(countOf(length), 2);
  // As the same connection writes, a count of 2 is one that was kept.
  add(3);
  assert.deepEqual([countOf(100), countOf(1), countOf(100)], [2, 2, 2]);
});
