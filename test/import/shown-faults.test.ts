/** What the screen says of a file with faults (docs/errors.md#rows-of-a-file). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type ImportPlace,
  MEMBERS_HEADER,
  member,
  members,
  nid,
  startedPlace,
} from '../support/importing.ts';
import { rowsOf, workbookOf } from '../support/workbook.ts';

const numbers = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);
const UNKNOWN = 'There is no cooperative with the code "Z-9". Import the cooperatives first.';

test('equal faults of many rows are one line with their number, in the place of the first', async (context) => {
  const place = await startedPlace(context);
  const rows = numbers(10, 20).map((n) => `${member(n, 'Z-9')},F`);
  const content = `${MEMBERS_HEADER},gender\n${[`${member(9)},X`, ...rows, `${member(8)},Y`].join('\n')}\n`;
  const rejects = join(place.folder, 'refused.csv');
  const { err } = await place.load('members', content, '--rejects', rejects);
  const known = 'is not a valid choice. Known: MALE, FEMALE, OTHER.';
  assert.deepEqual(err.split('\n').slice(0, 4), [
    `members.csv line 2, column gender: "X" ${known}`,
    `members.csv: 20 rows: ${UNKNOWN} (column cooperative_code, lines 3, 4, 5, 6, 7 and 15 more)`,
    `members.csv line 23, column gender: "Y" ${known}`,
    'members.csv: the rejects have all rows with faults.',
  ]);
  assert.equal(readFileSync(rejects, 'utf8').trimEnd().split('\n').length, 23);
  const { out } = await place.load('members', content, '--json');
  assert.equal(JSON.parse(out).files[0].errors.length, 22);
});

test('the number of further faults leaves out those that a line of equal ones counts', async (context) => {
  const place = await startedPlace(context);
  const equal = numbers(10, 6).map((n) => `${member(n, 'Z-9')},F`);
  const different = numbers(20, 22).map((n) => `${member(n, `Z-${n}`)},F`);
  const { err } = await place.load(
    'members',
    `${MEMBERS_HEADER},gender\n${[...equal, ...different].join('\n')}\n`,
  );
  assert.match(err, /lines 2, 3, 4, 5, 6 and 1 more\)$/m);
  assert.match(err, /^members\.csv: 3 more; --rejects FILE writes all of them\.$/m);
});

test('equal faults of a workbook name its sheet', async (context) => {
  const place = await startedPlace(context);
  const rows = rowsOf(MEMBERS_HEADER.split(','), ...numbers(10, 3).map((n) => member(n, 'Z-9').split(',')));
  const path = place.write('members.xlsx', workbookOf({ sheets: [{ name: 'S', rows }] }));
  const { err } = await place.run('members', path);
  assert.ok(err.includes(`: 3 rows: ${UNKNOWN} (sheet S, column cooperative_code, lines 2, 3, 4)\n`), err);
});

/** The three members of A-1, sent as those of B-2, and one more row. */
async function sendWrong(place: ImportPlace, last: string, ...args: string[]) {
  const content = members(...[1, 2, 3].map((n) => `B-2,${nid(n)},B-${n},Person ${n}`), last);
  return place.load('members', content, ...args);
}

test('a faulty row does not hide the warning that the code is wrong, which comes first', async (context) => {
  const place = await startedPlace(context);
  const warning = '3 of the 3 members listed for B-2 are members of A-1: is this the right code?';
  const bad = `B-2,12,B-4,Person 4`;
  const { status, err } = await sendWrong(place, bad);
  assert.equal(status, 1);
  assert.deepEqual(err.split('\n'), [
    `members.csv: warning: ${warning} (lines 2, 3, 4)`,
    'members.csv line 5, column identity_card: Expected a national ID of exactly 16 digits.',
    'members.csv: Correct the faults first; --yes does not help. ' +
      'Look at the warnings as well: it may be the wrong file.',
    'Nothing of members.csv was imported.',
    '',
  ]);
  const [file] = JSON.parse((await sendWrong(place, bad, '--json', '--dry-run')).out).files;
  assert.deepEqual(
    [file.outcome, file.errors.length, file.warnings, file.conflicts],
    ['refused', 1, [{ kind: 'other_cooperative', stops: true, message: warning, lines: [2, 3, 4] }], []],
  );
  // Neither option stands for the other.
  const outcomeOf = async (...args: string[]) =>
    JSON.parse((await sendWrong(place, bad, '--json', ...args)).out).files[0].outcome;
  assert.equal(await outcomeOf('--yes'), 'refused');
  assert.equal(await outcomeOf('--skip-invalid'), 'stopped');
  assert.equal(place.value('SELECT count(*) FROM members'), 3);
  assert.equal(await outcomeOf('--skip-invalid', '--yes'), 'imported');
});

test('a fault of the entire file hides no warning either', async (context) => {
  const place = await startedPlace(context);
  const { err } = await sendWrong(place, 'B-2,"12');
  assert.match(err, /^members\.csv: warning: 3 of the 3 members listed for B-2 are members of A-1/);
  assert.match(err, /line 5: /);
});
