/** Files that are newer versions of imported ones (docs/import-reference.md#a-newer-version-of-a-file). */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkStorage } from '../../src/check/check.ts';
import { openRegistry } from '../../src/open-registry.ts';
import { command } from '../support/command.ts';
import { type ImportPlace, LOANS_HEADER, member, members, nid, startedPlace } from '../support/importing.ts';
import { storageAt } from '../support/storage.ts';

const HEADER = 'member_code,delivered_at,kg,product';
const ledger = (...rows: string[]): string => `${HEADER}\n${rows.join('\n')}\n`;
const JANUARY = ['M-1,2024-01-02,369.3,milk', 'M-2,2024-01-02,20.5,milk', 'M-3,2024-01-03,30,milk'];
const CORRECTED = ['M-1,2024-01-02,396.3,milk', ...JANUARY.slice(1)];

/** @returns the id of the import */
async function accept(place: ImportPlace, kind: string, content: string, ...args: string[]): Promise<number> {
  const { status, err } = await place.load(kind, content, '--cooperative', 'A-1', ...args);
  assert.equal(status, 0, err);
  return place.value('SELECT max(id) FROM operations') as number;
}

async function refusal(
  place: ImportPlace,
  kind: string,
  content: string,
  ...args: string[]
): Promise<string> {
  const before = place.value('SELECT count(*) FROM operations');
  const { status, err } = await place.load(kind, content, '--cooperative', 'A-1', ...args);
  assert.notEqual(status, 0);
  assert.equal(place.value('SELECT count(*) FROM operations'), before);
  return err;
}

const kilograms = (place: ImportPlace): unknown[] =>
  place
    .query<{ grams: number }>('SELECT grams FROM production_entries ORDER BY grams')
    .map(({ grams }) => grams);

async function assertSound(place: ImportPlace): Promise<void> {
  const faults = (await checkStorage(storageAt(place.databaseFile))).filter(({ fault }) => fault !== null);
  assert.deepEqual(faults, []);
}

test('a corrected entry without a receipt number is stopped', async (context) => {
  const place = await startedPlace(context);
  const id = await accept(place, 'production', ledger(...JANUARY));
  assert.match(
    await refusal(place, 'production', ledger(...CORRECTED)),
    new RegExp(
      `warning: 1 delivery is new on a day on which import ${id} has others that this file lacks ` +
        `\\(line 2: 396\\.3 kg in place of 369\\.3 on 2024-01-02\\)\\. If the file is a newer version of ` +
        `import ${id}, add --replaces ${id}; if these rows are additional, add --yes\\. \\(line 2\\)`,
    ),
  );
  // Another day, another product, and a receipt number are another entry.
  await accept(place, 'production', ledger('M-1,2024-01-03,396.3,milk', 'M-1,2024-01-02,396.3,maize'));
  await accept(
    place,
    'production',
    'member_code,reference,delivered_at,kg,product\nM-1,R-1,2024-01-02,5,milk\n',
  );
  // So is one beside the stored ones, which the file has too.
  await accept(place, 'production', ledger(...JANUARY, 'M-1,2024-01-02,10,milk'));
  assert.equal(kilograms(place).length, 7);
});

test('further deliveries of a day are one warning, and imported with --yes', async (context) => {
  const place = await startedPlace(context);
  await accept(place, 'production', ledger(...JANUARY, 'M-3,2024-01-02,7,milk'));
  const evening = ledger(...[1, 2, 3, 4].map((n) => `M-${Math.min(n, 3)},2024-01-02T18:00:00,${n}.25,milk`));
  const err = await refusal(place, 'production', evening);
  assert.equal(err.match(/warning/g)?.length, 2);
  assert.match(err, /warning: 4 deliveries are new .* \(line 2: .*; line 3: .*; line 4: [^;]*; …\)/);
  await accept(place, 'production', evening, '--yes');
  await accept(place, 'production', evening);
  assert.equal(kilograms(place).length, 8);
});

