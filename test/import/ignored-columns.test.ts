/** Columns without a place are named before anybody agrees (docs/import-reference.md#notes). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importPlace, nid, startedPlace } from '../support/importing.ts';

const HEADER = 'cooperative_code,identity_card,member_code,full_name';
const file = (more: string, cells: string): string =>
  `${HEADER},${more}\nA-1,${nid(9)},M-9,Person 9,${cells}\n`;

/** What is said of them, on one line. */
const saidOf = (err: string): string | undefined =>
  /note: ignored columns: ([\s\S]*?)\n(?=\S)/.exec(`${err}x`)?.[1]?.replace(/\n\s+/g, ' ');

test('each column that is ignored is named, as the file heads it unless that may be a name', async (t) => {
  const place = await startedPlace(t);
  const content = file('Umurenge,Land (ha),Notes of the clerk', 'Huye,1.5,good');
  for (const [option, last] of [
    ['--dry-run', '"Notes of the clerk"'],
    ['--yes', 'column number 7'],
  ] as const) {
    const { err } = await place.load('members', content, option);
    assert.equal(saidOf(err), `"Umurenge", "Land (ha)", ${last}`);
  }
});

test('those that a map ignores are named too', async (t) => {
  const place = await startedPlace(t);
  const map = place.write('map.json', '{"kind":"members","columns":{"Land (ha)":null}}');
  const content = file('Land (ha)', '1.5');
  for (const options of [['--dry-run'], []]) {
    const { err } = await place.load('members', content, ...options, '--map', map);
    assert.equal(saidOf(err), '"Land (ha)"');
  }
});

test('a column without a heading, and a heading that may be a number of a person, are named by position', async (t) => {
  const place = await startedPlace(t);
  const shown = await place.load('members', file(`Plot,${nid(3)},`, 'a,b,c'), '--dry-run');
  assert.equal(saidOf(shown.err), '"Plot", column number 6, column number 7');
  assert.doesNotMatch(shown.err, /\d{16}/);
  const spaced = await place.load('members', file('Plot 2024 2025,1 1985 8 0012 345 6', 'a,b'), '--dry-run');
  assert.equal(saidOf(spaced.err), '"Plot 2024 2025", column number 6');
});

test('of a file whose headings are mostly unknown none is shown: its first row may be a person', async (t) => {
  const place = importPlace(t);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\n');
  const content = 'code,name,Uwera Aline,Huye,Kabeza\nB-2,Biringaniye,a,b,c\n';
  const shown = await place.load('cooperatives', content, '--dry-run');
  assert.equal(saidOf(shown.err), 'column number 3, column number 4, column number 5');
});
