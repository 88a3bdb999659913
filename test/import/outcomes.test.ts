/** What becomes of each file is reported, whatever goes wrong (docs/import-reference.md#the-command). */
import assert from 'node:assert/strict';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ImportObserver, importFiles, listImportFiles } from '../../src/import/import-files.ts';
import type { FileReport } from '../../src/import/import-report.ts';
import { openImportSession } from '../../src/import/staging/import-session.ts';
import { command } from '../support/command.ts';
import {
  COOPERATIVES,
  type ImportPlace,
  importOptions,
  importPlace,
  incoming,
  insertMemberSql,
  MEMBERS_HEADER,
  member,
  members,
  nid,
  startedPlace,
} from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';
import { storageAt } from '../support/storage.ts';

const FILES = {
  'cooperatives.csv': COOPERATIVES,
  'members-1.csv': members(member(1)),
  'members-2.csv': members(member(2)),
  'members-3.csv': members(member(3)),
};

/** Runs a statement as another process does. */
function execute(place: ImportPlace, sql: string): void {
  const db = openFile(place.databaseFile);
  db.exec(sql);
  db.close();
}

/** Runs the command, and does something when a text appears on the screen. */
async function runUntil(place: ImportPlace, args: readonly string[], text: string, then: () => void) {
  const result = { status: -1, out: '', err: '' };
  let isDone = false;
  const look = () => {
    if (isDone || !(result.out + result.err).includes(text)) return;
    isDone = true;
    then();
  };
  const print = (stream: 'out' | 'err') => (written: string) => {
    result[stream] += written;
    look();
  };
  const env = { REGISTRY_DB: place.databaseFile };
  const printing = { out: print('out'), err: print('err') };
  result.status = (await command(['import', ...args], env, place.clock, printing)).status;
  assert.ok(isDone, `It never wrote "${text}": ${result.err}`);
  return result;
}

/** A fault that is left out, so that something is printed between the check of the file and its apply. */
const WITH_FAULT = `${MEMBERS_HEADER},gender\n${member(2)},F\n${member(7)},X\n`;
const takeCode = (place: ImportPlace) => () => execute(place, insertMemberSql(nid(500), 'M-2'));

test('an apply that fails says which files are imported, which failed and why, which were not reached', async (context) => {
  const place = importPlace(context);
  const folder = incoming(place, { ...FILES, 'members-2.csv': WITH_FAULT });
  const fault = 'members-2.csv line 3, column gender';
  const { status, out, err } = await runUntil(place, [folder, '--skip-invalid'], fault, takeCode(place));
  assert.equal(status, 1);
  assert.match(
    out,
    /^cooperatives\.csv: 2 new.*\n.*undo 1\nmembers-1\.csv: 1 new.*\n.*undo 2\nmembers-2\.csv: failed/m,
  );
  assert.match(err, /^members-2\.csv: The registry was changed while the file was checked/m);
  assert.match(err, /^Imported: cooperatives\.csv, members-1\.csv\.\nNot reached: members-3\.csv\.$/m);
  assert.doesNotMatch(out + err, /Nothing was imported/);
  assert.deepEqual(place.query('SELECT member_code FROM members ORDER BY id'), [
    { member_code: 'M-1' },
    { member_code: 'M-2' },
  ]);
});

test('with --json the document reports the same for every file', async (context) => {
  const place = importPlace(context);
  const folder = incoming(place, { ...FILES, 'members-2.csv': WITH_FAULT });
  rmSync(join(folder, 'members-2.csv'));
  symlinkSync(join(folder, 'gone'), join(folder, 'members-2.csv'));
  const { status, out } = await place.run(folder, '--json');
  assert.equal(status, 1);
  const { files } = JSON.parse(out) as { files: Record<string, unknown>[] };
  assert.deepEqual(
    files.map(({ outcome, created, imported, message }) => [outcome, created, imported, message]),
    [
      ['imported', 2, true, null],
      ['imported', 1, true, null],
      ['failed', 0, false, 'The file cannot be read (ENOENT).'],
      ['not_reached', 0, false, null],
    ],
  );
});

test('an unexpected error is reported with the outcome of every file', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', COOPERATIVES);
  execute(
    place,
    `CREATE TRIGGER failing BEFORE INSERT ON members WHEN new.member_code = 'M-2'
     BEGIN SELECT RAISE(ABORT, 'broken'); END`,
  );
  for (const args of [['--json'], []]) {
    let out = '';
    const folder = join(place.folder, 'incoming');
    if (args.length > 0) incoming(place, FILES);
    const print = (text: string) => {
      out += text;
    };
    const env = { REGISTRY_DB: place.databaseFile };
    const running = command(['import', folder, ...args], env, place.clock, { out: print, err: print });
    await assert.rejects(running, { message: 'broken' });
    const expected = ['imported', 'imported', 'failed', 'not_reached'];
    if (args.length > 0)
      assert.deepEqual(
        JSON.parse(out).files.map(({ outcome }: FileReport) => outcome),
        expected,
      );
    else assert.match(out, /^Imported: cooperatives\.csv, members-1\.csv\.\nNot reached: members-3\.csv\.$/m);
  }
  assert.deepEqual(place.leftovers(), []);
});

