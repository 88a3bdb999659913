/** `count` and every page stay exact under any writes, and are found without walking the table. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { isVisible, type Visible } from '../../../src/access/api-keys.ts';
import { MEMBER_STATUSES, type MemberStatus } from '../../../src/registry/members.ts';
import { temporaryFolder } from '../../support/app.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { openStore } from '../../support/sqlite.ts';

interface Row {
  readonly id: number;
  readonly cooperativeId: number;
  status: MemberStatus;
}

// Ids on both sides of the boundaries of blocks, small and large.
const BORDERS = [1, 511, 512, 513, 1_023, 1_024, 1_025, 65_535, 65_536, 65_537, 131_071, 131_072, 200_000];
const PAGE_SIZES = [1, 2, 3, 7];

test('every list of a random registry has the right count and the right rows on every page', async (context) => {
  const store = openStore(join(temporaryFolder(context), 'registry.db'));
  context.after(() => store.close());
  const db = store.connection.raw;
  for (const id of [1, 2, 3])
    db.prepare(
      `INSERT INTO cooperatives (id, code, name, status, created_at, updated_at)
       VALUES (?, ?, 'C', 'active', 1, 1)`,
    ).run(id, `C${id}`);
  const insert = db.prepare(
    `INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name, role, status,
       registration_date, created_at, updated_at) VALUES (?, ?, ?, ?, 'N', 'MEMBER', ?, 0, 1, 1)`,
  );
  const setStatus = db.prepare('UPDATE members SET status = ? WHERE id = ?');

  async function compare(
    rows: readonly Row[],
    {
      visible,
      cooperativeId,
      status,
    }: { visible: Visible; cooperativeId: number | undefined; status: MemberStatus | undefined },
    pageSize: number,
  ) {
    const filter = {
      ...(cooperativeId === undefined ? {} : { cooperativeId }),
      ...(status === undefined ? {} : { status }),
    };
    const expected = rows
      .filter(
        (row) =>
          isVisible(visible, row.cooperativeId) &&
          (cooperativeId ?? row.cooperativeId) === row.cooperativeId &&
          (status ?? row.status) === row.status,
      )
      .map(({ id }) => id)
      .sort((a, b) => a - b);
    for (let page = 1; page <= Math.ceil(expected.length / pageSize) + 1; page++) {
      const found = await store.narrowedTo(visible).members.list(filter, { page, pageSize });
      assert.equal(found.count, expected.length);
      assert.deepEqual(
        found.rows.map(({ id }) => id),
        expected.slice((page - 1) * pageSize, page * pageSize),
      );
    }
  }

  const row = fc.record({
    id: fc.oneof(fc.constantFrom(...BORDERS), fc.integer({ min: 1, max: 200_000 })),
    cooperativeId: fc.integer({ min: 1, max: 3 }),
    status: fc.constantFrom(...MEMBER_STATUSES),
  });
  const change = fc.record({ place: fc.nat(), status: fc.constantFrom(...MEMBER_STATUSES) });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(row, { maxLength: 25, selector: ({ id }) => id }),
      fc.array(change, { maxLength: 10 }),
      fc.constantFrom(...PAGE_SIZES),
      async (drawn, changes, pageSize) => {
        const rows: Row[] = drawn.map((each) => ({ ...each }));
        // The reads of an iteration share a snapshot.
        await nextTurn();
        db.exec('BEGIN; DELETE FROM members');
        for (const { id, cooperativeId, status } of rows) {
          insert.run(id, cooperativeId, String(1_198_589_000_000_000 + id), `M${id}`, status);
        }
        for (const { place, status } of changes) {
          const changed = rows[place % rows.length];
          if (changed === undefined || changed.status === status) continue;
          setStatus.run(status, changed.id);
          changed.status = status;
        }
        db.exec('COMMIT');
        for (const cooperativeId of [undefined, 1, 2, 3, 99]) {
          for (const status of [undefined, ...MEMBER_STATUSES])
            for (const visible of [null, [], [2], [1, 3], [3, 99, 2]])
              await compare(rows, { visible, cooperativeId, status }, pageSize);
        }
      },
    ),
    { numRuns: quickOrLong(20, 60) },
  );
});

test('counters that do not match their blocks are an error, never served', async (context) => {
  const store = openStore(join(temporaryFolder(context), 'registry.db'));
  context.after(() => store.close());
  store.connection.exec("INSERT INTO member_large_blocks VALUES (0, 'active', 5)");
  assert.throws(() => store.members.list({}, { page: 1, pageSize: 10 }), /Run npm run -s registry -- check/);
});
