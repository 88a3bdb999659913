/** Guesses of columns: only what nearly all values fit, and only where nothing else would fit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valueIn } from '../../src/formats/spreadsheet-cells-and-empty-words.ts';
import { cellContext } from '../../src/import/reading/cell-context.ts';
import { createObserver, guessColumns, isPersonsName } from '../../src/import/reading/guess-columns.ts';
import { IMPORT_COLUMNS } from '../../src/import/table/columns.ts';
import type { ImportKind } from '../../src/registry/file-columns.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { nid } from '../support/importing.ts';

const cells = cellContext(KIGALI, 1_784_000_000);
const count = (n: number) => Array.from({ length: n }, (_, i) => i);

/** By heading, the column that is guessed for it. */
function guess(
  columns: { readonly [heading: string]: readonly string[] },
  { kind = 'members', taken = [] }: { kind?: ImportKind; taken?: readonly string[] } = {},
): { [heading: string]: string } {
  const unknown = Object.entries(columns).map(([text, values], place) => ({ place, text, values }));
  const guesses = guessColumns(unknown, { kind, cells, assigned: new Set(taken) });
  return Object.fromEntries(
    guesses.map(({ place, column, by }) => [unknown[place]?.text, `${column} by ${by}`]),
  );
}

const LETTERS = 'abcdefghijklmnopqrst';
const NAMES = count(20).map((i) => `Uwera ${LETTERS[i]?.toUpperCase()}line${LETTERS[i]}`);
const NIDS = count(20).map(nid);
const years = (from: number, step: number) => count(20).map((i) => `${i + 1}/3/${from + i * step}`);

test('values of sixteen digits, phone numbers, names and words of a choice are recognised', () => {
  assert.deepEqual(
    guess({
      X1: NIDS.map((digits) => `${digits.slice(0, 1)} ${digits.slice(1)}`),
      X2: count(20).map((i) => `0788 123 4${10 + i}`),
      X3: NAMES,
      X4: count(20).map((i) => (i % 2 ? 'M' : 'F')),
      X5: count(20).map((i) => (i ? 'MEMBER' : 'PRESIDENT')),
      X6: count(20).map(() => 'suspended'),
    }),
    {
      X1: 'identity_card by values',
      X2: 'mobile by values',
      X3: 'full_name by values',
      X4: 'gender by values',
      X5: 'role by values',
      X6: 'status by values',
    },
  );
});

test('dates are of birth or of registration by their years, and left alone where these do not tell', () => {
  assert.deepEqual(guess({ X1: years(1950, 2), X2: years(2013, 0) }), {
    X1: 'date_of_birth by values',
    X2: 'registration_date by values',
  });
  assert.deepEqual(guess({ X: years(1985, 1) }), {}, 'adults or founders');
  assert.deepEqual(guess({ X: years(1990, 2) }), {}, 'both');
  assert.deepEqual(guess({ X: count(20).map((i) => String(1950 + i)) }), {}, 'years only');
  assert.deepEqual(guess({ X: years(2026, 0) }, { kind: 'production' }), { X: 'delivered_at by values' });
  assert.deepEqual(guess({ X: years(2026, 0), Y: years(2026, 0) }, { kind: 'production' }), {});
  assert.deepEqual(guess({ X: years(2026, 0) }, { kind: 'loans' }), {}, 'a loan has several dates');
});

test('nothing is guessed for two columns that fit, for a column that another heading means, or from little', () => {
  assert.deepEqual(guess({ Own: NAMES, Father: NAMES }), {});
  assert.deepEqual(guess({ Father: NAMES }, { taken: ['full_name'] }), {});
  assert.deepEqual(guess({ Father: NAMES }, { taken: ['first_name', 'last_name'] }), {});
  assert.deepEqual(guess({ X: NIDS.slice(0, 2) }), {});
  assert.deepEqual(guess({ X: NAMES.slice(0, 4) }), {});
  assert.deepEqual(guess({ X: [] }), {});
});

test('one value in twenty may not fit, two may not', () => {
  assert.deepEqual(guess({ X: [...NIDS.slice(1), 'unknown'] }), { X: 'identity_card by values' });
  assert.deepEqual(guess({ X: [...NIDS.slice(2), 'unknown', 'lost'] }), {});
});

test('one letter that is always the same may mean anything', () => {
  assert.deepEqual(guess({ X: count(20).map(() => 'M') }), {});
  assert.deepEqual(guess({ X: count(20).map((i) => (i % 2 ? 'M' : 'C')) }), {}, 'married or single');
});

test('places and words that repeat are no names', () => {
  assert.deepEqual(guess({ X: count(20).map((i) => `Kabeza ${i % 2 ? 'Hepfo' : 'Haruguru'}`) }), {});
});

test('a heading with a typo means its column, if the values are of it', () => {
  const codes = count(20).map((i) => `M-${i}`);
  assert.deepEqual(guess({ memer_code: codes }), { memer_code: 'member_code by spelling' });
  assert.deepEqual(guess({ memer_code: codes }, { taken: ['member_code'] }), {});
  assert.deepEqual(guess({ mobil: codes }), {});
  assert.deepEqual(guess({ date_of_brith: codes }), {});
  assert.deepEqual(guess({ date_of_brith: years(1985, 1) }), { date_of_brith: 'date_of_birth by spelling' });
  const open = ['3/4/1985', '5/4/1985', '6/4/1985'];
  assert.deepEqual(
    guess({ date_of_brith: open }),
    { date_of_brith: 'date_of_birth by spelling' },
    'in either order',
  );
  assert.deepEqual(guess({ fist_name: codes.map(() => 'Aline') }), { fist_name: 'first_name by spelling' });
  assert.deepEqual(guess({ 'interest rat': count(20).map((i) => `${i + 1},5`) }, { kind: 'loans' }), {
    'interest rat': 'interest_rate by spelling',
  });
});

