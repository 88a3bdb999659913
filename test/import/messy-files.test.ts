/** The same registry, written exactly and as cooperatives write it, is read to the same values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FileRecord, ImportFault, RecordSource, SourceFormat } from '../../src/import/files/records.ts';
import { cellContext } from '../../src/import/reading/cell-context.ts';
import { GENDER_WORDS, MEMBER_STATUS_WORDS, ROLE_WORDS } from '../../src/import/reading/dictionary-words.ts';
import type { ImportSession } from '../../src/import/staging/import-session.ts';
import { HEADINGS } from '../../src/import/table/known-headings.ts';
import { readAndCheck } from '../../src/import/table/read-and-check.ts';
import { FILE_COLUMNS, type ImportKind } from '../../src/registry/file-columns.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import type { StagedRow, StagedValue } from '../../src/values/declared-fields.ts';
import { nid } from '../support/importing.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

type Row = Readonly<Record<string, string>>;

const TEXT: SourceFormat = { type: 'text', encoding: 'utf-8', hasMark: false, separator: ',' };

/** Reads records as `readAndCheck` does, in batches of this size. */
async function readRecords(
  kind: ImportKind,
  records: readonly FileRecord[],
  { format = TEXT, batch = 1_000 }: { format?: SourceFormat; batch?: number } = {},
) {
  let rows: Readonly<Record<string, StagedValue | undefined>>[] = [];
  let faults: ImportFault[] = [];
  let columns: readonly string[] = [];
  const named = ({ values }: StagedRow) =>
    Object.fromEntries(FILE_COLUMNS[kind].map(({ name }, i) => [name, values[i]]));
  const session = {
    stage(_kind: ImportKind, given: ReadonlySet<string>) {
      [rows, faults, columns] = [[], [], [...given].sort()];
      return {
        addRows: (added: readonly StagedRow[]) => rows.push(...added.map(named)),
        addFaults: (added: readonly ImportFault[]) => faults.push(...added),
        check: () => ({}),
      };
    },
  } as unknown as ImportSession;
  const source: RecordSource = {
    ...{ bytes: 0, sha256: '', format },
    async *read() {
      for (let i = 0; i < records.length; i += batch)
        yield { records: records.slice(i, i + batch), bytesRead: i };
    },
    async close() {},
  };
  const { findings } = await readAndCheck(session, source, {
    ...{ kind, acceptTrailingZero: false, skipInvalid: false, onBatch() {} },
    cells: cellContext(KIGALI, Date.UTC(2026, 0, 1) / 1000),
  });
  return { rows, faults, columns, notes: findings.notes.map((note) => note.kind), findings };
}

const numbered = (cells: readonly (readonly string[])[]): FileRecord[] =>
  cells.map((each, i) => ({ line: i + 1, cells: each }));
const exactly = (columns: readonly string[], rows: readonly Row[]): FileRecord[] =>
  numbered([columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))]);

