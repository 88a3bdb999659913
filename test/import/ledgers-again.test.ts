/** Ledgers without references that are imported again after a correction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRegistry } from '../../src/open-registry.ts';
import type { MemberValues } from '../../src/registry/members.ts';
import { parseTimeZone, type TimeZone } from '../../src/values/date-time.ts';
import {
  type ImportPlace,
  importFile,
  importText,
  incoming,
  member,
  members,
  nid,
  preparedPlace,
} from '../support/importing.ts';
import { storageAt } from '../support/storage.ts';

const WHY = ['--reason', 'test'];
const DELIVERIES = 'cooperative_code,identity_card,delivered_at,kg,product\n';
const SAVINGS = 'cooperative_code,identity_card,account_number,kind,amount,transacted_at\n';

const start = preparedPlace(async (place) => {
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await place.load('members', members(member(1), member(2), member(3), `B-2,${nid(4)},N-4,Mugabo Jean`));
});

/** Person 1 has two equal deliveries, and one that person 2 has too. */
const ledger = (cooperative: string): string =>
  [
    `${cooperative},${nid(1)},2025-06-01,10,maize`,
    `${cooperative},${nid(1)},2025-06-01,10,maize`,
    `${cooperative},${nid(1)},2025-06-02,5,`,
    `${cooperative},${nid(2)},2025-06-02,5,`,
    `${cooperative},${nid(2)},2025-06-03,7,beans`,
  ]
    .map((row) => `${row}\n`)
    .join('');
const savings = (cooperative: string): string =>
  `${cooperative},${nid(1)},S-1,contribution,100,2025-06-01\n`.repeat(2);

async function load(place: ImportPlace, kind: string, content: string): Promise<number[]> {
  const { status, out, err } = await place.load(kind, content, '--json');
  assert.equal(status, 0, out + err);
  const file = JSON.parse(out).files[0];
  return [file.created, file.changed, file.unchanged];
}

async function correct(place: ImportPlace, ...args: string[]): Promise<void> {
  const { status, err } = await place.command(...args, ...WHY);
  assert.equal(status, 0, err);
}

const CORRECTIONS = [
  ['a merge of members', 'A-1', ['members', 'merge', '--yes', '1', '2']],
  ['a merge the other way round', 'A-1', ['members', 'merge', '--yes', '2', '1']],
  [
    'a replaced number that ends in a merge',
    'A-1',
    ['nid', 'replace', '--yes', '--same-person', nid(1), nid(2)],
  ],
  ['a merge of cooperatives', 'B-2', ['cooperatives', 'merge', '--yes', 'A-1', 'B-2']],
] as const;

for (const [what, code, correction] of CORRECTIONS) {
  test(`a ledger without references that comes again after ${what} adds its new rows only`, async (context) => {
    const place = await start(context);
    assert.deepEqual(await load(place, 'production', DELIVERIES + ledger('A-1')), [5, 0, 0]);
    assert.deepEqual(await load(place, 'savings', SAVINGS + savings('A-1')), [2, 0, 0]);
    await correct(place, ...correction);
    for (const _ of [1, 2])
      assert.deepEqual(await load(place, 'production', DELIVERIES + ledger(code)), [0, 0, 5]);
    assert.deepEqual(await load(place, 'savings', SAVINGS + savings(code)), [0, 0, 2]);
    // A third equal delivery, and a day that is new.
    const more = `${code},${nid(1)},2025-06-01,10,maize\n${code},${nid(1)},2025-06-09,10,maize\n`;
    const longer = DELIVERIES + ledger(code) + more;
    assert.deepEqual(await load(place, 'production', longer), [2, 0, 5]);
    assert.deepEqual(await load(place, 'production', longer), [0, 0, 7]);
    const third = `${code},${nid(1)},S-1,contribution,100,2025-06-01\n`;
    assert.deepEqual(await load(place, 'savings', SAVINGS + savings(code) + third), [1, 0, 2]);
  });
}