test('savings are compared by account and kind', async (context) => {
  const place = await startedPlace(context);
  const savings = (...rows: string[]) =>
    `member_code,account_number,kind,amount,transacted_at\n${rows.join('\n')}\n`;
  const id = await accept(place, 'savings', savings('M-1,S-1,contribution,1000,2024-01-02'));
  await accept(
    place,
    'savings',
    savings('M-1,S-1,withdrawal,500,2024-01-02', 'M-1,S-2,contribution,500,2024-01-02'),
  );
  const changed = savings('M-1,S-1,contribution,1500.50,2024-01-02');
  const err = await refusal(place, 'savings', changed);
  assert.match(
    err,
    new RegExp(`1 transaction is new .* import ${id} .*1500\\.5 Frw in place of 1000 on 2024-01-02`),
  );
  await accept(place, 'savings', changed, '--replaces', String(id), '--yes');
  assert.deepEqual(place.query('SELECT amount_minor FROM savings_transactions ORDER BY 1'), [
    { amount_minor: 50_000 },
    { amount_minor: 50_000 },
    { amount_minor: 150_050 },
  ]);
  await assertSound(place);
});

test('mended rejects are not taken for a newer version of the rows beside them', async (context) => {
  const place = await startedPlace(context);
  const rejects = join(place.folder, 'rejects.csv');
  const file = ledger('M-1,2024-01-02,10,milk', 'M-1,2024-01-02,many,milk');
  const { status } = await place.load(
    'production',
    file,
    '--cooperative',
    'A-1',
    '--skip-invalid',
    '--rejects',
    rejects,
  );
  assert.equal(status, 1);
  await accept(place, 'production', readFileSync(rejects, 'utf8').replace('many', '12'));
  assert.deepEqual(kilograms(place), [10_000, 12_000]);
});

test('a newer version adds, removes and keeps, shows it before, and is undone', async (context) => {
  const place = await startedPlace(context);
  const id = await accept(place, 'production', ledger(...JANUARY));
  const before = place.query('SELECT * FROM production_entries');
  const newer = ledger(...CORRECTED.slice(0, 2), 'M-2,2024-01-09,9,milk');
  const dryRun = await place.load(
    'production',
    newer,
    '--cooperative',
    'A-1',
    '--replaces',
    String(id),
    '--dry-run',
    '--yes',
  );
  assert.equal(dryRun.status, 0, dryRun.err);
  assert.match(dryRun.out, /3 rows checked: 2 new, 0 changed, 1 unchanged, 2 removed; nothing was written/);
  assert.match(
    dryRun.err,
    /not in this file \(M-1 2024-01-02 369\.300 milk; M-3 2024-01-03 30\.000 milk\)\.\n/,
  );
  const done = await place.load(
    'production',
    newer,
    '--cooperative',
    'A-1',
    '--replaces',
    String(id),
    '--json',
    '--yes',
  );
  const [report] = JSON.parse(done.out).files;
  assert.deepEqual(
    [report.created, report.changed, report.unchanged, report.removed, report.missing],
    [2, 0, 1, 2, 2],
  );
  assert.deepEqual(kilograms(place), [9_000, 20_500, 396_300]);
  await assertSound(place);
  const shown = (await place.command('imports', 'show', String(report.import_id))).out;
  assert.match(
    shown,
    new RegExp(`^rows +2 new, 0 changed, 1 unchanged, 2 removed\\nreplaces +import ${id}$`, 'm'),
  );
  assert.match(
    (await place.command('imports', 'show', String(id))).out,
    new RegExp(`^replaced +by import ${report.import_id}$`, 'm'),
  );
  const { imports } = JSON.parse((await place.command('imports', 'list', '--json')).out);
  assert.deepEqual(
    imports.slice(-2).map((each: Record<string, unknown>) => [each.removed, each.replaces, each.replaced_by]),
    [
      [0, null, report.import_id],
      [2, id, null],
    ],
  );
  const refused = await place.command('imports', 'undo', String(id), '--yes');
  assert.match(refused.err, new RegExp(`it was replaced, by import ${report.import_id}`));
  assert.equal((await place.command('imports', 'undo', String(report.import_id), '--yes')).status, 0);
  assert.deepEqual(place.query('SELECT * FROM production_entries'), before);
  await assertSound(place);
});

