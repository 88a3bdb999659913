/** Workbooks to fill in: what `import template` writes, `import` reads (docs/importing.md#a-template). */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openFile as openImported } from '../../src/import/files/open-file.ts';
import { IMPORT_COLUMNS } from '../../src/import/table/columns.ts';
import { recogniseHeadings, scoreHeader } from '../../src/import/table/header.ts';
import { IMPORT_KINDS, type ImportKind } from '../../src/registry/file-columns.ts';
import { LANGUAGES, type Language } from '../../src/values/language.ts';
import { importPlace } from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

async function rowsOf(path: string, kind: ImportKind) {
  const source = await openImported(path, { scoreHeader: (cells) => scoreHeader(kind, cells) });
  const rows = [];
  try {
    for await (const { records } of source.read()) rows.push(...records);
    return { rows, sheets: source.sheets ?? [] };
  } finally {
    await source.close();
  }
}

for (const language of quickOrLong<readonly Language[]>(['en'], LANGUAGES))
  test(`the templates in ${language} are imported one after the other, without their invented rows`, async (t) => {
    const place = importPlace(t);
    for (const kind of IMPORT_KINDS) {
      const file = join(place.folder, `${kind}.xlsx`);
      const written = await place.run('template', kind, '--out', file, '--lang', language);
      assert.equal(written.status, 0, written.err);
      const empty = await place.run(kind, file);
      assert.equal(empty.status, 0, `${kind}: ${empty.err}`);
      assert.match(empty.out, /xlsx: 0 new, 0 changed, 0 unchanged/);
      assert.match(empty.err, /note: example of the template, left out: line 3\n/);
      assert.match((await place.run(kind, file, '--strict')).err, /this is the example of the template\./);
      const [, headings, example] = (await rowsOf(file, kind)).rows.map(({ cells }) => cells);
      const filled = example?.map((cell) => cell.replace(/Example|Abahuje/, 'Filled In'));
      const csv = [headings, example, filled].map((cells) => cells?.join(',')).join('\n');
      const imported = await place.load(kind, csv);
      assert.equal(imported.status, 0, `${kind}: ${imported.err}`);
      assert.match(imported.out, /csv: 1 new, 0 changed, 0 unchanged/);
      assert.match(imported.err, /left out: line 2\n/);
      assert.doesNotMatch(imported.err, /ignored|warning/);
    }
    assert.deepEqual(place.query('SELECT full_name, gender, status, mobile FROM members'), [
      { full_name: 'First Filled In', gender: 'MALE', status: 'active', mobile: '+250781234567' },
    ]);
  });

test('under the names of columns, what equals the example is a row like any other', async (t) => {
  const place = importPlace(t);
  const row = 'KOAKAMA-HUY,KOAKAMA Abahuje Huye,agriculture,South,Huye,2015-03-31,active';
  const names = IMPORT_COLUMNS.cooperatives.map(({ name }) => name).join();
  assert.match((await place.load('cooperatives', `${names}\n${row}\n`)).out, /1 new/);
});

test('a template heads its columns in the language, and marks those that are required', async (t) => {
  const place = importPlace(t);
  const expected = {
    en: ['Code of the cooperative *', 'National ID *', 'Member code *', 'Name *', 'Gender'],
    fr: ['Code de la coopérative *', 'Numéro d’identité nationale *', 'Code du membre *', 'Nom *', 'Sexe'],
  };
  for (const language of ['en', 'fr'] as const) {
    const file = join(place.folder, `${language}.xlsx`);
    await place.run('template', 'members', '--out', file, '--lang', language);
    const { rows, sheets } = await rowsOf(file, 'members');
    const fold = (text: string) => text.replaceAll("'", '’');
    assert.deepEqual(rows[1]?.cells.slice(0, 5).map(fold), expected[language]);
    assert.equal(sheets.length, 2);
  }
});

test('each template has every column that its kind of file needs, and no other kind of heading', async (t) => {
  const place = importPlace(t);
  for (const kind of IMPORT_KINDS) {
    const file = join(place.folder, `${kind}.xlsx`);
    await place.run('template', kind, '--out', file, '--lang', 'rw');
    const { rows } = await rowsOf(file, kind);
    const columns = recogniseHeadings(kind, rows[1]?.cells ?? []).map(({ column }) => column);
    const needed = IMPORT_COLUMNS[kind].filter(({ isRequired }) => isRequired).map(({ name }) => name);
    assert.deepEqual(
      needed.filter((name) => !columns.includes(name)),
      [],
      kind,
    );
    assert.ok(!columns.includes(undefined), kind);
    // The rows that are formatted for what will be written are empty.
    assert.equal(rows.length, 3, kind);
  }
});

test('a template takes the place of no file, and says so', async (t) => {
  const place = importPlace(t);
  const file = place.write('members.xlsx', 'mine');
  const refused = await place.run('template', 'members', '--out', file);
  assert.equal(refused.status, 2);
  assert.match(refused.err, /exists already\. Choose another --out\./);
  const unknown = await place.run('template', 'people', '--out', join(place.folder, 'new.xlsx'));
  assert.equal(unknown.status, 2);
  assert.ok(!existsSync(join(place.folder, 'new.xlsx')));
});
