/** Warnings about members who may be somebody else (docs/import-reference.md#warnings). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COOPERATIVES, type ImportPlace, importPlace, MEMBERS_HEADER, nid } from '../support/importing.ts';

const COLUMNS = `${MEMBERS_HEADER},date_of_birth,mobile`;
const PHONE = '0781234567';
const file = (...rows: string[]): string => `${COLUMNS}\n${rows.join('\n')}\n`;
/** A number that differs from that of person n in one digit. */
const mistyped = (n: number): string => nid(n).replace(/^1/, '2');

/** Person 1 of A-1, born in 1985, among so many others. */
async function placeWith(context: Parameters<typeof importPlace>[0], others: number): Promise<ImportPlace> {
  const place = importPlace(context);
  await place.load('cooperatives', COOPERATIVES);
  const rows = Array.from({ length: others }, (_, i) => `A-1,${nid(100 + i)},N-${i},Member ${i},,`);
  const { err } = await place.load(
    'members',
    file(`A-1,${nid(1)},M-1,Uwase Aline,1985-03-04,${PHONE}`, ...rows),
  );
  assert.equal(err, '');
  return place;
}

async function warned(place: ImportPlace, content: string): Promise<string[]> {
  const { out } = await place.load('members', content, '--dry-run', '--json');
  const { warnings, errors } = JSON.parse(out).files[0] as {
    warnings: { kind: string }[];
    errors: unknown[];
  };
  assert.deepEqual(errors, []);
  // The numbers are of men born in 1985; whether other dates of birth are noticed is tested apart.
  return warnings.map(({ kind }) => kind).filter((kind) => kind !== 'contradicted_id');
}

test('only equal name and phone make a number that differs in one digit a mistyped one', async (context) => {
  for (const others of [1, 300]) {
    const place = await placeWith(context, others);
    const row = (cooperative: string, name: string, phone: string) =>
      file(`${cooperative},${mistyped(1)},M-9,${name},,${phone}`);
    assert.deepEqual(await warned(place, row('A-1', 'Uwase Aline', PHONE)), ['near_duplicate']);
    assert.deepEqual(await warned(place, row('A-1', 'ALINE Uwasé', PHONE)), ['near_duplicate']);
    assert.deepEqual(await warned(place, row('A-1', 'Keza Diane', PHONE)), []);
    assert.deepEqual(await warned(place, row('A-1', 'Uwase Aline', '0781234568')), []);
  }
});

test('more than twenty people of one name and phone are no mistyped numbers', async (context) => {
  const place = await placeWith(context, 1);
  const crowd = (count: number) =>
    file(...Array.from({ length: count }, (_, i) => `A-1,${nid(50 + i)},X-${i},Keza Diane,,0788000111`));
  assert.deepEqual(await warned(place, crowd(20)), ['near_duplicate']);
  assert.deepEqual(await warned(place, crowd(21)), []);
});

test('in two cooperatives, dates of birth that differ show that there are two people', async (context) => {
  for (const others of [1, 300]) {
    const place = await placeWith(context, others);
    const row = (n: number, born: string) => `B-2,${n},M-${n},Uwase Aline,${born},${PHONE}`;
    const near = Number(mistyped(1));
    assert.deepEqual(await warned(place, file(row(near, ''))), ['near_duplicate']);
    assert.deepEqual(await warned(place, file(row(near, '1985-03-04'))), ['near_duplicate']);
    assert.deepEqual(await warned(place, file(row(near, '1985-03-05'))), []);
    // The same person in another cooperative.
    assert.deepEqual(await warned(place, file(row(Number(nid(1)), ''))), []);
    // One of several is enough, and in one cooperative the dates do not matter.
    const [first, second] = [near + 1e15, near + 2e15].map((n) => row(n, '1985-03-05'));
    assert.deepEqual(await warned(place, file(row(near, '1985-03-05'), first as string)), ['near_duplicate']);
    assert.deepEqual(
      await warned(place, file(row(near, '1985-03-05'), (second as string).replace('03-05', '03-06'))),
      ['near_duplicate', 'impossible_id'],
    );
    const message = (await place.load('members', file(row(near, '')), '--dry-run')).err;
    assert.match(message, /1 row has the name and phone of another member, here or in another cooperative, /);
  }
});