test('what cannot be replaced is refused in a sentence', async (context) => {
  const place = await startedPlace(context);
  await place.load('members', members(`B-2,${nid(50)},M-1,Other`));
  const id = await accept(place, 'production', ledger(...JANUARY));
  const replace = (id: number, ...args: string[]) =>
    refusal(place, 'production', ledger(...CORRECTED), '--replaces', String(id), ...args);
  assert.match(await replace(99), /There is no import 99 to replace\./);
  assert.match(
    await replace(2),
    /Import 2 is of members, not of production, and cannot be replaced by this file\./,
  );
  const other = await place.load(
    'production',
    ledger('M-1,2024-01-02,1,milk'),
    '--cooperative',
    'B-2',
    '--replaces',
    String(id),
  );
  assert.match(other.err, new RegExp(`Import ${id} is of A-1, of which this file has no rows\\.`));
  assert.match(
    await replace(id, '--skip-invalid'),
    /--skip-invalid, --replaces would remove the rows that are refused/,
  );
  assert.match(
    await refusal(place, 'production', ledger(...JANUARY), '--absent', 'x'),
    /--absent needs --replaces/,
  );
  assert.match((await place.run(place.folder, '--replaces', '1')).err, /--replaces is for one file/);
  const next = await accept(place, 'production', ledger(...CORRECTED), '--replaces', String(id), '--yes');
  assert.match(
    await replace(id),
    new RegExp(`Import ${id} was replaced by import ${next}\\. Replace that one\\.`),
  );
  await place.command('imports', 'undo', String(next), '--yes');
  assert.match(await replace(next), new RegExp(`Import ${next} was undone and cannot be replaced\\.`));
});

test('a loan with payments, and a row that was changed by hand, are not removed', async (context) => {
  const place = await startedPlace(context);
  const loans = (...rows: string[]) =>
    `${LOANS_HEADER.replace('cooperative_code,', '')}\n${rows.join('\n')}\n`;
  const loan = (n: number) => `M-${n},L-${n},1000,5,approved,0,2024-01-02,2025-01-02,`;
  const id = await accept(place, 'loans', loans(loan(1), loan(2), loan(3)));
  await accept(
    place,
    'payments',
    'loan_reference,reference,amount,method,paid_at\nL-2,P-1,10,cash,2025-01-02\n',
  );
  const store = openRegistry(storageAt(place.databaseFile));
  await store.loans.update(3, (stored) => ({ ...stored, status: 'paid' }), 1, 'key:1');
  await store.close();
  const err = await refusal(place, 'loans', loans(loan(1)), '--replaces', String(id));
  assert.match(err, new RegExp(`Rows of import ${id} are not in this file, but cannot be removed: `));
  assert.match(err, /payment P-1 belongs to one of these rows/);
  assert.match(err, /L-3 was changed since, by key 1/);
  await accept(place, 'loans', loans(loan(2), loan(3)), '--replaces', String(id), '--yes');
  assert.deepEqual(place.query('SELECT id, reference FROM loans'), [
    { id: 2, reference: 'L-2' },
    { id: 3, reference: 'L-3' },
  ]);
  await assertSound(place);
});

test('whoever had a removed entry does not go before it may come back', async (context) => {
  const place = await startedPlace(context);
  const joined = await accept(
    place,
    'members',
    members(member(9)).replaceAll('A-1,', '').replace('cooperative_code,', ''),
  );
  const id = await accept(place, 'production', ledger(...JANUARY, 'M-9,2024-01-02,7,milk'));
  const newer = await accept(place, 'production', ledger(...JANUARY), '--replaces', String(id), '--yes');
  const undo = (of: number) => place.command('imports', 'undo', String(of), '--yes');
  const refused = await undo(joined);
  assert.equal(refused.status, 1);
  assert.match(refused.err, new RegExp(`First undo import ${newer}`));
  for (const each of [newer, id, joined]) assert.equal((await undo(each)).status, 0);
  await assertSound(place);
});

test('entries of somebody who was erased stay', async (context) => {
  const place = await startedPlace(context);
  const id = await accept(place, 'production', ledger(...JANUARY));
  const erased = await place.command('persons', 'erase', nid(3), '--reason', 'asked', '--yes');
  assert.equal(erased.status, 0, erased.err);
  await accept(place, 'production', ledger(...CORRECTED.slice(0, 2)), '--replaces', String(id), '--yes');
  assert.deepEqual(kilograms(place), [20_500, 30_000, 396_300]);
});

