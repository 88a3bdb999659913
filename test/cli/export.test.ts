/** The command `export`: its files, what it refuses, and who is in no export (docs/exporting.md). */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertFits } from '../../src/export/export-command.ts';
import { assertFolderOf, statOf, writePrivately } from '../../src/terminal/places.ts';
import { temporaryFolder } from '../support/app.ts';
import { COOPERATIVES, LOANS_HEADER, member, members, nid, preparedPlace } from '../support/importing.ts';

const KINDS = ['cooperatives', 'loans', 'members', 'payments', 'production', 'savings'];

const filled = preparedPlace(async (place) => {
  const load = async (kind: string, content: string) =>
    assert.equal((await place.load(kind, content)).status, 0);
  await load('cooperatives', COOPERATIVES);
  await load('members', members(member(1), member(2), member(3, 'B-2')));
  await load('production', 'cooperative_code,member_code,delivered_at,kg\nA-1,M-1,2025-01-02,5\n');
  await load('loans', `${LOANS_HEADER}\nA-1,M-1,L-1,1000,18,approved,,,,\nB-2,M-3,L-3,1000,18,pending,,,,\n`);
  await load(
    'payments',
    'cooperative_code,loan_reference,reference,amount,method,paid_at\nA-1,L-1,P-1,5,cash,2025-01-02\n',
  );
  await load(
    'savings',
    'cooperative_code,member_code,account_number,kind,amount,transacted_at\n' +
      'A-1,M-1,S-1,contribution,5,2025-01-02\n',
  );
});

const rowsIn = (csv: string): number => csv.split('\n').length - 2;
const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('a file is as its name or --format says, and only its owner can read it', async (context) => {
  const place = await filled(context);
  const path = (name: string) => join(place.folder, name);
  const { status, err } = await place.command('export', 'members', '--out', path('m.csv'));
  assert.deepEqual(
    [status, rowsIn(readFileSync(path('m.csv'), 'utf8')), modeOf(path('m.csv'))],
    [0, 3, 0o600],
  );
  assert.match(err, /m\.csv: 3 rows\nAs of event \d+ of the sequence [0-9a-f]{16}\.\n$/);
  await place.command('export', 'members', '--out', path('m.ndjson'));
  assert.equal(JSON.parse(readFileSync(path('m.ndjson'), 'utf8').split('\n')[2] as string).id, '3');
  await place.command('export', 'members', '--out', path('M.XLSX'));
  assert.equal(readFileSync(path('M.XLSX')).toString('latin1', 0, 2), 'PK');
  await place.command('export', 'members', '--out', path('m.txt'), '--format', 'ndjson');
  assert.equal(readFileSync(path('m.txt'), 'utf8'), readFileSync(path('m.ndjson'), 'utf8'));
  const printed = await place.command('export', 'members');
  assert.equal(printed.out, readFileSync(path('m.csv'), 'utf8'));
  assert.match(printed.err, /^As of event \d+ of the sequence [0-9a-f]{16}\.\n$/);
});

test('a file for people has what an import reads, in words of their language', async (context) => {
  const place = await filled(context);
  const loans = await place.command('export', 'loans', '--labels', '--lang', 'fr');
  const [header = '', first = ''] = loans.out.split('\n');
  assert.match(
    header,
    /^Code de la coopérative,Code du membre,Numéro d'identité nationale,Référence,Montant,/,
  );
  assert.match(first, /^A-1,M-1,\d{16},L-1,1000\.00,18\.00,approuvé,/);
  const refused = await place.command('export', 'loans', '--labels', '--format', 'ndjson');
  assert.equal(refused.status, 2);
  assert.match(refused.err, /choose --format csv or xlsx/);
});

test('all kinds are in a folder that only its owner can read, from one snapshot', async (context) => {
  const place = await filled(context);
  const folder = join(place.folder, 'all');
  assert.equal((await place.command('export', 'all', '--out', folder)).status, 0);
  assert.equal(modeOf(folder), 0o700);
  assert.deepEqual(
    readdirSync(folder),
    KINDS.map((kind) => `${kind}.csv`),
  );
  for (const name of readdirSync(folder)) assert.equal(modeOf(join(folder, name)), 0o600);
});

test('--cooperative exports what belongs to one, and refuses what is none', async (context) => {
  const place = await filled(context);
  const exported = async (kind: string, code: string) =>
    rowsIn((await place.command('export', kind, '--cooperative', code)).out);
  for (const [kind, first, second] of [
    ...[['cooperatives', 1, 1] as const, ['members', 2, 1] as const, ['production', 1, 0] as const],
    ...[['loans', 1, 1] as const, ['payments', 1, 0] as const, ['savings', 1, 0] as const],
  ]) {
    assert.equal(await exported(kind, 'a-1'), first, kind);
    assert.equal(await exported(kind, 'B-2'), second, kind);
  }
  const unknown = await place.command('export', 'members', '--cooperative', 'C-3');
  assert.deepEqual([unknown.status, unknown.err], [1, 'There is no cooperative with the code "C-3".\n']);
});

