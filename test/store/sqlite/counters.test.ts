/** The counters after imports, corrections and their undo are those of a recount (docs/api.md#lists). */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { MEMBER_STATUSES } from '../../../src/registry/members.ts';
import { LOANS_OF_IMPORTED_PAYMENTS } from '../../../src/registry/payments.ts';
import { COUNTED_TABLES, type CountedTable } from '../../../src/sqlite/counts.ts';
import { currentSql, type Totals } from '../../../src/sqlite/declared-totals.ts';
import type { CommandOutcome } from '../../support/command.ts';
import {
  type ImportPlace,
  importPlace,
  LOANS_HEADER,
  member,
  members,
  nid,
} from '../../support/importing.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';

interface Counted {
  readonly id: number;
  readonly within: number;
  readonly value: string;
}
type Counts = { readonly [key: string]: number };

/** As a person would count them, with no SQL but the reading of the rows. */
function recount(place: ImportPlace, { table }: CountedTable): Counts {
  const counts = new Map<string, number>();
  const add = (...key: (string | number)[]) =>
    counts.set(key.join(' '), (counts.get(key.join(' ')) ?? 0) + 1);
  for (const { id, within, value } of place.query<Counted>(
    `SELECT id, cooperative_id AS within, status AS value FROM ${table}`,
  )) {
    add('cooperative', within, value, Math.floor(id / 65_536));
    add('large', Math.floor(id / 65_536), value);
    add('small', Math.floor(id / 512), value);
  }
  return Object.fromEntries(counts);
}

function kept(place: ImportPlace, { large, small, ofCooperatives }: CountedTable): Counts {
  const read = (totals: Totals, name: string, ...columns: string[]) =>
    place.query<{ key: string; count: number }>(
      `SELECT '${name} ' || ${columns.join(" || ' ' || ")} AS key, sum(rows) AS count
       FROM (${currentSql(totals, 'true')}) GROUP BY key HAVING count <> 0`,
    );
  const rows = [
    ...read(ofCooperatives, 'cooperative', 'cooperative_id', 'status', 'block'),
    ...read(large, 'large', 'block', 'status'),
    ...read(small, 'small', 'block', 'status'),
  ];
  return Object.fromEntries(rows.map(({ key, count: rowCount }) => [key, rowCount]));
}

/** The counts of every declaration: all lists. */
function assertCounted(place: ImportPlace): void {
  for (const counted of COUNTED_TABLES)
    assert.deepEqual(kept(place, counted), recount(place, counted), counted.table);
}

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
        assertCounted(place);
      },
    ),
    { numRuns: quickOrLong(3, 30) },
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
  assertCounted(place);
  assert.equal(place.value("SELECT count(*) FROM members WHERE status = 'withdrawn'"), 2);
});

const PAYMENTS_HEADER = 'cooperative_code,loan_reference,reference,amount,method,paid_at,status';
/** Files of 250 loans and payments, then of 300: of the first ones some have another status. */
const loans = (file: 0 | 1): string => {
  const rows = Array.from({ length: 250 + 50 * file }, (_, i) => {
    const status = LOANS_OF_IMPORTED_PAYMENTS[(i + file) % 3];
    return `A-1,M-${(i % 3) + 1},L-${i},100,5,${status},,2025-01-01,,`;
  });
  return [LOANS_HEADER, ...rows].join('\n');
};
const payments = (file: 0 | 1): string => {
  const rows = Array.from({ length: 250 + 50 * file }, (_, i) => {
    const status = i % (10 - 5 * file) === 0 ? 'void' : '';
    return `A-1,L-${i % 200},P-${i},1,cash,2025-02-01,${status}`;
  });
  return [PAYMENTS_HEADER, ...rows].join('\n');
};

test('loans and payments are counted after imports, corrections and their undo', async (context) => {
  const place = importPlace(context);
  const countedAfter = async (done: Promise<CommandOutcome>) => {
    const { status, err } = await done;
    assert.equal(status, 0, err);
    assertCounted(place);
  };
  const undo = (id: number) => countedAfter(place.command('imports', 'undo', '--yes', String(id)));
  await countedAfter(place.load('cooperatives', 'code,name\nA-1,One\nB-2,Two\n'));
  await countedAfter(place.load('members', members(member(1), member(2), member(3))));
  for (const file of [0, 1] as const) {
    await countedAfter(place.load('loans', loans(file), '--yes'));
    await countedAfter(place.load('payments', payments(file), '--yes'));
  }
  await countedAfter(place.command('members', 'move', '--yes', '2', '--to', 'B-2', '--reason', 'Moved'));
  assert.ok((place.value('SELECT sum(rows) FROM payment_counts WHERE cooperative_id = 2') as number) > 50);
  for (const id of [7, 6, 5, 4, 3]) await undo(id);
  assert.equal(place.value('SELECT sum(rows) FROM loan_counts'), 0);
});

test('members are counted after imports, corrections and their undo', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,One\nB-2,Two\n');
  const header = 'cooperative_code,identity_card,member_code,full_name,role,status';
  const file = (...rows: string[]) => [header, ...rows].join('\n');
  const first = file(
    ...[`${member(1)},TREASURER,active`, `${member(2)},MEMBER,active`],
    `${member(1, 'B-2')},MEMBER,inactive`,
  );
  const second = file(
    ...[`${member(1)},PRESIDENT,active`, `${member(2)},MEMBER,inactive`, `${member(3)},SECRETARY,active`],
  );
  const why = ['--reason', 'Two lists were joined'];
  for (const work of [
    () => place.load('members', first),
    () => place.load('members', second, '--yes'),
    () => place.command('imports', 'undo', '--yes', '3'),
    () => place.load('members', second, '--yes'),
    () => place.command('members', 'merge', '--yes', '1', '3', ...why),
    () => place.command('members', 'move', '--yes', '2', '--to', 'B-2', ...why),
    () => place.command('imports', 'undo', '--yes', '6'),
    () => place.command('imports', 'undo', '--yes', '5'),
    () => place.command('cooperatives', 'merge', '--yes', 'A-1', 'B-2', ...why),
  ]) {
    const { status, err } = await work();
    assert.equal(status, 0, err);
    assertCounted(place);
  }
});
