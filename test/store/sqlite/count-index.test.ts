/** Counts by a declared dimension: any entity's, by single writes and by sets, equal to a recount. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { countChangesSql } from '../../../src/store/sqlite/lists/count-changes.ts';
import { countChecksOf } from '../../../src/store/sqlite/lists/count-checks.ts';
import { type Counted, openCountIndex } from '../../../src/store/sqlite/lists/count-index.ts';
import type { CountDeclaration } from '../../../src/store/sqlite/lists/counted-tables.ts';
import { temporaryFolder } from '../../support/app.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { openFile } from '../../support/sqlite.ts';

/** Not members, of which the index must know nothing. */
const BOATS: CountDeclaration = {
  table: 'boats',
  dimension: 'kind',
  group: 'harbour_id',
  blockTable: 'boat_blocks',
  groupTable: 'boat_counts',
  groupBlockTable: 'boat_harbour_blocks',
  count: 'boats',
};

function open(context: TestContext) {
  const db = openFile(join(temporaryFolder(context), 'boats.db'), { create: true });
  context.after(() => db.close());
  db.exec(`CREATE TABLE boats (id INTEGER PRIMARY KEY, harbour_id INTEGER, kind TEXT) STRICT;
    CREATE TABLE boat_blocks (span INTEGER, kind TEXT, block INTEGER, boats INTEGER,
      PRIMARY KEY (span, kind, block)) STRICT, WITHOUT ROWID;
    CREATE TABLE boat_counts (harbour_id INTEGER, kind TEXT, boats INTEGER, PRIMARY KEY (harbour_id, kind))
      STRICT, WITHOUT ROWID;
    CREATE TABLE boat_harbour_blocks (harbour_id INTEGER, kind TEXT, block INTEGER, boats INTEGER,
      PRIMARY KEY (harbour_id, kind, block)) STRICT, WITHOUT ROWID;`);
  const put = db.raw.prepare('INSERT OR REPLACE INTO boats VALUES (?, ?, ?)');
  const remove = db.raw.prepare('DELETE FROM boats WHERE id = ?');
  return {
    db,
    index: openCountIndex(db, BOATS),
    set: (id: number, counted: Counted | undefined) =>
      counted === undefined ? remove.run(id) : put.run(id, counted.group, counted.value),
    wrong: () => countChecksOf([BOATS]).flatMap(({ sql }) => db.raw.prepare(sql).all()),
  };
}

const counted = fc.option(
  fc.record({ group: fc.integer({ min: 1, max: 2 }), value: fc.constantFrom('canoe', 'ferry') }),
  { nil: undefined },
);
const id = fc.oneof(
  fc.constantFrom(1, 15, 16, 255, 256, 4_096, 65_535, 65_536, 131_072),
  fc.integer({ min: 1, max: 600 }),
);

test('after any additions, changes, moves and removals counts and seeks are those of the rows', (context) => {
  const { db, index, set, wrong } = open(context);
  fc.assert(
    fc.property(fc.array(fc.tuple(id, counted), { maxLength: 30 }), (changes) => {
      for (const table of ['boats', 'boat_blocks', 'boat_counts', 'boat_harbour_blocks'])
        db.exec(`DELETE FROM ${table}`);
      const rows = new Map<number, Counted>();
      for (const [changed, after] of changes) {
        index.change(changed, rows.get(changed), after);
        set(changed, after);
        if (after === undefined) rows.delete(changed);
        else rows.set(changed, after);
      }
      assert.deepEqual(wrong(), []);
      for (const value of [undefined, 'canoe', 'ferry']) {
        const ids = [...rows]
          .filter(([, row]) => (value ?? row.value) === row.value)
          .map(([each]) => each)
          .sort((a, b) => a - b);
        assert.equal(index.count({ value }), ids.length);
        for (const group of [1, 2, 3])
          assert.equal(
            index.count({ groups: [group], value }),
            ids.filter((each) => rows.get(each)?.group === group).length,
          );
        for (const [offset, expected] of ids.entries()) {
          const { firstId, skip } = index.seek(value, offset);
          assert.equal(ids.filter((each) => each >= firstId)[skip], expected);
          assert.ok(skip < 16);
        }
        for (const group of [1, 2]) {
          const inGroup = ids.filter((each) => rows.get(each)?.group === group);
          for (const [offset, expected] of inGroup.entries()) {
            const { firstId, skip } = index.seekInGroup(group, value, offset);
            assert.equal(inGroup.filter((each) => each >= firstId)[skip], expected);
            assert.ok(skip < 65_536);
          }
        }
      }
    }),
    { numRuns: quickOrLong(20, 200) },
  );
});