/** Imports a folder without the command. */
async function importFolder(place: ImportPlace, folder: string, observer: ImportObserver) {
  const session = openImportSession(storageAt(place.databaseFile));
  try {
    return await importFiles(session, listImportFiles(folder).files, importOptions(place), observer);
  } finally {
    await session.close();
  }
}

test('a file that is deleted between its check and its apply is imported', async (context) => {
  const place = importPlace(context);
  const folder = incoming(place, FILES);
  const path = join(folder, 'members-1.csv');
  assert.equal((await place.run(folder)).status, 0);
  writeFileSync(path, members(`A-1,${nid(1)},M-1,Renamed`));
  const reports = await importFolder(place, folder, { checked: ({ file }) => rmSync(file.path) });
  assert.deepEqual(
    reports.map(({ outcome, changes }) => [outcome, changes.changed]),
    [
      ['imported', 0],
      ['imported', 1],
      ['imported', 0],
      ['imported', 0],
    ],
  );
});

test('a file that is deleted before it is read fails, and the ones before it stay imported', async (context) => {
  const place = importPlace(context);
  const folder = incoming(place, FILES);
  const gone = 'members-2.csv';
  const { status, out, err } = await runUntil(place, [folder], 'members-1.csv: 1 new', () =>
    rmSync(join(folder, gone)),
  );
  assert.equal(status, 1);
  assert.match(out, /^members-2\.csv: failed, nothing of it was imported$/m);
  assert.match(err, /^members-2\.csv: The file cannot be read \(ENOENT\)\.$/m);
  assert.match(err, /^Imported: cooperatives\.csv, members-1\.csv\.$/m);
});

test('a file that is deleted before it is written is imported, and the command names it', async (context) => {
  const place = importPlace(context);
  const folder = incoming(place, { ...FILES, 'members-2.csv': WITH_FAULT });
  const fault = 'members-2.csv line 3, column gender';
  const { out, err } = await runUntil(place, [folder, '--skip-invalid'], fault, () => {
    for (const name of ['cooperatives.csv', 'members-2.csv']) rmSync(join(folder, name));
  });
  assert.match(out, /^members-2\.csv: 1 new, 0 changed, 0 unchanged, 1 refused/m);
  assert.match(out, /^members-3\.csv: 1 new/m);
  assert.doesNotMatch(err, /ENOENT/);
});

test('a dry run counts the rows that would be new, changed and unchanged, and writes none of them', async (context) => {
  const place = await startedPlace(context);
  const content = members(member(1), `A-1,${nid(2)},M-2,Renamed`, member(3), member(10), member(11));
  const shown = await place.load('members', content, '--dry-run');
  assert.equal(shown.status, 0);
  assert.match(
    shown.out,
    /^members\.csv: 5 rows checked: 2 new, 1 changed, 2 unchanged; nothing was written$/m,
  );
  const [file] = JSON.parse((await place.load('members', content, '--dry-run', '--json')).out).files;
  assert.deepEqual(
    [file.outcome, file.imported, file.created, file.changed, file.unchanged],
    ['accepted', false, 2, 1, 2],
  );
  assert.equal(place.value("SELECT count(*) FROM members WHERE full_name = 'Renamed'"), 0);
  const [done] = JSON.parse((await place.load('members', content, '--json')).out).files;
  assert.deepEqual([done.created, done.changed, done.unchanged], [2, 1, 2]);
});

test('a dry run of a folder says which files are accepted when it stops', async (context) => {
  const place = importPlace(context);
  const folder = incoming(place, { ...FILES, 'members-2.csv': members(member(2, 'Z-9')) });
  const { status, err } = await place.run(folder, '--dry-run');
  assert.equal(status, 1);
  assert.match(err, /^Accepted: cooperatives\.csv, members-1\.csv\.\nNot reached: members-3\.csv\.$/m);
});

test('the document of --json is written while the faults are read, so that none of them is kept', async (context) => {
  const place = await startedPlace(context);
  const rows = Array.from({ length: 3_000 }, (_, i) => `${member(1_000 + i)},X`);
  const path = place.write('members.csv', `${MEMBERS_HEADER},gender\n${rows.join('\n')}\n`);
  const written: string[] = [];
  const out = (text: string) => void written.push(text);
  const env = { REGISTRY_DB: place.databaseFile };
  const { status } = await command(['import', 'members', path, '--json'], env, place.clock, { out });
  assert.equal(status, 1);
  assert.ok(Math.max(...written.map((text) => text.length)) < 70_000);
  assert.ok(written.length > 2);
  const [file] = JSON.parse(written.join('')).files;
  assert.deepEqual([file.errors.length, file.refused_rows, file.outcome], [3_000, 3_000, 'refused']);
});
