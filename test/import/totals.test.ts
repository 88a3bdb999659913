/** Rows of totals, compared with the sums of their rows (docs/import-reference.md#rows-of-totals). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ImportPlace, SAVINGS_HEADER, startedPlace } from '../support/importing.ts';

const DELIVERIES = 'cooperative_code,member_code,delivered_at,kg';
const delivery = (kg: number | string, member = 1) => `A-1,M-${member},2025-01-0${member},${kg}`;
const total = (kg: number | string, word = 'Total') => `${word},,,${kg}`;
const deliveries = (...rows: string[]) => `${[DELIVERIES, ...rows].join('\n')}\n`;

interface Warned {
  readonly kind: string;
  readonly message: string;
  readonly lines: readonly number[];
}

/** What a dry run says of the totals of a file. */
async function differing(place: ImportPlace, kind: string, content: string): Promise<string[]> {
  const { out } = await place.load(kind, content, '--dry-run', '--json');
  const warnings: readonly Warned[] = JSON.parse(out).files[0].warnings;
  return warnings
    .filter((each) => each.kind === 'totals_differ')
    .map(
      ({ message, lines }) =>
        `${lines.join()}: ${/has (.*) in column (.*), and .* to (.*)\.$/.exec(message)?.slice(1).join(' ')}`,
    );
}

test('totals that differ from the sum of the rows are said, and do not stop the file', async (t) => {
  const place = await startedPlace(t);
  const rows = [delivery('12000.5'), delivery('21001.5', 2)];
  const { status, err } = await place.load('production', deliveries(...rows, total('12345.6')));
  assert.equal(status, 0, err);
  assert.match(
    err.replace(/\n\s+/g, ' '),
    /warning: The row of totals has 12345\.6 in column kg, and its rows add up to 33002\. \(line 4\)/,
  );
  assert.equal(place.value('SELECT count(*) FROM production_entries'), 2);
  assert.deepEqual(await differing(place, 'production', deliveries(...rows, total('33002.0'))), []);
  assert.deepEqual(await differing(place, 'production', deliveries(...rows, total('33003'))), [
    '4: 33003 kg 33002',
  ]);
  // Less than a kilogram was rounded away.
  assert.deepEqual(await differing(place, 'production', deliveries(...rows, total('33002.9'))), []);
});

test('totals of parts, of several parts and of the file are told apart', async (t) => {
  const place = await startedPlace(t);
  const parts = [delivery(10), delivery(20, 2), total(30), delivery(5, 3), total(5), total(35, 'Sous-total')];
  const more = [delivery(7, 4), total(7), total(42, 'Grand total')];
  assert.deepEqual(await differing(place, 'production', deliveries(...parts, ...more)), []);
  const wrong = [delivery(10), total(10), delivery(20, 2), total(25), total(41, 'Grand total')];
  assert.deepEqual(await differing(place, 'production', deliveries(...wrong)), [
    '5: 25 kg 20',
    '6: 41 kg 20',
  ]);
});

test('totals above the rows are those of all of them', async (t) => {
  const place = await startedPlace(t);
  assert.deepEqual(
    await differing(place, 'production', deliveries(total(15), delivery(10), delivery(5, 2))),
    [],
  );
  const wrong = deliveries(total(14), delivery(10), delivery(5, 2));
  assert.deepEqual(await differing(place, 'production', wrong), ['2: 14 kg 15']);
});

test('a balance of savings is a total too', async (t) => {
  const place = await startedPlace(t);
  const row = (n: number, kind: string, amount: number) =>
    `A-1,M-1,S-1,T-${n},${kind},${amount},2025-01-0${n}`;
  const file = (said: number) =>
    [SAVINGS_HEADER, row(1, 'contribution', 900), row(2, 'withdrawal', 200), `Total,,,,,${said},`].join('\n');
  for (const said of [1100, 700]) assert.deepEqual(await differing(place, 'savings', file(said)), []);
  assert.deepEqual(await differing(place, 'savings', file(900)), ['4: 900 amount 1100']);
});

test('where a value cannot be read nothing is compared, and a warning counts such cells', async (t) => {
  const place = await startedPlace(t);
  for (const bad of ['ten', 'A-1,M-2']) {
    const rows = deliveries(delivery(10), bad === 'ten' ? delivery(bad, 2) : bad, total(30));
    assert.deepEqual(await differing(place, 'production', rows), [], bad);
  }
  assert.deepEqual(await differing(place, 'production', deliveries(delivery(10), total('about 9'))), []);
  const unread = (...rows: string[]) => deliveries(delivery(10), ...rows, delivery('ten', 3), total(30));
  const one = await place.load('production', unread(), '--dry-run');
  assert.match(
    one.err.replace(/\n\s+/g, ' '),
    /warning: The totals of column kg were not compared: 1 cell of the column cannot be read\. \(line 4\)/,
  );
  const parts = [total(10), delivery('two', 2), total(30)];
  const two = await place.load('production', unread(...parts), '--dry-run', '--lang', 'fr');
  assert.match(
    two.err.replace(/\n\s+/g, ' '),
    /colonne kg n'ont pas été comparés : 2 de ses cellules sont illisibles\. \(lignes 5, 7\)/,
  );
  const wrong = Array.from({ length: 20 }, (_, i) => [delivery(10 + i), total(1)]).flat();
  const many = await place.load('production', deliveries(...wrong, delivery('ten'), total(5)), '--dry-run');
  assert.match(
    many.err.replace(/\n\s+/g, ' '),
    /not compared: 1 cell of the column cannot be read\. \(line 43\)/,
  );
  // What cannot be read is above totals that are right.
  const right = deliveries(delivery('ten', 3), total(30), delivery(10), total(10));
  const { err } = await place.load('production', right, '--dry-run');
  assert.match(err.replace(/\n\s+/g, ' '), /cannot be read\. \(line 3\)/);
});