test('a number whose digits say another year of birth or gender is noticed, and stops nothing', async (context) => {
  const place = await placeWith(context, 1);
  const rows = [1985, 1985, 1990, 1991, 1992, 1993, 1994, 1995].map(
    (year, i) =>
      `A-1,${nid(20 + i)},${i === 2 ? '250788' : `X-${i}`},Person,${year}-01-01,,${i === 1 ? 'F' : 'M'}`,
  );
  const content = `${COLUMNS},gender\n${rows.join('\n')}\nA-1,${nid(1).replace(/^1/, '9')},X-9,P,,,F\n`;
  const { status, err } = await place.load('members', content);
  assert.equal(status, 0);
  const contradicts = 'members.csv: warning: 6 national IDs contradict the year of birth: line 4, A-1/X-3, ';
  assert.ok(
    err.includes(`${contradicts}A-1/X-4, A-1/X-5, A-1/X-6, …. (lines 4, 5, 6, 7, 8 and 1 more)\n`),
    err,
  );
  assert.ok(err.includes('1 national ID contradicts the gender: A-1/X-1. (line 3)\n'), err);
  assert.doesNotMatch(err, /\d{6}/);
});

test('a member who gets the name of another one is compared by the stored phone', async (context) => {
  const place = await placeWith(context, 1);
  await place.load('members', file(`A-1,${mistyped(1)},M-9,Keza Diane,,${PHONE}`));
  const renamed = `${MEMBERS_HEADER}\nA-1,${mistyped(1)},M-9,Uwase Aline\n`;
  assert.deepEqual(await warned(place, renamed), ['near_duplicate']);
});

test('a stored member is compared by the name that the file gives', async (context) => {
  const place = await placeWith(context, 1);
  const rows = [
    `A-1,${nid(1)},M-1,Keza Diane,1985-03-04,${PHONE}`,
    `A-1,${mistyped(1)},M-9,Uwase Aline,,${PHONE}`,
  ];
  assert.deepEqual(await warned(place, file(...rows)), []);
});

test('another name, year of birth or number of a stored member may show that it is somebody else', async (context) => {
  const place = await placeWith(context, 1);
  await place.load(
    'members',
    file(`B-2,${nid(1)},M-7,Uwase Aline,1990-01-01,`, `B-2,${nid(2)},M-8,Keza Diane,1990-01-01,`),
  );
  const renamed = `${MEMBERS_HEADER}\nB-2,${nid(1)},M-7,Mukamana Rose\n`;
  assert.deepEqual(await warned(place, renamed), ['name_differs']);
  await place.load('members', file(`B-2,${nid(1)},M-7,Mukamana Rose,1985-01-01,`));
  assert.deepEqual(await warned(place, file(`B-2,${nid(1)},M-7,Mukamana Rose,1990-01-01,`)), [
    'name_differs',
  ]);
  const place2 = await placeWith(context, 1);
  await place2.load('members', file(`B-2,${nid(2)},M-8,Keza Diane,1990-01-01,`));
  const changed = file(`B-2,${nid(1)},M-8,Keza Diane,1990-01-01,`);
  assert.deepEqual(await warned(place2, changed), ['name_differs', 'changed_id']);
});

test('a member who gets another name and year of birth is not compared with what is replaced', async (context) => {
  const place = await placeWith(context, 1);
  assert.deepEqual(await warned(place, file(`A-1,${nid(1)},M-1,Mukamana Rose,1990-01-01,${PHONE}`)), []);
});

test('members whose status changes count among those who change', async (context) => {
  const place = await placeWith(context, 8);
  const rows = Array.from({ length: 6 }, (_, i) => `A-1,${nid(100 + i)},N-${i},Member ${i},suspended`);
  assert.deepEqual(await warned(place, `${MEMBERS_HEADER},status\n${rows.join('\n')}\n`), ['many_changes']);
});