const day = fc
  .date({ min: new Date('1950-01-01'), max: new Date('2025-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const name = fc.constantFrom('Uwase Aline', 'Keza', 'Mukamana Élise', 'Total', "N'Dour", 'Ntabyo Na');

const memberRows = fc.array(
  fc.record({
    cooperative_code: fc.constantFrom('A-1', 'B-2'),
    identity_card: fc.nat(99_999).map(nid),
    member_code: fc.stringMatching(/^[A-Z]{1,3}-[0-9]{1,4}$/),
    full_name: name,
    gender: fc.constantFrom('MALE', 'FEMALE', ''),
    date_of_birth: fc.oneof(day, fc.constant('')),
    mobile: fc.oneof(
      fc.integer({ min: 720_000_000, max: 799_999_999 }).map((digits) => `+250${digits}`),
      fc.constant(''),
    ),
    role: fc.constantFrom('MEMBER', 'PRESIDENT', 'TREASURER', ''),
    status: fc.constantFrom('active', 'deceased', 'suspended', ''),
    registration_date: day,
  }),
  { minLength: 1, maxLength: 30 },
);
const productionRows = fc.array(
  fc.record({
    cooperative_code: fc.constantFrom('A-1', 'B-2'),
    identity_card: fc.nat(99_999).map(nid),
    delivered_at: day,
    kg: fc.integer({ min: 1, max: 9_999_999 }).map((grams) => (grams / 1000).toFixed(3)),
    product: fc.constantFrom('coffee', 'Total', ''),
  }),
  { minLength: 1, maxLength: 30 },
);
/** Decides how a value is written: the same for the same seed. */
const seed = fc.infiniteStream(fc.nat(1_000_000));

type Pick = <T>(from: readonly T[]) => T;
type Write = (value: string, pick: Pick) => string;

const wordFor =
  (words: Readonly<Record<string, readonly string[]>>): Write =>
  (value, pick) =>
    value === '' ? pick(['', '-', 'N/A']) : changeCase(pick([value, ...(words[value] ?? [])]), pick);
const changeCase = (text: string, pick: Pick): string =>
  pick([text, text.toLowerCase(), text.toUpperCase(), ` ${text} `]);
const writeDate: Write = (value, pick) => {
  if (value === '') return pick(['', 'néant', '–']);
  const [year, month, date] = value.split('-').map(Number) as [number, number, number];
  const mark = pick(['/', '-', '.']);
  const two = (number: number) => String(number).padStart(2, '0');
  if (Object.values(SETTLING).includes(value)) return [date, month, year].join(mark);
  return pick([
    value,
    [two(date), two(month), year].join(mark),
    [date, month, year].join(mark),
    `${[date, month, year].join(mark)} 0:00`,
  ]);
};
const writeKg: Write = (value, pick) => {
  const [whole = '', decimals = ''] = value.split('.');
  const groups = (mark: string) => whole.replace(/(?<=[0-9])(?=(?:[0-9]{3})+$)/g, mark);
  return `${pick([whole, groups('.'), groups(' '), groups('\u00a0')])},${decimals}`;
};

const WRITTEN: Readonly<Record<string, Write>> = {
  identity_card: (value, pick) =>
    pick([value, `="${value}"`, `'${value}`, value.replace(/^(.)(.{4})(.)(.{7})(.)/, '$1 $2 $3 $4 $5 ')]),
  gender: wordFor(GENDER_WORDS as Record<string, readonly string[]>),
  role: wordFor(ROLE_WORDS as Record<string, readonly string[]>),
  status: wordFor(MEMBER_STATUS_WORDS as Record<string, readonly string[]>),
  mobile: (value, pick) =>
    value === '' ? '' : pick([value, `0${value.slice(4)}`, value.slice(4), `${value} / 0722 123 456`]),
  date_of_birth: writeDate,
  registration_date: writeDate,
  delivered_at: writeDate,
  kg: writeKg,
};

/** Writes a table with titles, other headings, other columns, another order, and totals. */
function messily(
  kind: ImportKind,
  columns: readonly string[],
  rows: readonly Row[],
  pick: Pick,
): FileRecord[] {
  const shuffled = [...columns, 'Umukono', ''].sort(() => pick([-1, 1]));
  const isKnown = (column: string) => columns.includes(column);
  const heading = (column: string) =>
    isKnown(column) ? changeCase(pick([column, ...(HEADINGS[kind][column] ?? [])]), pick) : column;
  const cell = (row: Row, column: string) => {
    if (!isKnown(column)) return column === '' ? '' : 'Kabeza';
    return (WRITTEN[column] ?? ((value) => value))(row[column] ?? '', pick);
  };
  const titles = pick([[], [['KOPERATIVE ABAHUJE'], ['2025', '', 'Itariki']]]);
  const totals = pick([[], [shuffled.map((_, i) => (i === 0 ? pick(['TOTAL', 'Igiteranyo:']) : ''))]]);
  return numbered([
    ...titles,
    shuffled.map(heading),
    ...rows.map((row) => shuffled.map((column) => cell(row, column))),
    ...totals,
  ]);
}

/** A day above 12 in each column of dates, so that its order is settled. */
const SETTLING: Row = {
  date_of_birth: '1984-03-31',
  registration_date: '2019-03-31',
  delivered_at: '2025-03-31',
};

const NO_NOTES = { faults: [], notes: [] };

test('a file in exact forms is read without notes, in batches of any size', async () => {
  await fc.assert(
    fc.asyncProperty(memberRows, fc.integer({ min: 1, max: 40 }), async (given, batch) => {
      const columns = Object.keys(given[0] ?? {});
      const { rows, faults, notes } = await readRecords('members', exactly(columns, given), { batch });
      assert.deepEqual({ faults, notes }, NO_NOTES);
      assert.equal(rows.length, given.length);
      given.forEach((row, i) => {
        const { registration_date: _, ...texts } = row;
        const read = Object.keys(texts).map((column) => [column, rows[i]?.[column] ?? '']);
        assert.deepEqual(Object.fromEntries(read), texts);
      });
    }),
    { numRuns: quickOrLong(30, 100) },
  );
});

for (const [kind, arbitrary] of [
  ['members', memberRows],
  ['production', productionRows],
] as const) {
  test(`${kind} written messily are read to the values of the exact file`, async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitrary as fc.Arbitrary<Row[]>,
        seed,
        fc.integer({ min: 1, max: 40 }),
        async (given, stream, batch) => {
          const pick: Pick = (from) => from[(stream.next().value as number) % from.length] as never;
          const rows = [...given, { ...given[0], ...SETTLING }];
          const columns = Object.keys(given[0] ?? {});
          const exact = await readRecords(kind, exactly(columns, rows));
          const format: SourceFormat = { ...TEXT, separator: ';' };
          const messy = await readRecords(kind, messily(kind, columns, rows, pick), { format, batch });
          assert.deepEqual(messy.faults, []);
          assert.deepEqual(messy.rows, exact.rows);
          assert.deepEqual(messy.columns, exact.columns);
        },
      ),
      { numRuns: quickOrLong(60, 500) },
    );
  });
}

