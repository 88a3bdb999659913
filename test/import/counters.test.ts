/** The counters of members after imports are those of a recount (docs/api.md#lists). */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { MEMBER_STATUSES } from '../../src/domain/members.ts';
import { type ImportPlace, importPlace, member, members, nid } from '../support/importing.ts';

interface Counted {
  readonly cooperative_id: number;
  readonly status: string;
  readonly id: number;
}

/** As a person would count them, with no SQL but the reading of the rows. */
function recount(rows: readonly Counted[]): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { cooperative_id, status, id } of rows) {
    add(`cooperative ${cooperative_id} ${status}`);
    for (const span of [256, 65_536]) {
      add(`block ${span} ${status} ${Math.floor(id / span)}`);
      add(`block ${span} any ${Math.floor(id / span)}`);
    }
  }
  return counts;
}

function kept(place: ImportPlace): Map<string, number> {
  const rows = place.query<{ key: string; members: number }>(
    `SELECT 'cooperative ' || cooperative_id || ' ' || status AS key, members
     FROM member_counts WHERE members <> 0
     UNION ALL SELECT 'block ' || span || ' ' || status || ' ' || block, members
     FROM member_blocks WHERE members <> 0`,
  );
  return new Map(rows.map(({ key, members: count }) => [key, count]));
}

const sorted = (counts: Map<string, number>) => [...counts].sort(([a], [b]) => (a < b ? -1 : 1));

// People 1 to 250 exist; the ids of later ones cross the boundary of a block.
const row = fc.record({
  cooperative: fc.constantFrom('A-1', 'B-2', 'C-3'),
  person: fc.integer({ min: 240, max: 270 }),
  status: fc.constantFrom(...MEMBER_STATUSES, ''),
});
const file = fc.array(row, { maxLength: 30, minLength: 1 });

test('after any imports the counters are those of a recount', { timeout: 60_000 }, async (context) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(file, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      async (files, hasStatus) => {
        const place = importPlace(context);
        await place.load('cooperatives', 'code,name\nA-1,One\nB-2,Two\nC-3,Three\n');
        await place.load('members', members(...Array.from({ length: 250 }, (_, i) => member(i + 1))));
        for (const rows of files) {
          const lines = rows.map(({ cooperative, person, status }) =>
            [cooperative, nid(person), `M-${person}`, 'Person', ...(hasStatus ? [status] : [])].join(','),
          );
          const header = `cooperative_code,identity_card,member_code,full_name${hasStatus ? ',status' : ''}`;
          // Repetitions within a file are refused, the others are imported.
          const result = await place.load('members', [header, ...lines].join('\n'), '--skip-invalid');
          assert.ok(result.status <= 1, result.err);
        }
        const rows = place.query<Counted>('SELECT id, cooperative_id, status FROM members');
        assert.deepEqual(sorted(kept(place)), sorted(recount(rows)));
      },
    ),
    { numRuns: 25 },
  );
});

test('several files of one run may change the same statuses', async (context) => {
  const place = importPlace(context);
  const folder = join(place.folder, 'incoming');
  mkdirSync(folder);
  const header = 'cooperative_code,identity_card,member_code,full_name,status';
  const file = (status: string) => `${header}\n${member(1)},${status}\n${member(2)},${status}\n`;
  writeFileSync(join(folder, 'cooperatives.csv'), 'code,name\nA-1,One\n');
  for (const [i, status] of ['active', 'suspended', 'withdrawn'].entries()) {
    writeFileSync(join(folder, `members-${i}.csv`), file(status));
  }
  const result = await place.run(folder);
  assert.equal(result.status, 0, result.err);
  const rows = place.query<Counted>('SELECT id, cooperative_id, status FROM members');
  assert.deepEqual(sorted(kept(place)), sorted(recount(rows)));
  assert.equal(place.value("SELECT members FROM member_counts WHERE status = 'withdrawn'"), 2);
});
