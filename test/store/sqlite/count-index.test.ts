/** Counts by a declared dimension: any entity's, by single writes and by sets, equal to a recount. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { countedTable, SMALL_BLOCK, wrongSumSql } from '../../../src/sqlite/counts.ts';
import { addRowsSql, currentSql } from '../../../src/sqlite/declared-totals.ts';
import { openCountIndex } from '../../../src/sqlite/list-pages.ts';
import { temporaryFolder } from '../../support/app.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { openFile } from '../../support/sqlite.ts';
import { BATCHES_SQL, batchTrigger, totalsTable } from '../../support/sqlite-declared.ts';

/** Not members, of which the index must know nothing. */
const BOATS = countedTable('boats');
const COUNTS = [BOATS.large, BOATS.small, BOATS.ofCooperatives];

interface Counted {
  readonly group: number;
  readonly value: string;
}

/** @param batch how many rows are added up together */
function open(context: TestContext, batch = 3) {
  const db = openFile(join(temporaryFolder(context), 'boats.db'), { create: true });
  context.after(() => db.close());
  db.exec(`CREATE TABLE boats (id INTEGER PRIMARY KEY, cooperative_id INTEGER, status TEXT) STRICT;
    CREATE INDEX boats_cooperative_status ON boats (cooperative_id, status)`);
  db.exec(`${BATCHES_SQL} INSERT INTO batches (table_name, size) VALUES ('boats', ${batch});
    ${COUNTS.map(totalsTable).join('')} ${batchTrigger('boats', COUNTS)}`);
  const put = db.raw.prepare(`INSERT INTO boats VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET cooperative_id = excluded.cooperative_id, status = excluded.status`);
  const remove = db.raw.prepare('DELETE FROM boats WHERE id = ?');
  return {
    db,
    index: openCountIndex(db, BOATS),
    set: (id: number, counted: Counted | undefined) =>
      counted === undefined ? remove.run(id) : put.run(id, counted.group, counted.value),
    wrong: () => COUNTS.flatMap((counts) => db.raw.prepare(wrongSumSql(counts)).all()),
  };
}

const counted = fc.option(
  fc.record({ group: fc.integer({ min: 1, max: 2 }), value: fc.constantFrom('canoe', 'ferry') }),
  { nil: undefined },
);
const id = fc.oneof(
  fc.constantFrom(1, 511, 512, 513, 1_024, 4_096, 65_535, 65_536, 131_072),
  fc.integer({ min: 1, max: 600 }),
);

