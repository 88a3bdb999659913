/** What faults repeat of a file: no national ID in any groups, and no name (docs/import-reference.md). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importText, MEMBERS_HEADER, member, nid, startedPlace } from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

const statusFile = (...words: string[]): string =>
  `${MEMBERS_HEADER},status\n${words.map((word, i) => `${member(20 + i)},${word}\n`).join('')}`;
const KNOWN = 'Known: active, inactive, suspended, withdrawn, deceased.';

/** Beyond what is read at once. */
const FAR = quickOrLong(6_000, 20_000);

/** Groups as people write them, and as typing errors leave them. */
const grouped = [
  nid(1).replace(/(.{4})(?=.)/g, '$1 '),
  nid(1).replace(/(.{4})(?=.)/g, '$1-'),
  nid(1).replace(/(.{3})(?=.)/g, '$1.'),
  '1 1985 8 9000 001 04',
  `${nid(1).slice(0, 5)} / ${nid(1).slice(5, 10)}`,
  '078 123 45 67',
];

test('a national ID or telephone number in groups of digits is not shown', async (context) => {
  const place = await startedPlace(context);
  for (const digits of grouped) {
    const { faults } = await importText(place, 'members', statusFile(digits));
    assert.deepEqual(
      faults.map(({ message }) => message),
      [`Not a valid choice. ${KNOWN}`],
      digits,
    );
    const entry = `cooperative_code,member_code,delivered_at,kg\nA-1,${digits},2025-03-01,1\n`;
    const { err } = await place.load('production', entry);
    assert.match(err, /There is no member with this code in the cooperative/, digits);
  }
  const { faults } = await importText(place, 'members', statusFile('2025-03-31'));
  assert.deepEqual(
    faults.map(({ message }) => message),
    [`"2025-03-31" is not a valid choice. ${KNOWN}`],
  );
});

test('a name in a column of words or of codes is not shown', async (context) => {
  const place = await startedPlace(context);
  for (const name of ['Keza Aline', 'MUGABO  Jean Bosco', "Uwase d'Arc Keza", 'keza aline']) {
    const { faults } = await importText(place, 'members', statusFile(name));
    assert.deepEqual(
      faults.map(({ message }) => message),
      [`Not a valid choice. ${KNOWN}`],
      name,
    );
    const entry = `cooperative_code,member_code,delivered_at,kg\nA-1,${name},2025-03-01,1\n`;
    const { err } = await place.load('production', entry);
    assert.match(err, /There is no member with this code in the cooperative/, name);
  }
});

test('of more than three different unknown words of a column, which may be names, none is shown', async (context) => {
  const place = await startedPlace(context);
  const names = ['Keza', 'Mugabo', 'Uwase', 'Ingabire'];
  const shown = async (words: readonly string[]) =>
    (await importText(place, 'members', statusFile(...words))).faults.filter(({ message }) =>
      message.startsWith('"'),
    ).length;
  assert.equal(await shown(names), 0);
  assert.equal(await shown([...names.slice(0, 3), 'KEZA', 'keza']), 5);
  // However far into the file: the first rows are read again.
  const many = Array.from({ length: FAR }, (_, i) => (i === FAR - 1 ? 'Ingabire' : (names[i % 3] as string)));
  assert.equal(await shown(many), 0);
  // Beside a column whose dates must be surveyed.
  const header = `${MEMBERS_HEADER},status,date_of_birth\n`;
  const rows = names.map((name, i) => `${member(20 + i)},${name},${i === 3 ? '25/3/1985' : '3/4/1985'}\n`);
  const { faults } = await importText(place, 'members', header + rows.join(''));
  assert.deepEqual([...new Set(faults.map(({ message }) => message))], [`Not a valid choice. ${KNOWN}`]);
});
