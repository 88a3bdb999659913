/** The rejects file: where it may be, and what stops its writing (docs/import-reference.md#the-command). */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { openFile } from '../../src/import/files/open-file.ts';
import type { ImportFault } from '../../src/import/files/records.ts';
import { writeRejects } from '../../src/import/rejects-file.ts';
import { temporaryFolder } from '../support/app.ts';
import { MEMBERS_HEADER, member, members, nid, startedPlace } from '../support/importing.ts';

/** That of FAULTY. */
const HEADER = {
  line: 1,
  headings: [...MEMBERS_HEADER.split(','), 'gender'].map((text) => ({ text, column: text })),
};
const CHOOSE = 'Choose another file for --rejects.';
const FAULTY = `${MEMBERS_HEADER},gender\n${member(10)},X\n`;

test('rejects at a place that cannot be written are wrong usage, before anything is read or staged', async (context) => {
  const place = await startedPlace(context);
  const path = place.write('members.csv', FAULTY);
  const before = readdirSync(place.folder);
  const missing = join(place.folder, 'missing');
  for (const [rejects, message] of [
    [place.folder, `${place.folder} is not a file. Choose another one for --rejects.\n`],
    [join(missing, 'rejects.csv'), `There is no folder ${missing}.\n`],
    [join(path, 'rejects.csv'), /cannot be written \(ENOTDIR\)\. Choose another file for --rejects\.\n$/],
    // Longer than a file system takes.
    [join(place.folder, 'r'.repeat(300)), /cannot be written \(ENAMETOOLONG\)\. Choose another file/],
  ] as const) {
    const { status, out, err } = await place.run('members', path, '--rejects', rejects);
    assert.deepEqual([status, out], [2, '']);
    if (typeof message === 'string') assert.equal(err, message);
    else assert.match(err, message);
    assert.deepEqual(readdirSync(place.folder), before);
  }
});

test('a file of the registry is refused for the rejects, however it is spelled, and stays as it is', async (context) => {
  const place = await startedPlace(context);
  const keys = place.databaseFile.replace('.db', '.keys.db');
  writeFileSync(keys, '');
  const link = join(place.folder, 'link.csv');
  symlinkSync(place.databaseFile, link);
  symlinkSync(place.folder, join(place.folder, 'same'));
  const before = readFileSync(place.databaseFile);
  const path = place.write('members.csv', FAULTY);
  for (const rejects of [
    place.databaseFile,
    relative('.', place.databaseFile),
    join(place.folder, 'same', 'registry.db'),
    link,
    keys,
    ...[place.databaseFile, keys].flatMap((file) => [`${file}-wal`, `${file}-shm`, `${file}-journal`]),
    `${place.databaseFile}.importing-1-abc`,
  ]) {
    for (const more of [[], ['--dry-run']]) {
      const { status, out, err } = await place.run('members', path, '--rejects', rejects, ...more);
      assert.deepEqual(
        [status, out, err],
        [2, '', `${rejects} is a file of the registry. Choose another file for --rejects.\n`],
      );
    }
  }
  assert.ok(readFileSync(place.databaseFile).equals(before));
  assert.equal(place.value('SELECT count(*) FROM members'), 3);
  assert.deepEqual(place.leftovers(), []);
});

test('a database that is a symbolic link owns the file behind it, and a new one its own name', async (context) => {
  const place = await startedPlace(context);
  const path = place.write('members.csv', FAULTY);
  const named = join(place.folder, 'named.db');
  symlinkSync(place.databaseFile, named);
  const fresh = join(place.folder, 'fresh.db');
  for (const [db, rejects] of [
    [named, `${place.databaseFile}-wal`],
    [named, place.databaseFile],
    [fresh, fresh],
  ] as const) {
    const { status, err } = await place.run('members', path, '--db', db, '--create', '--rejects', rejects);
    assert.deepEqual([status, /is a file of the registry/.test(err)], [2, true], rejects);
  }
  assert.ok(!existsSync(fresh));
});