test('in a workbook, numbers are exact with a point, and a national ID that is a number is refused', async () => {
  const format: SourceFormat = { type: 'workbook', sheet: '2026' };
  const header = ['Date', 'cooperative_code', 'identity_card', 'kg', 'product'];
  const records: FileRecord[] = [
    { line: 3, cells: header },
    { line: 4, cells: ['2025-03-01', 'A-1', nid(1), '12.5'], numbers: new Set([3]) },
    { line: 6, cells: ['2025-03-01', 'A-1', '1198589000001040', '12,5', ''], numbers: new Set([2]) },
    { line: 7, cells: ['2025-03-01', 'A-1', nid(2), '13'] },
  ];
  const { rows, faults, notes, findings } = await readRecords('production', records, { format });
  const { kg, product, full_name } = rows[0] ?? {};
  assert.deepEqual({ kg, product, full_name }, { kg: 12_500, product: null, full_name: null });
  assert.deepEqual(
    faults.map(({ line, column, message }) => [line, column, message]),
    [
      [
        6,
        'identity_card',
        'A spreadsheet turned this national ID into a number and lost digits. ' +
          'Format the column as text and enter it again.',
      ],
    ],
  );
  // Row 5 is not there.
  assert.deepEqual(notes, ['heading', 'empty_row', 'decimal_comma']);
  assert.equal(findings.cellOf({ line: 6, column: 'identity_card' }), 'C6');
  assert.equal(findings.cellOf({ line: 6, column: 'delivered_at' }), 'A6');
  assert.equal(findings.cellOf({ line: 6, column: '' }), undefined);
  const wide = [{ line: 1, cells: [...Array.from({ length: 27 }, () => ''), ...header] }];
  const second = await readRecords('production', wide, { format });
  assert.equal(second.findings.cellOf({ line: 9, column: 'kg' }), 'AE9');
  assert.equal((await readRecords('production', wide)).findings.cellOf({ line: 9, column: 'kg' }), undefined);
});