test('a ledger under the new code of members who were moved adds nothing', async (context) => {
  const place = await start(context);
  await load(place, 'production', DELIVERIES + ledger('A-1'));
  await load(place, 'savings', SAVINGS + savings('A-1'));
  for (const id of ['1', '2']) await correct(place, 'members', 'move', '--yes', id, '--to', 'B-2');
  assert.deepEqual(await load(place, 'production', DELIVERIES + ledger('B-2')), [0, 0, 5]);
  assert.deepEqual(await load(place, 'savings', SAVINGS + savings('B-2')), [0, 0, 2]);
});

test('rows of one person that name both registrations count as many entries as there are rows', async (context) => {
  const place = await start(context);
  await load(place, 'production', DELIVERIES + ledger('A-1'));
  await correct(place, 'members', 'merge', '--yes', '1', '2');
  const header = 'cooperative_code,member_code,delivered_at,kg,product\n';
  const row = 'A-1,M-2,2025-06-01,10,maize\n';
  assert.deepEqual(await load(place, 'production', header + row.repeat(3)), [1, 0, 2]);
  assert.deepEqual(await load(place, 'production', header + row.repeat(3)), [0, 0, 3]);
});

test('a row with a reference of its own is a new entry, whatever equal entries a merged member has', async (context) => {
  const place = await start(context);
  await load(place, 'production', DELIVERIES + ledger('A-1'));
  await correct(place, 'members', 'merge', '--yes', '1', '2');
  const header = 'cooperative_code,identity_card,reference,delivered_at,kg,product\n';
  const rows = `A-1,${nid(1)},P-1,2025-06-01,10,maize\nA-1,${nid(1)},,2025-06-01,10,maize\n`;
  assert.deepEqual(await load(place, 'production', header + rows), [1, 0, 1]);
});

/** Changes the first cooperative or one of its members as the service does. */
async function write(
  place: ImportPlace,
  change: { readonly member: number; readonly values: Partial<MemberValues> } | { readonly code: string },
): Promise<void> {
  const registry = openRegistry(storageAt(place.databaseFile));
  const [now, actor] = [1_750_000_000, 'key:1'] as const;
  if ('code' in change)
    await registry.cooperatives.update(1, (stored) => ({ ...stored, code: change.code }), now, actor);
  else
    await registry.members.update(change.member, (stored) => ({ ...stored, ...change.values }), now, actor);
  await registry.close();
}

const byCode = (cooperative: string, code: string): string =>
  ledger(cooperative).replaceAll(nid(1), code).replaceAll(nid(2), 'M-2');
const BY_CODE = DELIVERIES.replace('identity_card', 'member_code');
const SAVINGS_BY_CODE = SAVINGS.replace('identity_card', 'member_code');

test('a ledger that comes again after a member code was corrected over HTTP or by a file adds nothing', async (context) => {
  const place = await start(context);
  await load(place, 'production', DELIVERIES + ledger('A-1'));
  await load(place, 'savings', SAVINGS + savings('A-1'));
  await write(place, { member: 1, values: { memberCode: 'M-9' } });
  for (const code of ['M-9', 'M-10']) {
    if (code === 'M-10') await place.load('members', members(`A-1,${nid(1)},M-10,Person 1`));
    assert.deepEqual(await load(place, 'production', DELIVERIES + ledger('A-1')), [0, 0, 5]);
    assert.deepEqual(await load(place, 'production', BY_CODE + byCode('A-1', code)), [0, 0, 5]);
    const renamed = savings('A-1').replaceAll(nid(1), code);
    assert.deepEqual(await load(place, 'savings', SAVINGS_BY_CODE + renamed), [0, 0, 2]);
  }
});

test('a ledger that comes again after the code of its cooperative was corrected adds nothing', async (context) => {
  const place = await start(context);
  const withoutCode = (content: string) => content.replaceAll(/^(?:cooperative_code)?,/gm, '');
  const loadFor = async (code: string) =>
    Promise.all(
      [
        ['production', withoutCode(DELIVERIES + ledger(''))],
        ['savings', withoutCode(SAVINGS + savings(''))],
      ].map(async ([kind = '', content = '']) => {
        const { status, out } = await place.load(kind, content, '--json', '--cooperative', code);
        const [file] = JSON.parse(out).files;
        return [status, file.created, file.unchanged];
      }),
    );
  assert.deepEqual(await loadFor('A-1'), [
    [0, 5, 0],
    [0, 2, 0],
  ]);
  await write(place, { code: 'A-9' });
  assert.deepEqual(await loadFor('A-9'), [
    [0, 0, 5],
    [0, 0, 2],
  ]);
});