test('the loan of an erased person keeps its reference, which a newer version may not give again', async (context) => {
  const place = await startedPlace(context);
  const loans = LOANS_HEADER.replace('cooperative_code,', '');
  const file = `${loans}\nM-3,L-3,1000,5,approved,0,2024-01-02,2025-01-02,\n`;
  const id = await accept(place, 'loans', file);
  const erased = await place.command('persons', 'erase', nid(3), '--reason', 'asked', '--yes');
  assert.equal(erased.status, 0, erased.err);
  const again = members(member(3)).replaceAll('A-1,', '').replace('cooperative_code,', '');
  await accept(place, 'members', again, '--despite-erasure');
  assert.match(
    await refusal(place, 'loans', file, '--replaces', String(id)),
    /column reference: This reference belongs to a loan of another member\./,
  );
  await assertSound(place);
});

test('what a newer version removes is asked about, on a terminal and with --yes', async (context) => {
  const place = await startedPlace(context);
  const id = await accept(place, 'production', ledger(...JANUARY));
  const stored = kilograms(place);
  const args = ['production', place.write('newer.csv', ledger(...JANUARY.slice(1))), '--cooperative', 'A-1'];
  const replace = (answer?: string) => {
    const terminal = answer === undefined ? {} : { ask: async () => answer };
    const env = { REGISTRY_DB: place.databaseFile };
    return command(['import', ...args, '--replaces', String(id)], env, undefined, terminal);
  };
  for (const answer of [undefined, 'n']) {
    const { status, err } = await replace(answer);
    assert.equal(status, 1);
    assert.match(err, new RegExp(`1 of the 3 rows of import ${id} is not in this file and would be removed`));
    assert.match(err, /is not in this file \(M-1 2024-01-02 369\.300 milk\)\.\n/);
    assert.match(err, /add --yes\..*\n.*Nothing of newer\.csv was imported\./);
    assert.doesNotMatch(err, /(is|are) removed/);
    assert.deepEqual(kilograms(place), stored);
  }
  const agreed = await replace('y');
  assert.equal(agreed.status, 0, agreed.err);
  assert.deepEqual(kilograms(place), [20_500, 30_000]);
  // A newer version that has all rows removes nothing, and is not asked about.
  const newest = String(place.value('SELECT max(id) FROM operations'));
  const all = ledger(...JANUARY.slice(1), 'M-1,2024-01-09,9,milk');
  await accept(place, 'production', all, '--replaces', newest);
});

test('members who are missing in a newer list stay, and are written with --absent', async (context) => {
  const place = await startedPlace(context);
  const list = members(member(1), member(4));
  const absent = join(place.folder, 'absent.csv');
  const { status, err, out } = await place.load('members', list, '--replaces', '2', '--absent', absent);
  assert.equal(status, 0, err);
  assert.match(
    err,
    /2 rows of the replaced import are not in this file \(M-2; M-3\): .*; \S+absent\.csv lists them\./,
  );
  assert.match(out, /1 new, 0 changed, 1 unchanged \(/);
  assert.deepEqual(place.query("SELECT count(*) AS n FROM members WHERE status = 'active'"), [{ n: 4 }]);
  const [header = '', ...rows] = readFileSync(absent, 'utf8').trim().split('\n');
  assert.match(header, /^cooperative_code,identity_card,member_code,full_name,/);
  assert.deepEqual(
    rows.map((row) => row.split(',').slice(0, 4).join()),
    [member(2), member(3)],
  );
  assert.equal(statSync(absent).mode & 0o777, 0o600);
  // Completed, they are a list themselves.
  const ended = readFileSync(absent, 'utf8').replaceAll('active', 'withdrawn');
  assert.match((await place.load('members', ended)).out, /0 new, 2 changed, 0 unchanged/);
  // Nobody is missing: no file.
  const all = members(member(1), member(2), member(3), member(4));
  await accept(
    place,
    'members',
    all.replaceAll('A-1,', '').replace('cooperative_code,', ''),
    '--replaces',
    '3',
    '--absent',
    absent,
  );
  assert.equal(existsSync(absent), false);
});