test('after any additions, changes, moves and removals counts and seeks are those of the rows', (context) => {
  const { db, index, set, wrong } = open(context);
  fc.assert(
    fc.property(fc.array(fc.tuple(id, counted), { maxLength: 30 }), (changes) => {
      db.exec('DELETE FROM boats');
      const rows = new Map<number, Counted>();
      for (const [changed, after] of changes) {
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
            index.count({ cooperatives: [group], value }),
            ids.filter((each) => rows.get(each)?.group === group).length,
          );
        for (const [offset, expected] of ids.entries()) {
          const { firstId, skip } = index.seek(value ?? null, offset);
          assert.equal(ids.filter((each) => each >= firstId)[skip], expected);
          assert.ok(skip < SMALL_BLOCK);
        }
        for (const group of [1, 2]) {
          const inGroup = ids.filter((each) => rows.get(each)?.group === group);
          for (const [offset, expected] of inGroup.entries()) {
            const { firstId, skip } = index.seekInCooperative(group, value ?? null, offset);
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
  assert.deepEqual(wrong(), []);
  const rows = db.raw
    .prepare('SELECT id, cooperative_id AS "group", status AS value FROM boats ORDER BY id')
    .all();
  for (const value of [undefined, 'canoe', 'ferry']) {
    for (const group of [undefined, 1, 2]) {
      const ids = (rows as ({ id: number } & Counted)[])
        .filter((row) => (value ?? row.value) === row.value && (group ?? row.group) === row.group)
        .map(({ id: each }) => each);
      const placeOf = new Map(ids.map((each, place) => [each, place]));
      let most = 0;
      for (let offset = 0; offset < ids.length; offset += offset % 61 === 0 ? 1 : quickOrLong(1_000, 60)) {
        const { firstId, skip } =
          group === undefined
            ? index.seek(value ?? null, offset)
            : index.seekInCooperative(group, value ?? null, offset);
        let first = Math.max(firstId, 1);
        while (!placeOf.has(first)) first++;
        assert.equal((placeOf.get(first) as number) + skip, offset, `${value} ${group}`);
        most = Math.max(most, skip);
      }
      // Inside a group only where others have rows, too.
      assert.ok(most < (group === undefined ? SMALL_BLOCK : 65_536));
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

test('rows are added up together when they fill a batch, with those that came in between', (context) => {
  const { db, set, index } = open(context, 256);
  const stored = () => db.value('SELECT coalesce(sum(rows), 0) FROM boat_large_blocks');
  const counts = () => [stored(), index.count({}), index.count({ cooperatives: [1], value: 'ferry' })];
  const ferry = { group: 1, value: 'ferry' };
  for (let each = 1; each < 256; each++) set(each, ferry);
  assert.deepEqual(counts(), [0, 255, 255]);
  set(7, { group: 2, value: 'canoe' });
  set(8, undefined);
  assert.deepEqual(counts(), [0, 254, 253]);
  set(256, ferry);
  assert.deepEqual(counts(), [255, 255, 254]);
  // One of before, and one behind a gap.
  set(8, ferry);
  assert.deepEqual(counts(), [256, 256, 255]);
  set(400, ferry);
  assert.deepEqual(counts(), [256, 257, 256]);
  set(70_000, ferry);
  assert.deepEqual(counts(), [258, 258, 257]);
  const read = currentSql(BOATS.ofCooperatives, 'cooperative_id = 1');
  const plan = db.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${read}`).map(({ detail }) => detail);
  assert.deepEqual(
    plan.filter((line) => /\br\b/.test(line)),
    ['SEARCH r USING INTEGER PRIMARY KEY (rowid>?)'],
  );
});

test('the counts of a transaction follow what is kept of it, and are right when read inside it', (context) => {
  const { db, index, set, wrong } = open(context);
  const size = (): number => db.raw.prepare('SELECT count(*) FROM boats').pluck().get() as number;
  const part: fc.Arbitrary<Part> = fc.record({
    changes: fc.array(fc.tuple(id, counted), { maxLength: 6 }),
    inSavepoint: fc.boolean(),
    reads: fc.boolean(),
    fails: fc.boolean(),
  });
  function runPart({ changes, reads, fails }: Part): void {
    for (const [changed, after] of changes) {
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

test('rows that no trigger has seen are counted as a set', (context) => {
  const { db, index, wrong } = open(context);
  db.exec('DROP TRIGGER boats_batched');
  db.exec(`WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 97 FROM n WHERE id < 140000)
    INSERT INTO boats SELECT id, 1 + id % 3, CASE WHEN id % 2 THEN 'canoe' ELSE 'ferry' END FROM n`);
  assert.equal(index.count({}), db.count('boats'));
  db.exec('UPDATE batches SET next_id = (SELECT max(id) + 1 FROM boats)');
  assert.notDeepEqual(wrong(), []);
  for (const counts of COUNTS) db.exec(addRowsSql(counts));
  assert.deepEqual(wrong(), []);
  db.exec("UPDATE boats SET status = 'ferry'");
  assert.deepEqual(wrong(), []);
});

test('every kind of wrong count is found by a check of its own', (context) => {
  const { db, set } = open(context, 1);
  set(7, { group: 1, value: 'canoe' });
  for (const [i, { table }] of COUNTS.entries()) {
    db.exec(`SAVEPOINT before; UPDATE ${table} SET rows = 2`);
    const found = COUNTS.map((counts) => db.raw.prepare(wrongSumSql(counts)).get() !== undefined);
    assert.deepEqual(
      found,
      found.map((_, check) => check === i),
      table,
    );
    db.exec('ROLLBACK TO before; RELEASE before');
  }
});