test('what cannot be meant is refused, and nothing is written', async (context) => {
  const place = await filled(context);
  const path = (name: string) => join(place.folder, name);
  await place.command('export', 'members', '--out', path('m.csv'));
  mkdirSync(path('folder'));
  const before = readdirSync(place.folder);
  for (const [args, message] of [
    [['people'], /^Known kinds: cooperatives, .*, savings, all\./],
    [['all'], /^Name a new folder for the files: export all --out FOLDER\./],
    [['all', '--out', path('folder')], /exists already\. Choose another --out\./],
    [['members', '--format', 'xlsx'], /^A workbook needs a file: --out members\.xlsx\./],
    [['members', '--format', 'pdf'], /Allowed choices are ndjson, csv, xlsx/],
    [['members', '--out', path('m.csv')], /m\.csv exists already\. Choose another --out\./],
    [['members', '--out', path('none/m.csv')], /^There is no folder .*none\./],
    [
      ['members', '--out', `${place.databaseFile}-journal`],
      /is a file of the registry\. Choose another --out\./,
    ],
    [['members', '--cooperative', 'Ä'], /^Expected the code of a cooperative\./],
  ] as const) {
    const { status, err, out } = await place.command('export', ...args);
    assert.deepEqual([status, out], [2, ''], err);
    assert.match(err, message);
  }
  assert.deepEqual(readdirSync(place.folder), before);
  const nowhere = await place.command('export', 'members', '--db', path('none.db'));
  assert.deepEqual([nowhere.status, existsSync(path('none.db'))], [2, false]);
});

test('a file or folder that the user may not reach is not called missing', (context) => {
  const folder = temporaryFolder(context);
  mkdirSync(join(folder, 'closed/inner'), { recursive: true });
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'closed'), 0);
  const isRoot = process.geteuid?.() === 0;
  const file = join(folder, 'closed/inner/m.csv');
  const denied = (path: string) => ({
    message: new RegExp(`^The user .* may not read ${path} \\(EACCES\\)\\.$`),
  });
  if (isRoot) process.seteuid?.('nobody');
  try {
    assert.throws(() => statOf(file), denied(file));
    assert.throws(() => assertFolderOf(file), denied(join(folder, 'closed/inner')));
    assert.throws(() => statOf(join(folder, 'none')), {
      message: `There is no file ${join(folder, 'none')}.`,
    });
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(join(folder, 'closed'), 0o700);
  }
});

test('import, restore and backup verify say what the user may not read', async (context) => {
  const place = await filled(context);
  const closed = join(place.folder, 'closed');
  const file = join(place.folder, 'members.csv');
  mkdirSync(join(closed, 'files'), { recursive: true });
  writeFileSync(file, '');
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) {
    for (const name of readdirSync(place.folder)) chownSync(join(place.folder, name), 65_534, 65_534);
    chownSync(place.folder, 65_534, 65_534);
    process.seteuid?.(65_534);
  }
  chmodSync(file, 0);
  chmodSync(closed, 0);
  const inside = join(closed, 'files');
  try {
    for (const [args, path] of [
      [['import', closed], closed],
      [['import', inside], inside],
      [['import', 'members', file], file],
      [['import', 'members', join(inside, 'm.csv')], join(inside, 'm.csv')],
      [['restore', inside, '--replace'], inside],
      [['restore', '--newest', closed, '--replace'], closed],
      [['backup', 'verify', inside], inside],
      [['backup', 'list', closed], closed],
    ] as const) {
      const { status, err } = await place.command(...args);
      assert.notEqual(status, 0);
      assert.match(
        err,
        new RegExp(`The user \\S+, as whom .* may not read ${path} \\(EACCES\\)\\.\n`),
        args.join(' '),
      );
    }
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(closed, 0o700);
  }
});

