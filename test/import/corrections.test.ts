/** Corrected values that the next file would set back (docs/import-reference.md#values-changed-by-hand). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { openJournal } from '../../src/journal/undo.ts';
import { openRegistry } from '../../src/open-registry.ts';
import type { MemberValues } from '../../src/registry/members.ts';
import { type ImportPlace, MEMBERS_HEADER, member, startedPlace } from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';
import { storageAt } from '../support/storage.ts';

/** Changes the first member as the service does. */
async function correct(place: ImportPlace, values: Partial<MemberValues>): Promise<void> {
  const registry = openRegistry(storageAt(place.databaseFile));
  await registry.members.update(1, (stored) => ({ ...stored, ...values }), 1_750_000_000, 'key:7');
  await registry.close();
}

const list = (status: string, more = ''): string =>
  `${MEMBERS_HEADER},status\n${member(1)},${status}\n${more}`;
const statusOf = (place: ImportPlace) => place.value('SELECT status FROM members WHERE id = 1');

async function fileOf(place: ImportPlace, content: string, ...args: string[]) {
  const { status, out } = await place.load('members', content, '--json', ...args);
  return { exit: status, ...JSON.parse(out).files[0] };
}

test('a member recorded as deceased over HTTP is not alive again after the next list', async (context) => {
  const place = await startedPlace(context);
  const content = list('active', `${member(4)},active\n`);
  await correct(place, { status: 'deceased' });
  const file = await fileOf(place, content);
  assert.deepEqual(
    [file.exit, file.outcome, file.created, file.changed, file.unchanged, file.kept, file.warnings],
    [0, 'imported', 1, 0, 1, 1, []],
  );
  assert.deepEqual(file.conflicts, [{ line: 2, column: 'status' }]);
  assert.equal(statusOf(place), 'deceased');
  // Every time, not only once.
  const again = await place.load('members', content);
  assert.match(again.out, /^members\.csv: 0 new, 0 changed, 2 unchanged, 1 value kept \(/m);
  assert.match(again.err, /^members\.csv line 2, column status: kept, because it was corrected/m);
  // Only on purpose, and then it is a warning too.
  const overwriting = await fileOf(place, content, '--overwrite-corrections');
  assert.deepEqual([overwriting.outcome, overwriting.warnings[0].kind], ['stopped', 'ended_status']);
  assert.equal(statusOf(place), 'deceased');
  const forced = await fileOf(place, content, '--overwrite-corrections', '--yes');
  assert.deepEqual([forced.exit, forced.changed, forced.kept, statusOf(place)], [0, 1, 0, 'active']);
});

test('a third value wins, and what an import has set is not a correction', async (context) => {
  const place = await startedPlace(context);
  await correct(place, { status: 'inactive' });
  assert.equal((await fileOf(place, list('suspended'))).changed, 1);
  assert.deepEqual((await fileOf(place, list('active'))).conflicts, []);
  assert.equal(statusOf(place), 'active');
});

test('an import that was undone does not count: the correction before it stays', async (context) => {
  const place = await startedPlace(context);
  await fileOf(place, list('active'));
  await correct(place, { status: 'inactive' });
  const { import_id: id } = await fileOf(place, list('active'), '--overwrite-corrections');
  const log = openJournal(storageAt(place.databaseFile));
  assert.equal(
    (await log.undo(id, 1, { systemUser: 'tester', nowSeconds: 1_750_000_000 })).outcome,
    'undone',
  );
  await log.close();
  assert.equal(statusOf(place), 'inactive');
  const file = await fileOf(place, list('active'));
  assert.deepEqual([file.kept, statusOf(place)], [1, 'inactive']);
});

test('an empty cell clears what an import has set, and not what was filled in by hand', async (context) => {
  const place = await startedPlace(context);
  const phone = (n: number, mobile: string) => `${MEMBERS_HEADER},mobile\n${member(n)},${mobile}\n`;
  await fileOf(place, phone(2, '0781234567'));
  assert.deepEqual((await fileOf(place, phone(2, ''))).columns, { mobile: { changed: 1 } });
  await correct(place, { mobile: '+250781234567' });
  assert.deepEqual((await fileOf(place, phone(1, ''))).conflicts, [{ line: 2, column: 'mobile' }]);
});

test('only the corrected value of a row is kept', async (context) => {
  const place = await startedPlace(context);
  await correct(place, { status: 'inactive', fullName: 'Corrected' });
  const content = `${MEMBERS_HEADER},status,role\n${member(1)},inactive,ADVISOR\n`;
  const file = await fileOf(place, content);
  assert.deepEqual(
    [file.conflicts, file.columns],
    [[{ line: 2, column: 'full_name' }], { role: { changed: 1 } }],
  );
  assert.deepEqual(place.query('SELECT full_name, role FROM members WHERE id = 1'), [
    { full_name: 'Corrected', role: 'ADVISOR' },
  ]);
});

/** What the rule says, told step by step: each value remembers what it was before people changed it. */
class Model {
  value = 'active';
  before: string | undefined;

  correct(value: string): void {
    if (value === this.value) return;
    this.before ??= this.value;
    this.value = value;
  }

  /** @returns whether the value is kept */
  import(value: string): boolean {
    if (value === this.value) return false;
    if (value === this.before) return true;
    this.value = value;
    this.before = undefined;
    return false;
  }
}

const step = fc.record({
  by: fc.constantFrom('import', 'hand'),
  status: fc.constantFrom('active', 'inactive', 'suspended'),
});

const run = async (context: TestContext, steps: readonly { by: string; status: string }[]) => {
  const place = await startedPlace(context);
  const model = new Model();
  for (const { by, status } of steps) {
    if (by === 'hand') {
      await correct(place, { status: status as MemberValues['status'] });
      model.correct(status);
    } else {
      const { kept } = await fileOf(place, list(status));
      assert.equal(kept, model.import(status) ? 1 : 0);
    }
    assert.equal(statusOf(place), model.value);
  }
};

test('after any history a value is kept where the rule says so', async (context) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), (steps) => run(context, steps)),
    { numRuns: quickOrLong(5, 40) },
  );
});
