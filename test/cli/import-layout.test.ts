/** How an import reads its file: --map, --cooperative, --sheet, --strict (docs/import-reference.md#maps). */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { COOPERATIVES, importPlace, incoming, members } from '../support/importing.ts';

async function placeWithCooperatives(context: TestContext) {
  const place = importPlace(context);
  await place.load('cooperatives', COOPERATIVES);
  return place;
}

test('a wrong map ends the command with status 2 and every fault, each with its path, and reads no file', async (t) => {
  const place = importPlace(t);
  const map = place.write('map.json', '{"kind":"members","columns":{"Izina":"fullname"},"dates":"ddmm"}');
  const result = await place.load('members', members(), '--map', map);
  assert.deepEqual(result, {
    status: 2,
    out: '',
    err:
      `${map}: columns.Izina: Unknown column "fullname". Did you mean "full_name"?\n` +
      `${map}: dates: Unknown value "ddmm". Known: dmy, mdy, ymd.\n`,
  });
});

test('a map of another kind is refused', async (t) => {
  const place = importPlace(t);
  const map = place.write('map.json', '{"kind":"loans"}');
  const { status, err } = await place.load('members', members(), '--map', map);
  assert.deepEqual([status, err], [2, `${map}: kind: This map is for loans, not for members.\n`]);
});

test('a map that cannot be read ends the command with status 2', async (t) => {
  const place = importPlace(t);
  mkdirSync(join(place.folder, 'folder'));
  const cases: [path: string, reason: string][] = [
    [
      place.write('latin.json', Buffer.from('{"kind":"members","columns":{"Pr\xe9nom":null}}', 'latin1')),
      'is not UTF-8',
    ],
    [
      place.write('bad.json', '{"kind":"members"'),
      'The document is not JSON: a closing brace is expected at line 1',
    ],
    [place.write('large.json', ' '.repeat(1024 * 1024 + 1)), 'is too large for a map'],
    [join(place.folder, 'folder'), 'cannot be read (EISDIR)'],
    [join(place.folder, 'missing.json'), 'There is no file'],
  ];
  for (const [path, reason] of cases) {
    const { status, out, err } = await place.load('members', members(), '--map', path);
    assert.deepEqual([status, out, err.includes(reason)], [2, '', true], err);
  }
});

test('what is said of one file is refused with a folder', async (t) => {
  const place = importPlace(t);
  const folder = incoming(place, { 'cooperatives.csv': COOPERATIVES });
  const map = place.write('map.json', '{"kind":"cooperatives"}');
  for (const option of [
    ['--map', map],
    ['--cooperative', 'A-1'],
    ['--sheet', '2026'],
    ['--file-name', 'members.csv'],
  ]) {
    const { status, err } = await place.run(folder, ...option);
    assert.equal(status, 2);
    assert.equal(
      err,
      '--map, --cooperative, --sheet and --file-name are for one file. Usage: import <kind> FILE.\n',
    );
  }
});

test('--cooperative must be a code, and is refused for cooperatives', async (t) => {
  const place = await placeWithCooperatives(t);
  const wrong = await place.load('members', members(), '--cooperative', 'a 1');
  assert.equal(wrong.status, 2);
  assert.match(wrong.err, /Expected the code of a cooperative\. Use only the characters A-Z, 0-9 and "-"\./);
  const useless = await place.load('cooperatives', COOPERATIVES, '--cooperative', 'A-1');
  assert.deepEqual(
    [useless.status, useless.err],
    [2, 'A file of cooperatives has no --cooperative: its column is code.\n'],
  );
});

const FRENCH = 'Code membre,Qui,CNI,Cellule\nM-1,Uwera Aline,1198589000001042,Kabeza\n';
const FRENCH_MAP = { kind: 'members', columns: { QUI: 'full_name', 'Code membre': 'member_code' } };

test('a map names the columns of the file, and gives those that it lacks', async (t) => {
  const place = await placeWithCooperatives(t);
  const document = { ...FRENCH_MAP, constants: { cooperative_code: 'A-1', status: 'suspended' } };
  const map = place.write('map.json', `\ufeff${JSON.stringify(document)}`);
  const { status, err } = await place.load('members', FRENCH, '--map', map);
  assert.equal(status, 0, err);
  assert.deepEqual(place.query('SELECT cooperative_id, member_code, full_name, status FROM members'), [
    { cooperative_id: 1, member_code: 'M-1', full_name: 'Uwera Aline', status: 'suspended' },
  ]);
});

test('--cooperative gives the cooperative, and wins over the map, which may leave it open', async (t) => {
  const place = await placeWithCooperatives(t);
  for (const code of ['B-2', null]) {
    const document = { ...FRENCH_MAP, constants: { cooperative_code: code } };
    const map = place.write('map.json', JSON.stringify(document));
    const { status, err } = await place.load('members', FRENCH, '--map', map, '--cooperative', 'A-1');
    assert.equal(status, 0, err);
    assert.deepEqual(place.query('SELECT DISTINCT cooperative_id AS id FROM members'), [{ id: 1 }]);
  }
  const english = 'member_code,full_name,identity_card\nM-2,Mugabo Eric,1198589000002042\n';
  assert.equal((await place.load('members', english, '--cooperative', 'A-1')).status, 0);
  assert.equal(place.value('SELECT count(*) FROM members WHERE cooperative_id = 1'), 2);
});

test('--strict refuses a heading that only the dictionary knows, and a map makes it known', async (t) => {
  const place = await placeWithCooperatives(t);
  const map = place.write(
    'map.json',
    JSON.stringify({
      ...FRENCH_MAP,
      columns: { ...FRENCH_MAP.columns, CNI: 'identity_card', Cellule: null },
    }),
  );
  const options = ['--map', map, '--cooperative', 'A-1', '--strict'];
  const lenient = place.write('lenient.json', JSON.stringify(FRENCH_MAP));
  const refused = await place.load('members', FRENCH, '--map', lenient, ...options.slice(2));
  assert.equal(refused.status, 1);
  assert.match(refused.err, /column identity_card: Refused with --strict/);
  const { status, err } = await place.load('members', FRENCH, ...options);
  assert.equal(status, 0, err);
});