test('only an earlier rejects file or an empty file is replaced', async (context) => {
  const place = await startedPlace(context);
  const path = place.write('members.csv', FAULTY);
  for (const content of [
    'a letter\n',
    'line,column,reason\n',
    'code,registry_faults_of_mine\n',
    'code,"registry_faults\n',
    '\n',
  ]) {
    const rejects = place.write('other.csv', content);
    const { status, out, err } = await place.run('members', path, '--rejects', rejects);
    const refusal = `${rejects} already exists and is not a rejects file. ${CHOOSE}\n`;
    assert.deepEqual([status, out, err], [2, '', refusal]);
    assert.equal(readFileSync(rejects, 'utf8'), content);
  }
  const empty = place.write('other.csv', '');
  // The second time it is what the first one has written.
  for (let i = 0; i < 2; i++) {
    assert.equal((await place.run('members', path, '--rejects', empty)).status, 1);
    assert.match(readFileSync(empty, 'utf8'), /^cooperative_code,.*,gender,registry_faults\n.*,X,"?gender: /);
  }
});

test('a file that another import has begun meanwhile at the same path is neither removed nor claimed', async (context) => {
  const place = await startedPlace(context);
  const [sound, faulty] = [place.write('sound.csv', members(member(10))), place.write('bad.csv', FAULTY)];
  for (const option of ['--rejects', '--changes']) {
    const side = join(place.folder, `side${option}.csv`);
    for (const path of option === '--rejects' ? [sound, faulty] : [faulty]) {
      rmSync(side, { force: true });
      const first = place.run('members', path, option, side);
      while (!existsSync(side)) await new Promise(setImmediate);
      rmSync(side);
      writeFileSync(side, 'of the other\n');
      const { status, err } = await first;
      assert.equal(readFileSync(side, 'utf8'), 'of the other\n');
      assert.equal(status, path === sound ? 0 : 1);
      if (path === faulty && option === '--rejects')
        assert.match(err, /The rejects cannot be written \(EEXIST\)\. Nothing of this file was imported/);
    }
  }
});

test('a file that is refused for its header, or for all its rows, leaves no rejects', async (context) => {
  const place = await startedPlace(context);
  const zeros = Array.from(
    { length: 20 },
    (_, i) => `A-1,119858900${String(i).padStart(2, '0')}01040,Z-${i},P`,
  );
  for (const content of ['%PDF-1.7\n', 'code\nA-1\n', members(...zeros)]) {
    const rejects = place.write('rejects.csv', 'code,registry_faults\n');
    const { status, err } = await place.load('members', content, '--rejects', rejects);
    assert.deepEqual([status, existsSync(rejects)], [1, false], err);
    assert.doesNotMatch(err, /refused rows/);
  }
});

test('without a refused row there is no rejects file, and an earlier one is removed', async (context) => {
  const place = await startedPlace(context);
  const rejects = place.write('rejects.csv', 'code;registry_faults\nA;Of an earlier run.\n');
  const { status } = await place.load('members', members(member(10)), '--rejects', rejects);
  assert.deepEqual([status, existsSync(rejects)], [0, false]);
});

test('a title row that --strict refuses is not among the rejects', async (context) => {
  const place = await startedPlace(context);
  const rejects = join(place.folder, 'rejects.csv');
  const { err } = await place.load('members', `Title\n${FAULTY}`, '--strict', '--rejects', rejects);
  assert.match(err, /line 1: Refused with --strict: this line is above the header/);
  assert.match(readFileSync(rejects, 'utf8'), /^cooperative_code,.*,registry_faults\nA-1,.*,X,.*\n$/);
});

test('each file of a folder has rejects of its own, which the screen names', async (context) => {
  const place = await startedPlace(context);
  const folder = join(place.folder, 'incoming');
  mkdirSync(folder);
  writeFileSync(join(folder, 'members-1.csv'), FAULTY);
  writeFileSync(join(folder, 'members-2.csv'), members(member(15)));
  writeFileSync(join(folder, 'members-3.csv'), FAULTY.replace('M-10', 'M-20').replaceAll(',', ';'));
  const rejects = join(place.folder, 'rejects.of.csv');
  const second = place.write('rejects.of-2.csv', '"code";registry_faults\r\nold');
  const third = place.write('rejects.of-3.csv', '');
  const { err } = await place.run(folder, '--skip-invalid', '--rejects', rejects);
  assert.match(readFileSync(rejects, 'utf8'), /^cooperative_code,.*,registry_faults\nA-1,.*,M-10,/);
  assert.match(readFileSync(second, 'utf8'), /^cooperative_code;.*;registry_faults\nA-1;.*;M-20;/);
  assert.equal(existsSync(third), false);
  assert.ok(err.includes(`The refused rows of members-1.csv are in ${rejects}.\n`), err);
  assert.ok(err.includes(`The refused rows of members-3.csv are in ${second}.\n`), err);

  writeFileSync(second, 'a letter');
  const refused = await place.run(folder, '--skip-invalid', '--rejects', rejects);
  const message = `${second} already exists and is not a rejects file. ${CHOOSE}\n`;
  assert.deepEqual([refused.status, refused.err.split('\n').slice(-2).join('\n')], [2, message]);
  assert.equal(readFileSync(second, 'utf8'), 'a letter');
});

test('of a file that cannot be read to its end the rows before are among the rejects', async (context) => {
  const place = await startedPlace(context);
  const rejects = join(place.folder, 'rejects.csv');
  await place.load('members', `${FAULTY}A-1,${nid(11)},M-11,"Keza,F\n`, '--rejects', rejects);
  const rows = parse(readFileSync(rejects)) as string[][];
  assert.deepEqual(
    rows.map((cells) => cells[2]),
    ['member_code', 'M-10'],
  );
});

test('the rejects of a file that is deleted while it is checked still hold its rows', async (context) => {
  const place = await startedPlace(context);
  const path = place.write('members.csv', FAULTY);
  const source = await openFile(path, { scoreHeader: () => 0 });
  context.after(() => source.close());
  rmSync(path);
  const out = await open(join(place.folder, 'rejects.csv'), 'wx');
  await writeRejects(out, faultsOn(2), source, HEADER);
  await out.close();
  assert.match(readFileSync(join(place.folder, 'rejects.csv'), 'utf8'), /M-10/);
});

function* faultsOn(...lines: number[]): Generator<ImportFault> {
  for (const line of lines) yield { line, column: 'gender', message: 'Wrong.', refuses: 'row' };
}

async function manyRows(context: TestContext) {
  const path = join(temporaryFolder(context), 'members.csv');
  const rows = Array.from({ length: 30_000 }, (_, i) => `${member(i)},X\n`);
  writeFileSync(path, `${MEMBERS_HEADER},gender\n${rows.join('')}`);
  const source = await openFile(path, { scoreHeader: () => 0 });
  context.after(() => source.close());
  return { source, lines: rows.map((_, i) => i + 2) };
}

test('a full disk is an error of the rejects, not a crash', async (context) => {
  const { source, lines } = await manyRows(context);
  const full = await open('/dev/full', 'w');
  context.after(() => full.close());
  await assert.rejects(writeRejects(full, faultsOn(...lines), source, HEADER), { code: 'ENOSPC' });
});

test('the next rows are read only after the rejects before them were written', async (context) => {
  const { source, lines } = await manyRows(context);
  let written = 0;
  let reading = 0;
  const slow = {
    async writeFile(bytes: unknown) {
      const before = reading;
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(reading, before, 'It read on while a write was under way.');
      written += String(bytes).split('\n').length - 1;
    },
  };
  const watched = {
    ...source,
    async *read() {
      for await (const batch of source.read()) {
        reading++;
        yield batch;
      }
    },
  };
  await writeRejects(slow, faultsOn(...lines), watched, HEADER);
  assert.equal(written, 30_001);
  assert.ok(reading > 3);
});

test('where lines of faults are not shown, the screen says where they are, or how to have them written', async (context) => {
  const place = await startedPlace(context);
  const rows = Array.from({ length: 23 }, (_, i) => `${member(i)},too,many\n`).join('');
  const content = `${MEMBERS_HEADER}\n${rows}`;
  const rejects = join(place.folder, 'refused.csv');
  assert.match(
    (await place.load('members', content)).err,
    /^members\.csv: --rejects FILE writes all rows with faults\.$/m,
  );
  const { err } = await place.load('members', content, '--rejects', rejects);
  assert.ok(err.includes('\nmembers.csv: the rejects have all rows with faults.\n'), err);
  assert.ok(err.includes(`The refused rows of members.csv are in ${rejects}.\n`), err);
  assert.equal(readFileSync(rejects, 'utf8').trimEnd().split('\n').length, 24);
});