test('among full blocks and gaps every seek finds its row', (context) => {
  const { db, index, wrong } = open(context);
  // Two large blocks and a part of a third: the second is full, and of one harbour.
  db.exec(`WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 140000)
    INSERT INTO boats SELECT id, CASE WHEN id < 65536 THEN 1 + id % 2 ELSE 2 END,
      CASE WHEN id BETWEEN 40000 AND 40100 OR id % 5000 = 0 THEN 'ferry' ELSE 'canoe' END FROM n
    WHERE id NOT BETWEEN 20000 AND 30000 AND id NOT BETWEEN 4095 AND 4097 AND id <> 131073`);
  for (const sql of countChangesSql(BOATS, 'SELECT id, harbour_id, kind, 1 AS delta FROM boats', true))
    db.exec(sql);
  assert.deepEqual(wrong(), []);
  const rows = db.raw.prepare('SELECT id, harbour_id AS "group", kind AS value FROM boats ORDER BY id').all();
  for (const value of [undefined, 'canoe', 'ferry']) {
    for (const group of [undefined, 1, 2]) {
      const ids = (rows as ({ id: number } & Counted)[])
        .filter((row) => (value ?? row.value) === row.value && (group ?? row.group) === row.group)
        .map(({ id: each }) => each);
      const placeOf = new Map(ids.map((each, place) => [each, place]));
      let most = 0;
      for (let offset = 0; offset < ids.length; offset += offset % 61 === 0 ? 1 : quickOrLong(1_000, 60)) {
        const { firstId, skip } =
          group === undefined ? index.seek(value, offset) : index.seekInGroup(group, value, offset);
        let first = Math.max(firstId, 1);
        while (!placeOf.has(first)) first++;
        assert.equal((placeOf.get(first) as number) + skip, offset, `${value} ${group}`);
        most = Math.max(most, skip);
      }
      // Inside a group only where others have rows, too.
      assert.ok(most < (group === undefined ? 16 : 65_536));
    }
  }
});

/** A part of a transaction. */
interface Part {
  readonly changes: readonly (readonly [id: number, after: Counted | undefined])[];
  readonly inSavepoint: boolean;
  readonly reads: boolean;
  readonly fails: boolean;
}

test('the counts of a transaction follow what is kept of it, and are right when read inside it', (context) => {
  const { db, index, set, wrong } = open(context);
  const size = (): number => db.raw.prepare('SELECT count(*) FROM boats').pluck().get() as number;
  const readRow = db.raw.prepare('SELECT harbour_id AS "group", kind AS value FROM boats WHERE id = ?');
  const part: fc.Arbitrary<Part> = fc.record({
    changes: fc.array(fc.tuple(id, counted), { maxLength: 6 }),
    inSavepoint: fc.boolean(),
    reads: fc.boolean(),
    fails: fc.boolean(),
  });
  function runPart({ changes, reads, fails }: Part): void {
    for (const [changed, after] of changes) {
      index.change(changed, readRow.get(changed) as Counted | undefined, after);
      set(changed, after);
      if (reads) assert.equal(index.count({}), size());
    }
    if (fails) throw new Refusal();
  }
  class Refusal extends Error {}
  const run = (work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  };
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      run(() =>
        db.transaction.immediate(() => {
          for (const each of parts)
            if (each.inSavepoint) run(() => db.transaction.savepoint(() => runPart(each)));
            else db.transaction.part(() => runPart(each));
        }),
      );
      assert.deepEqual(wrong(), []);
      assert.equal(index.count({}), size());
    }),
    { numRuns: quickOrLong(20, 200) },
  );
});

test('sets of changes are counted as single ones are', (context) => {
  const { db, wrong } = open(context);
  const run = (changes: string, isNew: boolean) => {
    for (const sql of countChangesSql(BOATS, changes, isNew)) db.exec(sql);
  };
  db.exec(`WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 97 FROM n WHERE id < 140000)
    INSERT INTO boats SELECT id, 1 + id % 3, CASE WHEN id % 2 THEN 'canoe' ELSE 'ferry' END FROM n`);
  assert.notDeepEqual(wrong(), []);
  run('SELECT id, harbour_id, kind, 1 AS delta FROM boats', true);
  assert.deepEqual(wrong(), []);
  run(
    `SELECT id, harbour_id, kind, -1 AS delta FROM boats WHERE kind = 'canoe'
     UNION ALL SELECT id, harbour_id, 'ferry', 1 FROM boats WHERE kind = 'canoe'`,
    false,
  );
  db.exec("UPDATE boats SET kind = 'ferry'");
  assert.deepEqual(wrong(), []);
});

test('every kind of wrong count is found by a check of its own', (context) => {
  const { db, index, set } = open(context);
  const row = { group: 1, value: 'canoe' };
  index.change(7, undefined, row);
  set(7, row);
  for (const [i, damage] of [
    'UPDATE boat_counts SET boats = 2',
    "UPDATE boat_blocks SET boats = 2 WHERE span = 16 AND kind = 'canoe'",
    "UPDATE boat_blocks SET boats = 2 WHERE span = 256 AND kind = 'any'",
    "UPDATE boat_blocks SET boats = 2 WHERE span = 4096 AND kind = 'canoe'",
    "UPDATE boat_blocks SET boats = 2 WHERE span = 65536 AND kind = 'any'",
    'UPDATE boat_harbour_blocks SET boats = 2',
  ].entries()) {
    db.exec(`SAVEPOINT before; ${damage}`);
    const found = countChecksOf([BOATS]).map(({ sql }) => db.raw.prepare(sql).get() !== undefined);
    assert.deepEqual(
      found,
      found.map((_, check) => check === i),
      damage,
    );
    db.exec('ROLLBACK TO before; RELEASE before');
  }
});

test('the checks of a table with several dimensions have names of their own', () => {
  const names = (...declarations: CountDeclaration[]) => countChecksOf(declarations).map(({ name }) => name);
  assert.deepEqual(names(BOATS).slice(0, 2), ['counters of boats by harbour', 'counters of boats by 16 ids']);
  const two = names(BOATS, { ...BOATS, dimension: 'flag' });
  assert.equal(new Set(two).size, 12);
  assert.deepEqual(
    [two[0], two[8]],
    ['counters of boats with each kind by harbour', 'counters of boats with each flag by 256 ids'],
  );
});
