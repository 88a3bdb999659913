/**
 * A file is imported completely or not at all: what is reported of it, folders and dry runs
 * (docs/import-reference.md#the-command).
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import {
  COOPERATIVES,
  type ImportPlace,
  importPlace,
  incoming,
  MEMBERS_HEADER,
  member,
  members,
  nid,
  placeWithoutRegistry,
  SAVINGS_HEADER,
  startedPlace,
} from '../support/importing.ts';
import { rowsOf, workbookOf } from '../support/workbook.ts';

const countMembers = (place: ImportPlace) => place.value('SELECT count(*) FROM members');
const withGender = (...rows: string[]) => `${MEMBERS_HEADER},gender\n${rows.join('\n')}\n`;

test('a file with a bad row imports nothing', async (context) => {
  const place = await startedPlace(context);
  const result = await place.load(
    'members',
    withGender(`${member(10)},F`, `${member(11)},X`, `${member(12)},M`),
  );
  assert.equal(result.status, 1);
  assert.match(result.err, /^members\.csv line 3, column gender: /m);
  assert.equal(countMembers(place), 3);
});

test('20 different faults are on screen and the rest is counted; all are in the rejects and the JSON', async (context) => {
  const place = await startedPlace(context);
  const content = withGender(...Array.from({ length: 27 }, (_, i) => `${member(100 + i, `Z-${i}`)},F`));
  const rejects = join(place.folder, 'rejects.csv');
  const result = await place.load('members', content, '--rejects', rejects);
  const shown = result.err.split('\n').filter((line) => line.startsWith('members.csv line '));
  assert.deepEqual(
    shown.map((line) => Number(line.split(' ')[2]?.replace(',', ''))),
    Array.from({ length: 20 }, (_, i) => i + 2),
  );
  assert.match(result.err, /\b7 more/);
  assert.equal(parse(readFileSync(rejects)).length, 28);
  const json = JSON.parse((await place.load('members', content, '--json')).out);
  assert.equal(json.files[0].errors.length, 27);
  assert.equal(json.files[0].refused_rows, 27);
  assert.equal(json.files[0].imported, false);
});

test('rejects hold the refused rows as delivered and the reasons, readable by their owner only', async (context) => {
  const place = await startedPlace(context);
  const rejects = join(place.folder, 'rejects.csv');
  writeFileSync(rejects, 'code,registry_faults\n', { mode: 0o644 });
  const name = '"Uwase, ""Mimi"""';
  const lines = [`A-1,${nid(10)},M-10,${name},X`, `${member(11)},F`, `Z-9,${nid(12)},M-12,Keza,Y`];
  const content = `\ufeff${withGender(...lines).replaceAll('\n', '\r\n')}`;
  await place.load('members', content, '--rejects', rejects);
  assert.equal(statSync(rejects).mode & 0o777, 0o600);
  const text = readFileSync(rejects, 'utf8');
  assert.ok(text.startsWith('\ufeff'));
  const [header, ...rows] = parse(text.slice(1)) as string[][];
  assert.deepEqual(header, [...MEMBERS_HEADER.split(','), 'gender', 'registry_faults']);
  assert.deepEqual(
    rows.map((cells) => cells.slice(0, -1)),
    [
      ['A-1', nid(10), 'M-10', 'Uwase, "Mimi"', 'X'],
      ['Z-9', nid(12), 'M-12', 'Keza', 'Y'],
    ],
  );
  const reasons = rows.map((cells) => String(cells.at(-1)).replace(/[:].*?(?=; |$)/g, ''));
  assert.deepEqual(reasons, ['gender', 'gender; cooperative_code']);
});

test('a rejects file that is the import file itself is refused, and the file stays', async (context) => {
  const place = await startedPlace(context);
  const path = place.write('members.csv', members(member(10)));
  const result = await place.run('members', path, '--rejects', path);
  assert.equal(result.status, 2);
  assert.equal(readFileSync(path, 'utf8'), members(member(10)));
});

test('--skip-invalid imports the good rows, reports the others and ends with 1', async (context) => {
  const place = await startedPlace(context);
  const result = await place.load(
    'members',
    withGender(
      `${member(10)},F`,
      `${member(11)},X`,
      `${member(12, 'Z-9')},M`,
      `${member(10)},F`,
      `${member(13)},M`,
    ),
    '--skip-invalid',
    '--json',
  );
  assert.equal(result.status, 1);
  const [file] = JSON.parse(result.out).files;
  assert.deepEqual([file.rows, file.created, file.refused_rows, file.imported], [5, 2, 3, true]);
  assert.deepEqual(
    file.errors.map(({ line, column }: { line: number; column: string }) => [line, column]),
    [
      [3, 'gender'],
      [4, 'cooperative_code'],
      [5, 'identity_card'],
    ],
  );
  assert.deepEqual(place.query('SELECT member_code FROM members WHERE id > 3 ORDER BY id'), [
    { member_code: 'M-10' },
    { member_code: 'M-13' },
  ]);
});

test('--skip-invalid with nothing to skip ends with 0', async (context) => {
  const place = await startedPlace(context);
  assert.equal((await place.load('members', members(member(10)), '--skip-invalid')).status, 0);
});

test('neither national IDs, names nor keys appear in what is printed', async (context) => {
  const place = await startedPlace(context);
  const secret = 'crs_0123456789abcdefghijABCDEFGHIJ012345';
  const content = withGender(
    `A-1,${nid(10)},M-10,Uwase Mimi,${nid(10)}`,
    `${secret},${nid(11)},M-1,Uwase Mimi,M`,
    `A-1,${nid(1)}9,${nid(1)},Uwase\u202eMimi,F`,
    `A-1,${nid(10)},M-10,Uwase Mimi,F`,
  );
  for (const args of [[], ['--json'], ['--skip-invalid']]) {
    const { out, err } = await place.load('members', content, ...args);
    assert.doesNotMatch(out + err, /9000|Uwase|Mimi|crs_/);
  }
});

test('a person sees how many rows are new, changed, unchanged or refused, the speed and the lock time', async (context) => {
  const place = await startedPlace(context);
  const result = await place.load('members', members(member(1), `A-1,${nid(2)},M-2,Renamed`, member(10)));
  assert.equal(result.status, 0);
  assert.match(
    result.out,
    /^members\.csv: 1 new, 1 changed, 1 unchanged \(.* rows\/s, locked for [0-9.]+ s\)$/m,
  );
});

test('with --json one document has the same', async (context) => {
  const place = await startedPlace(context);
  const { dry_run, files } = JSON.parse((await place.load('members', members(member(10)), '--json')).out);
  assert.equal(dry_run, false);
  const [file] = files;
  assert.deepEqual(
    [
      file.kind,
      file.rows,
      file.created,
      file.changed,
      file.unchanged,
      file.refused_rows,
      file.imported,
      file.errors,
    ],
    ['members', 1, 1, 0, 0, 0, true, []],
  );
  for (const name of ['seconds', 'rows_per_second', 'lock_seconds'])
    assert.equal(typeof file[name], 'number', name);
});

const RUN = {
  'cooperatives.csv': COOPERATIVES,
  'members-1.csv': members(member(1)),
  'members-2.csv': members(member(2)),
  'production.csv': 'cooperative_code,member_code,reference,delivered_at,kg\nA-1,M-2,P-1,2025-03-01,1\n',
  'loans.csv': 'cooperative_code,member_code,reference,amount,interest_rate\nA-1,M-1,L-1,1000,18\n',
  'savings.csv': `${SAVINGS_HEADER}\nA-1,M-1,S-1,R-1,contribution,5,2025-03-01\n`,
};

test('a folder is imported in dependency order, files of a kind in order of name', async (context) => {
  const place = importPlace(context);
  const result = await place.run(incoming(place, RUN), '--json');
  assert.equal(result.status, 0, result.err);
  const names = JSON.parse(result.out).files.map(({ file }: { file: string }) => file.split('/').at(-1));
  assert.deepEqual(names, [
    'cooperatives.csv',
    'members-1.csv',
    'members-2.csv',
    'production.csv',
    'loans.csv',
    'savings.csv',
  ]);
});

test('a folder stops at the first bad file and says which files are imported', async (context) => {
  const place = importPlace(context);
  const folder = incoming(place, { ...RUN, 'members-2.csv': members(member(2, 'Z-9')) });
  const result = await place.run(folder);
  assert.equal(result.status, 1);
  assert.match(result.err, /^Imported: cooperatives\.csv, members-1\.csv\.$/m);
  for (const name of ['production.csv', 'loans.csv', 'savings.csv'])
    assert.ok(result.err.includes(name), name);
  assert.equal(countMembers(place), 1);
  assert.equal(place.value('SELECT count(*) FROM loans'), 0);
});

test('everything in a folder that is not imported is named as skipped, with the reason', async (context) => {
  const place = placeWithoutRegistry(context);
  const others = ['.DS_Store', 'members.odt', 'members.xls', 'notes.txt', 'visits.csv', '~$members-1.xlsx'];
  const folder = incoming(place, { ...RUN, ...Object.fromEntries(others.map((name) => [name, 'x\n'])) });
  mkdirSync(join(folder, 'members-of-2025.csv'));
  symlinkSync('/dev/null', join(folder, 'members-linked.csv'));
  const result = await place.run(folder);
  assert.equal(result.status, 0, result.err);
  assert.deepEqual(result.err.trimEnd().split('\n'), [
    'Skipped .DS_Store: it is hidden.',
    'Skipped members-linked.csv: it is not a file.',
    'Skipped members-of-2025.csv: it is a folder.',
    'Skipped members.odt: it is not a .csv, .xlsx or .ods file.',
    'Skipped members.xls: it is an .xls file; save it as .xlsx or "CSV UTF-8".',
    'Skipped notes.txt: it is not a .csv, .xlsx or .ods file.',
    'Skipped visits.csv: its name does not start with any of cooperatives, members, production, loans, ' +
      'payments, savings.',
    'Skipped ~$members-1.xlsx: it is a lock file, which Excel keeps while a workbook is open.',
    `Created a new, empty registry at ${place.databaseFile}.`,
  ]);
});

test('files of a folder are found in any letter case, workbooks too, in order of kind and name', async (context) => {
  const place = importPlace(context);
  const folder = incoming(place, {
    'Cooperatives 2026.CSV': COOPERATIVES,
    'MEMBERS b.csv': members(member(2)),
    'savings.Csv': `${SAVINGS_HEADER}\n`,
  });
  const rows = rowsOf(MEMBERS_HEADER.split(','), member(1).split(','));
  writeFileSync(join(folder, 'MEMBERS a.XLSX'), workbookOf({ sheets: [{ name: 'S', rows }] }));
  const { files } = JSON.parse((await place.run(folder, '--json')).out);
  assert.deepEqual(
    files.map(({ file, kind, outcome }: Record<string, string>) => [basename(String(file)), kind, outcome]),
    [
      ['Cooperatives 2026.CSV', 'cooperatives', 'imported'],
      ['MEMBERS a.XLSX', 'members', 'imported'],
      ['MEMBERS b.csv', 'members', 'imported'],
      ['savings.Csv', 'savings', 'imported'],
    ],
  );
});

test('a folder without a file to import is wrong usage', async (context) => {
  const place = importPlace(context);
  const { status, err } = await place.run(incoming(place, { 'notes.txt': 'x' }));
  assert.equal(status, 2);
  assert.match(err, /has no file called <kind>\*\.csv, <kind>\*\.xlsx or <kind>\*\.ods \(cooperatives, /);
});

test('in a dry run references resolve against the files before, and nothing is written', async (context) => {
  const place = importPlace(context);
  const result = await place.run(incoming(place, RUN), '--dry-run', '--json');
  assert.equal(result.status, 0, result.err);
  const { dry_run, files } = JSON.parse(result.out);
  assert.equal(dry_run, true);
  assert.equal(files.length, 6);
  for (const table of ['cooperatives', 'members', 'production_entries', 'loans', 'savings_accounts']) {
    assert.equal(place.value(`SELECT count(*) FROM ${table}`) ?? 0, 0, table);
  }
});

test('a dry run refuses what the import would refuse for the files before it', async (context) => {
  const before = { 'cooperatives.csv': COOPERATIVES, 'members-1.csv': members(member(1)) };
  for (const [name, content] of [
    ['members-2.csv', members(member(2, 'Z-9'))],
    ['loans.csv', RUN['loans.csv'].replace('M-1', 'M-9')],
    // M-1 of A-1 is another person's code in the file before.
    ['members-2.csv', members(`A-1,${nid(77)},M-1,Another`)],
  ] as const) {
    const place = importPlace(context);
    const folder = incoming(place, { ...before, [name]: content });
    const rehearsed = await place.run(folder, '--dry-run');
    const real = await place.run(folder);
    assert.equal(real.status, 1);
    assert.equal(rehearsed.status, 1, `${name} was refused by the import only: ${real.err}`);
  }
});

test('a dry run of a file that would be skipped in part lets the good rows count', async (context) => {
  const place = importPlace(context);
  const folder = incoming(place, { ...RUN, 'members-1.csv': withGender(`${member(1)},F`, `${member(5)},X`) });
  const result = await place.run(folder, '--dry-run', '--skip-invalid', '--json');
  assert.equal(result.status, 1);
  assert.equal(JSON.parse(result.out).files.length, 6);
});

test('wrong usage ends with 2 and says what is expected', async (context) => {
  const place = await startedPlace(context);
  const empty = join(place.folder, 'empty');
  mkdirSync(empty);
  const file = place.write('members.csv', members(member(1)));
  for (const args of [
    ['visits', file],
    ['members', join(place.folder, 'missing.csv')],
    ['members', place.folder],
    ['members'],
    [join(place.folder, 'missing')],
    [empty],
    [],
    ['members', file, '--unknown'],
  ]) {
    const result = await place.run(...args);
    assert.equal(result.status, 2, args.join(' '));
    assert.notEqual(result.err, '', args.join(' '));
  }
});

test('the database is created when it is missing, readable by its owner only', async (context) => {
  const place = importPlace(context);
  assert.equal((await place.load('cooperatives', COOPERATIVES)).status, 0);
  assert.equal(statSync(place.databaseFile).mode & 0o777, 0o600);
});

test('a file that is not a database is refused and stays as it is', async (context) => {
  const place = importPlace(context);
  writeFileSync(place.databaseFile, 'not a database, but somebody needs it'.repeat(40));
  const result = await place.load('cooperatives', COOPERATIVES);
  assert.equal(result.status, 2);
  assert.match(readFileSync(place.databaseFile, 'utf8'), /^not a database/);
});

test('nothing is left beside the database after an import, refused ones included', async (context) => {
  const place = await startedPlace(context);
  await place.load('members', members(member(1, 'Z-9')));
  await place.load('members', 'nonsense\n');
  assert.deepEqual(place.leftovers(), []);
  assert.ok(existsSync(place.databaseFile));
});

test('help shows an example and the columns of each kind, required ones marked', async (context) => {
  const place = importPlace(context);
  const { status, out } = await place.run('--help');
  assert.equal(status, 0);
  assert.match(
    out,
    /production +cooperative_code\*, member_code \(or identity_card\)\*, reference, delivered_at\*, kg\*/,
  );
  for (const option of [
    '--dry-run',
    '--rejects',
    '--skip-invalid',
    '--accept-trailing-zero',
    '--db',
    '--json',
  ]) {
    assert.ok(out.includes(option), option);
  }
  assert.match(out, /import members .*\.csv/);
});
