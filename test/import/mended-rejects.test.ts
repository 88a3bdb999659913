/** Rejects of ledgers without references: corrected, they are what they would have been in their file. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ImportPlace, startedPlace } from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

const HEADER = 'cooperative_code,member_code,delivered_at,kg,product\n';
/** What is wrong with a cell, and what somebody takes away to correct it. */
const FAULT = '?';
const rowOf = (member: number, kg: string): string => `A-1,M-${member},2025-06-01,${kg},\n`;

async function load(place: ImportPlace, content: string, ...args: string[]): Promise<number[]> {
  const { out, err } = await place.load('production', content, '--json', ...args);
  const [file] = JSON.parse(out).files;
  assert.equal(file.outcome, 'imported', out + err);
  return [file.created, file.changed, file.unchanged, file.refused_rows];
}

/** Imports what is right of a ledger. @returns the counts, and the rejects; without any an empty text */
async function skim(
  place: ImportPlace,
  content: string,
  ...args: string[]
): Promise<{ counts: number[]; rejects: string }> {
  const path = join(place.folder, 'refused.csv');
  rmSync(path, { force: true });
  const counts = await load(place, content, '--skip-invalid', '--rejects', path, ...args);
  return { counts, rejects: existsSync(path) ? readFileSync(path, 'utf8') : '' };
}

const mended = (rejects: string): string => {
  const [header = '', ...rows] = rejects.split('\n');
  // Not in the reasons.
  return [header, ...rows.map((row) => row.replace(FAULT, ''))].join('\n');
};

const sums = (place: ImportPlace) =>
  place.query(
    `SELECT member_id, grams, count(*) AS entries FROM production_entries GROUP BY 1, 2 ORDER BY 1, 2`,
  );

test('a corrected row is an entry of its own beside an equal one of its file, and only once', async (context) => {
  const place = await startedPlace(context);
  const { counts, rejects } = await skim(place, HEADER + rowOf(1, '5') + rowOf(1, '?5') + rowOf(1, '?5'));
  assert.deepEqual(counts, [1, 0, 0, 2]);
  assert.match(rejects, /^cooperative_code,.*,product,registry_file,registry_faults\n/);
  assert.match(rejects, /^A-1,.*,\?5,,sha256:[0-9a-f]{16},kg: /m);
  assert.deepEqual(await load(place, mended(rejects), '--strict'), [2, 0, 0, 0]);
  assert.deepEqual(await load(place, mended(rejects)), [0, 0, 2, 0]);
  assert.deepEqual(await load(place, HEADER + rowOf(1, '5').repeat(3)), [0, 0, 3, 0]);
  assert.deepEqual(await load(place, HEADER + rowOf(1, '5').repeat(4)), [1, 0, 3, 0]);
});

test('a corrected row is the entry that it was in an earlier ledger', async (context) => {
  const place = await startedPlace(context);
  assert.deepEqual(await load(place, HEADER + rowOf(1, '5') + rowOf(2, '6').repeat(2)), [3, 0, 0, 0]);
  // The first was imported before; of the others, which are equal, one was not.
  const { counts, rejects } = await skim(
    place,
    HEADER + rowOf(1, '?5') + rowOf(2, '6').repeat(2) + rowOf(2, '?6'),
  );
  assert.deepEqual(counts, [0, 0, 2, 2]);
  assert.deepEqual(await load(place, mended(rejects)), [1, 0, 1, 0]);
  assert.deepEqual(await load(place, mended(rejects)), [0, 0, 2, 0]);
});

test('rejects of a refused file are rows like others, until the rest of it is imported', async (context) => {
  const place = await startedPlace(context);
  const ledger = HEADER + rowOf(1, '5') + rowOf(1, '?5');
  const path = join(place.folder, 'refused.csv');
  assert.equal((await place.load('production', ledger, '--rejects', path)).status, 1);
  const rejects = mended(readFileSync(path, 'utf8'));
  assert.deepEqual(await load(place, ledger, '--skip-invalid'), [1, 0, 0, 1]);
  assert.deepEqual(await load(place, rejects), [1, 0, 0, 0]);
  assert.deepEqual(await load(place, mended(ledger)), [0, 0, 2, 0]);
});

test('an undone import has taken no entries', async (context) => {
  const place = await startedPlace(context);
  await load(place, HEADER + rowOf(1, '5'));
  const { rejects } = await skim(place, HEADER + rowOf(1, '5') + rowOf(1, '?5'));
  const id = place.value('SELECT max(id) FROM operations');
  assert.equal((await place.command('imports', 'undo', '--yes', String(id))).status, 0);
  assert.deepEqual(await load(place, mended(rejects)), [0, 0, 1, 0]);
});

test('rejects of a file whose rows have references have no further column', async (context) => {
  const place = await startedPlace(context);
  const header = HEADER.replace('delivered_at', 'reference,delivered_at');
  const { rejects } = await skim(place, `${header}A-1,M-1,P-1,2025-06-01,5,\nA-1,M-1,P-2,2025-06-01,?5,\n`);
  assert.match(rejects, /,product,registry_faults\n/);
});

test('a cell that is not as the rejects had it is a fault', async (context) => {
  const place = await startedPlace(context);
  const content = `${HEADER.trimEnd()},registry_file\n${rowOf(1, '5').trimEnd()},sha256:12\n`;
  const { status, err } = await place.load('production', content);
  assert.equal(status, 1);
  assert.match(err, /line 2, column registry_file: This cell differs from the one in the rejects\./);
});

const ledger = fc.array(
  fc.record({
    member: fc.integer({ min: 1, max: 2 }),
    kg: fc.constantFrom('5', '6'),
    isFaulty: fc.boolean(),
  }),
  { maxLength: 8 },
);
const textOf = (
  rows: typeof ledger extends fc.Arbitrary<infer T> ? T : never,
  keepsFaults: boolean,
): string =>
  HEADER +
  rows.map(({ member, kg, isFaulty }) => rowOf(member, keepsFaults && isFaulty ? FAULT + kg : kg)).join('');

test('a file and its corrected rejects are what the corrected file is, in however many steps', async (context) => {
  await fc.assert(
    fc.asyncProperty(
      ledger,
      ledger,
      fc.array(fc.boolean(), { maxLength: 12 }),
      async (earlier, rows, choices) => {
        const corrects = [...choices];
        const [stepwise, atOnce] = [await startedPlace(context), await startedPlace(context)];
        for (const place of [stepwise, atOnce]) await load(place, textOf(earlier, false));
        // The second ledger may look like a newer version of the first.
        await load(atOnce, textOf(rows, false), '--yes');
        let next = textOf(rows, true);
        const parts: string[] = [];
        while (next !== '') {
          const { rejects } = await skim(stepwise, next, '--yes');
          // Some rows at a time.
          const [header = '', ...refused] = rejects.split('\n');
          next = [
            header,
            ...refused.map((row) => ((corrects.shift() ?? true) ? row.replace(FAULT, '') : row)),
          ].join('\n');
          if (rejects !== '') parts.push(mended(rejects));
        }
        assert.deepEqual(sums(stepwise), sums(atOnce));
        for (const again of [textOf(rows, false), ...parts]) {
          const [created] = await load(stepwise, again, '--yes');
          assert.equal(created, 0, again);
        }
      },
    ),
    { numRuns: quickOrLong(2, 30), seed: 5, endOnFailure: true },
  );
});