test('a ledger that comes again after a national ID was corrected over HTTP adds nothing', async (context) => {
  const place = await start(context);
  await load(place, 'production', DELIVERIES + ledger('A-1'));
  await write(place, { member: 1, values: { identityCard: nid(8) } });
  const renumbered = DELIVERIES + ledger('A-1').replaceAll(nid(1), nid(8));
  assert.deepEqual(await load(place, 'production', renumbered), [0, 0, 5]);
  assert.deepEqual(await load(place, 'production', BY_CODE + byCode('A-1', 'M-1')), [0, 0, 5]);
});

/** Members 1 and 2 had been given each other's. */
async function swap(place: ImportPlace, what: 'codes' | 'national IDs'): Promise<void> {
  const named = (n: number) => (what === 'codes' ? { memberCode: `M-${n}` } : { identityCard: nid(n) });
  await write(place, { member: 1, values: what === 'codes' ? { memberCode: 'X' } : named(9) });
  await write(place, { member: 2, values: named(1) });
  await write(place, { member: 1, values: named(2) });
}

for (const what of ['codes', 'national IDs'] as const) {
  test(`a ledger whose ${what} are those of others by now is refused, and does not count twice`, async (context) => {
    const place = await start(context);
    const header = what === 'codes' ? BY_CODE : DELIVERIES;
    const rows = what === 'codes' ? byCode('A-1', 'M-1') : ledger('A-1');
    await load(place, 'production', header + rows);
    await swap(place, what);
    const { status, out } = await place.load('production', header + rows, '--json');
    assert.equal(status, 1);
    assert.deepEqual(
      JSON.parse(out).files[0].errors.map(({ line, column }: { line: number; column: string }) => [
        line,
        column,
      ]),
      [
        [2, 'reference'],
        [3, 'reference'],
        [6, 'reference'],
      ],
    );
    // As somebody writes it who knows the new ones.
    const [first, second] = what === 'codes' ? ['M-1', 'M-2'] : [nid(1), nid(2)];
    const swapped = rows.replaceAll(first, '?').replaceAll(second, first).replaceAll('?', second);
    assert.deepEqual(await load(place, 'production', header + swapped), [0, 0, 5]);
  });
}

const stoppedRows = (n: number, importId: number): RegExp =>
  new RegExp(`${n} rows? would be new, although the file was imported before, as import ${importId}: were`);

test('the very same file is stopped where its rows were known by other names, which others have now', async (context) => {
  for (const what of ['codes', 'national IDs'] as const) {
    const place = await start(context);
    const files = [DELIVERIES + ledger('A-1'), BY_CODE + byCode('A-1', 'M-1')] as const;
    const [first, second] = what === 'codes' ? files : [files[1], files[0]];
    assert.deepEqual(await load(place, 'production', first), [5, 0, 0]);
    assert.deepEqual(await load(place, 'production', second), [0, 0, 5]);
    await swap(place, what);
    const { status, err } = await place.load('production', second);
    assert.equal(status, 1, err);
    assert.match(err, stoppedRows(3, 4));
    assert.match(err, /\(lines 2, 3, 6\)/);
    assert.equal(place.value('SELECT count(*) FROM production_entries'), 5);
  }
});

test('the very same file adds rows that were refused at first, and removed ones with --yes', async (context) => {
  const place = await start(context);
  const content = `${BY_CODE}${byCode('A-1', 'M-1')}A-1,M-5,2025-06-04,8,\nA-1,M-6,2025-06-04,9,\n`;
  const skipping = async (...args: string[]) => {
    const { out } = await place.load('production', content, '--skip-invalid', '--json', ...args);
    const { outcome, created, refused_rows } = JSON.parse(out).files[0];
    return [outcome, created, refused_rows];
  };
  assert.deepEqual(await skipping(), ['imported', 5, 2]);
  await place.load('members', members(member(5)));
  assert.deepEqual(await skipping(), ['imported', 1, 1]);
  await correct(place, 'entries', 'remove', '--yes', 'production', '--member', '5');
  assert.match((await place.load('production', content, '--skip-invalid')).err, stoppedRows(1, 5));
  assert.deepEqual(await skipping('--yes'), ['imported', 1, 1]);
  assert.deepEqual(await skipping(), ['imported', 0, 1]);
});