test('restore --newest names a newer backup that the user may not read, and no older one', async (context) => {
  const place = await filled(context);
  const backups = join(place.folder, 'backups');
  mkdirSync(backups);
  for (const _ of [1, 2, 3]) assert.equal((await place.command('backup', backups, '--keep', '9')).status, 0);
  const [oldest = '', middle = '', newest = ''] = readdirSync(backups).sort();
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) {
    chownSync(place.folder, 65_534, 65_534);
    for (const entry of [
      backups,
      ...readdirSync(backups, { recursive: true }).map((name) => join(backups, `${name}`)),
    ])
      chownSync(entry, 65_534, 65_534);
    for (const name of readdirSync(place.folder).filter((entry) => entry.startsWith('registry')))
      chownSync(join(place.folder, name), 65_534, 65_534);
    process.seteuid?.(65_534);
  }
  chmodSync(join(backups, oldest), 0);
  // Its files can be opened, but not listed.
  chmodSync(join(backups, newest), 0o300);
  try {
    const restored = await place.command('restore', '--newest', backups, '--replace');
    assert.equal(restored.status, 0, restored.err);
    assert.ok(restored.out.includes(middle), restored.out);
    const [first = '', ...others] = restored.err.split('\n');
    assert.match(first, new RegExp(`^Passed over ${newest}: The user .* may not read `));
    assert.doesNotMatch(others.join(' '), /Passed over/);
  } finally {
    if (isRoot) process.seteuid?.(0);
    for (const name of [oldest, newest]) chmodSync(join(backups, name), 0o700);
  }
});

test('a registry, or a backup, that the user may not read is reported, not passed over', async (context) => {
  const place = await filled(context);
  const backups = join(place.folder, 'backups');
  mkdirSync(backups);
  const made = await place.command('backup', backups, '--keep', '9');
  assert.equal(made.status, 0, made.err);
  const [name = ''] = readdirSync(backups);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) {
    for (const entry of [backups, place.folder]) chownSync(entry, 65_534, 65_534);
    process.seteuid?.(65_534);
  }
  if (!isRoot) chmodSync(join(backups, name), 0);
  try {
    const listed = await place.command('backup', 'list', backups);
    assert.match(listed.err, new RegExp(`^Passed over ${name}: The user .* may not read .*${name} `));
    const restored = await place.command('restore', '--newest', backups, '--replace');
    assert.match(
      restored.err,
      new RegExp(`There is no sound backup in .* ${name}: The user .* may not read`),
    );
    if (isRoot) process.seteuid?.(0);
    chmodSync(place.folder, 0);
    if (isRoot) process.seteuid?.(65_533);
    for (const command of ['check', 'status', 'summarize']) {
      const { status, err } = await place.command(command);
      assert.match(err, /registry\.db cannot be opened: EACCES: permission denied/, command);
      assert.equal(status, 2, command);
    }
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(place.folder, 0o700);
    chmodSync(join(backups, name), 0o700);
  }
});

test('a file that cannot be completed is not left behind', async (context) => {
  const path = join(temporaryFolder(context), 'm.csv');
  async function* parts() {
    yield Buffer.from('a,b\n');
    assert.ok(existsSync(`${path}.part`));
    throw new Error('The disk is gone.');
  }
  await assert.rejects(writePrivately(path, parts()), /The disk is gone/);
  assert.deepEqual([existsSync(path), existsSync(`${path}.part`)], [false, false]);
});

test('of two exports to one path, the first to begin fails, and the file is that of the other', async (context) => {
  const path = join(temporaryFolder(context), 'm.csv');
  const others = new EventEmitter();
  async function* second() {
    yield Buffer.from('second 1\n');
    others.emit('begun');
    await once(others, 'ended');
    yield Buffer.from('second 2\n');
  }
  let written: Promise<void> | undefined;
  async function* first() {
    yield Buffer.from('first 1\n');
    written = writePrivately(path, second());
    await once(others, 'begun');
    yield Buffer.from('first 2\n');
  }
  await assert.rejects(writePrivately(path, first()), { message: `${path} cannot be written (EEXIST).` });
  assert.ok(!existsSync(path));
  others.emit('ended');
  await written;
  assert.equal(readFileSync(path, 'utf8'), 'second 1\nsecond 2\n');
});

test('a workbook takes no more rows than people can work with', () => {
  const snapshot = { count: () => 100_001 };
  assert.throws(() => assertFits(snapshot, { kind: 'members', format: 'xlsx' }, { visible: null }), {
    exitCode: 1,
    message: /^These are 100001 members, and a workbook takes 100000\. Choose one cooperative/,
  });
});

test('an erased person is in no export, nor are entries that no file could name', async (context) => {
  const place = await filled(context);
  const folder = join(place.folder, 'all');
  const erased = await place.command('persons', 'erase', nid(1), '--reason', 'asked for it', '--yes');
  assert.equal(erased.status, 0, erased.err);
  await place.command('export', 'all', '--out', folder);
  for (const [kind, rows] of [
    ...[['cooperatives', 2] as const, ['members', 2] as const, ['production', 0] as const],
    ...[['loans', 1] as const, ['payments', 0] as const, ['savings', 0] as const],
  ])
    assert.equal(rowsIn(readFileSync(join(folder, `${kind}.csv`), 'utf8')), rows, kind);
  const all = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  for (const text of [nid(1), 'Person 1', 'M-1', '(erased)']) assert.ok(!all.join('').includes(text), text);
});
