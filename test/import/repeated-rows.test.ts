/** Rows that a file has twice: their rejects do not overwrite the ones that were imported. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ImportPlace, MEMBERS_HEADER, nid, startedPlace } from '../support/importing.ts';

const row = (n: number, role: string) => `A-1,${nid(n)},M-${n},Person ${n},${role}\n`;
const FILE = `${MEMBERS_HEADER},role\n${row(20, 'TREASURER')}${row(20, 'MEMBER')}`;

/** Imports the first of two equal rows. @returns the rejects */
async function skim(place: ImportPlace, kind: string, content: string): Promise<string> {
  const path = join(place.folder, 'refused.csv');
  await place.load(kind, content, '--skip-invalid', '--rejects', path);
  return readFileSync(path, 'utf8');
}
const roleOf = (place: ImportPlace, n: number) =>
  place.value(`SELECT role FROM members WHERE identity_card = '${nid(n)}'`);

test('who is twice in a list stays as imported, unless the rejects name another person', async (context) => {
  const place = await startedPlace(context);
  const rejects = await skim(place, 'members', FILE);
  assert.match(rejects, /,role,registry_repeats,registry_faults\nA-1,.*,MEMBER,key:[0-9a-f]{16},/);
  const again = join(place.folder, 'again.csv');
  for (const content of [rejects, rejects.replace(',MEMBER,', ',ADVISOR,').replace('A-1,', 'a-1 ,')]) {
    const { status, err } = await place.load('members', content, '--rejects', again);
    assert.equal(status, 1);
    assert.match(err, /column registry_repeats: This row was rejected because its file has it twice\. /);
    // As often as it is tried.
    assert.match(readFileSync(again, 'utf8'), /,registry_repeats,registry_faults\n.*,key:[0-9a-f]{16},/);
  }
  assert.equal(roleOf(place, 20), 'TREASURER');
  const other = rejects.replace(nid(20), nid(21)).replace(',M-20,', ',M-21,');
  assert.equal((await place.load('members', other, '--strict')).status, 0);
  assert.deepEqual([roleOf(place, 20), roleOf(place, 21)], ['TREASURER', 'MEMBER']);
  // Who says so on purpose overwrites it.
  assert.equal((await place.load('members', rejects.replace(/key:[0-9a-f]+/, ''))).status, 0);
  assert.equal(roleOf(place, 20), 'MEMBER');
});

test('a receipt that is twice in a ledger is another delivery only under another number', async (context) => {
  const place = await startedPlace(context);
  const ledger = 'cooperative_code,member_code,reference,delivered_at,kg\n';
  const rejects = await skim(
    place,
    'production',
    `${ledger}A-1,M-1,R-1,2025-06-01,5\nA-1,M-1,R-1,2025-06-01,7\nA-1,M-2,R-2,2025-06-01,?\n`,
  );
  assert.match(rejects, /\?,,"?kg: /);
  const sent = rejects.replace('?', '3');
  assert.equal((await place.load('production', sent)).status, 1);
  assert.equal((await place.load('production', sent.replace('R-1', 'R-3'))).status, 0);
  assert.deepEqual(
    place.query('SELECT reference, grams FROM production_entries ORDER BY reference'),
    [
      ['R-1', 5_000],
      ['R-2', 3_000],
      ['R-3', 7_000],
    ].map(([reference, grams]) => ({ reference, grams })),
  );
});

test('a mark that is not as the rejects had it is a fault', async (context) => {
  const place = await startedPlace(context);
  const content = `${MEMBERS_HEADER},registry_repeats\nA-1,${nid(30)},M-30,P,yes\n`;
  assert.match(
    (await place.load('members', content)).err,
    /column registry_repeats: This cell differs from the one in the rejects\./,
  );
});