test('the very same file is not stopped after its undo, nor where it replaces its newer version', async (context) => {
  const place = await start(context);
  const [row] = savings('A-1').split('\n');
  const [content, newer] = [SAVINGS + savings('A-1'), `${SAVINGS}${row}\n`];
  assert.deepEqual(await load(place, 'savings', content), [2, 0, 0]);
  assert.equal((await place.command('imports', 'undo', '--yes', '3')).status, 0);
  assert.deepEqual(await load(place, 'savings', content), [2, 0, 0]);
  for (const [file, replaced, rows] of [
    [newer, '4', '0 new, 0 changed, 1 unchanged, 1 removed'],
    [content, '5', '1 new, 0 changed, 1 unchanged'],
  ] as const) {
    const { status, out, err } = await place.load('savings', file, '--replaces', replaced, '--yes');
    assert.equal(status, 0, err);
    assert.ok(out.includes(rows), out);
  }
});

test('other columns of a file that was imported are another ledger', async (context) => {
  const place = await start(context);
  for (const [month, other, day] of [
    ['April', 'May', '2025-04-30'],
    ['May', 'April', '2025-05-31'],
  ] as const) {
    const columns = { [month]: 'kg', [other]: null };
    const map = { kind: 'production', columns, constants: { cooperative_code: 'A-1', delivered_at: day } };
    const file = 'member_code,April,May\nM-1,10,11\nM-2,12,13\n';
    const path = place.write('map.json', JSON.stringify(map));
    for (const again of ['2 new', '0 new']) {
      const { status, out, err } = await place.load('production', file, '--map', path);
      assert.equal(status, 0, err);
      assert.ok(out.includes(again), out);
    }
  }
});

test('a dry run knows the entries of members whom an earlier file of the run gives another code', async (context) => {
  const place = await start(context);
  await load(place, 'production', DELIVERIES + ledger('A-1'));
  const folder = incoming(place, {
    'members.csv': members(`A-1,${nid(1)},M-9,Person 1`),
    'production.csv': BY_CODE + byCode('A-1', 'M-9'),
  });
  const { out } = await place.run(folder, '--dry-run', '--json');
  const [list, file] = JSON.parse(out).files;
  assert.deepEqual([list.changed, file.created, file.unchanged], [1, 0, 5]);
});

test('a ledger is not read in another time zone than the one before, unless that was undone', async (context) => {
  const place = await start(context);
  const path = place.write('ledger.csv', DELIVERIES + ledger('A-1'));
  const read = async (zone: string) =>
    importFile(place, { kind: 'production', path }, { zone: parseTimeZone(zone) as TimeZone });
  assert.equal((await read('+02:00')).report.changes.created, 5);
  const { report, faults } = await read('+03:00');
  assert.equal(report.outcome, 'refused');
  assert.deepEqual(faults, [
    {
      ...{ line: 1, column: 'reference', refuses: 'file' },
      message:
        'Rows without a reference were imported in the time zone +02:00, and would count again in +03:00. ' +
        'Set TIME_ZONE_OFFSET=+02:00 again, or give the rows references.',
    },
  ]);
  // Savings have none yet, and rows with a reference are known by it.
  const other = await importText(place, 'savings', SAVINGS + savings('A-1'), {
    zone: parseTimeZone('+03:00') as TimeZone,
  });
  assert.equal(other.report.changes.created, 2);
  const named = 'cooperative_code,identity_card,reference,delivered_at,kg\n';
  const row = `${named}A-1,${nid(1)},P-1,2025-06-01,10\n`;
  assert.equal(
    (await importText(place, 'production', row, { zone: parseTimeZone('+03:00') as TimeZone })).report.changes
      .created,
    1,
  );
  assert.equal((await place.command('imports', 'undo', '--yes', '3')).status, 0);
  assert.equal((await read('+03:00')).report.changes.created, 5);
});