test('a word for nothing is no value, and what spreadsheets wrap around a text is not part of it', () => {
  const row = [' Kabeza ', '-', 'N/A', '', '="0788123456"', "'0788123456"];
  assert.deepEqual(
    [...row, 'beyond the row'].map((_, place) => valueIn(row, place)),
    ['Kabeza', '', '', '', '0788123456', '0788123456', ''],
  );
});

test('names have several words of letters', () => {
  for (const name of ['Uwera Aline', "N'Dori Ange-Marie", 'Nkuriza J. Bosco'])
    assert.ok(isPersonsName(name), name);
  for (const text of ['Kigali', 'Umurenge 2', 'A-1', '0788 123 456', '-'])
    assert.ok(!isPersonsName(text), text);
});

function observe(kind: ImportKind, column: string, values: readonly string[], hasSemicolons = false) {
  const observer = createObserver({ ...cells, isSeparatedBySemicolons: hasSemicolons });
  const declared = IMPORT_COLUMNS[kind].find(({ name }) => name === column);
  for (const value of values) if (declared !== undefined) observer.look(declared, value);
  return observer;
}

test('the order of dates is settled by a day above twelve that nothing contradicts', () => {
  const order = (...values: string[]) => observe('members', 'date_of_birth', values).dates();
  assert.equal(order('3/4/1990', '13/4/1990'), 'dmy');
  assert.equal(order('3/4/1990', '4/13/1990'), null, 'a slip, perhaps');
  assert.equal(order('13/4/1990', '4/13/1990'), null);
  assert.equal(order('3/4/1990'), null);
  assert.equal(order('4/4/1990'), undefined, 'the same date in both orders');
  assert.equal(order('03/04/1990', '1990-04-03'), undefined, 'two digits each are read as day first');
  assert.equal(order('1990/4/3'), 'ymd');
  assert.equal(order('1990/4/3', '13/4/1990'), null);
  assert.equal(order('1990-04-03'), undefined);
  assert.equal(order('1990.4.3', '13.4.1990 08:30'), null);
  assert.equal(order('31/3/24', '3/4/24'), 'dmy');
  assert.equal(order('3/4/24'), null);
  assert.equal(order('5/5/24'), null, 'or the 24th of May 2005');
  assert.equal(order('24/3/30', '24/3/31'), null, 'perhaps of 2024');
  assert.equal(order('24/3/31', '85/3/31'), null);
  assert.equal(order('85/3/31', '1985/3/31'), 'ymd');
  assert.equal(order('31/3/1990', '24/3/30', '24/3/31'), null);
  for (const cell of ['31/3/240', '2024', '31/3-2024', '1/2/20245', 'mars 2024', '14-Jun-26'])
    assert.equal(order(cell), undefined, cell);
});

test('the decimal mark is settled by decimals of which there are not three', () => {
  const mark = (values: string[], column = 'kg', hasSemicolons = false) =>
    observe(column === 'kg' ? 'production' : 'loans', column, values, hasSemicolons).decimal();
  assert.equal(mark(['12', '12,5']), ',');
  assert.equal(mark(['12', '12.5']), undefined);
  assert.equal(mark(['12,5', '12.5']), null);
  assert.equal(mark(['12,500']), null);
  assert.equal(mark(['12,500', '12.5']), null);
  assert.equal(mark(['12,500'], 'kg', true), ',');
  assert.equal(mark(['12,500'], 'amount'), undefined, 'money has no three decimals');
  assert.equal(mark(['12.500']), undefined, 'read as decimals');
  assert.equal(mark(['12,5', '12.500']), null, 'twelve and a half, or a thousand times as much');
  assert.equal(mark(['1250,50', '1.250'], 'amount'), ',');
  assert.equal(mark(['100.000 Frw'], 'amount'), null, 'a hundred francs, or a thousand times as much');
  for (const cell of ['1.250,50', '1 250,50', '12,5 Frw']) assert.equal(mark([cell], 'amount'), ',', cell);
  for (const cell of ['12.5', '1,250.50', '1 250.50', '1,250,000'])
    assert.equal(mark(['12,5', cell], 'amount'), null, cell);
  for (const cell of ['12', '1 250 000', '12 kg', ',5x']) assert.equal(mark([cell]), undefined, cell);
});

test('words without a meaning are listed once, in the spelling that comes first', () => {
  const words = observe('members', 'status', [
    'Ailleurs',
    'active',
    'AILLEURS',
    'parti 123456',
  ]).unknownWords();
  assert.deepEqual(words, [{ column: 'status', words: ['Ailleurs'], hasMore: true }]);
  const many = count(30).map((i) => `word ${LETTERS[i % 20]}${i}`);
  assert.deepEqual(observe('members', 'status', many).unknownWords(), [
    { column: 'status', words: [], hasMore: true },
  ]);
});
