/** Random operations on a registry of few people, so that they meet each other's rows. */
import fc from 'fast-check';
import { ENTRY_KINDS, type EntryKind } from '../../../src/registry/entries.ts';
import { IMPORT_KINDS, type ImportKind } from '../../../src/registry/file-columns.ts';
import { LOAN_STATUSES } from '../../../src/registry/loans.ts';
import { MEMBER_STATUSES } from '../../../src/registry/members.ts';
import { type Cells, NOW, nid } from '../conformance/import-rows.ts';

export const CODES = ['A-1', 'B-2', 'C-3'] as const;
/** Every national ID that a history uses. */
export const NUMBERS = Array.from({ length: 8 }, (_, n) => nid(n));
const LARGEST = 99_999_999_999_999;
const DAY = 86_400;

/** Texts that are in a file only where somebody has or had them: erasures are checked by them. */
export const memberCode = (n: number): string => `Code${n}Q`;
export const nameOf = (n: number, variant: number): string => `Umwali${n}x${variant}Q`;
const mobileOf = (n: number, variant: number): string => `+2507890012${n}${variant}`;

export type Write =
  | 'member'
  | 'name'
  | 'code'
  | 'number'
  | 'memberStatus'
  | 'cooperative'
  | 'cooperativeName'
  | 'cooperativeCode'
  | 'loan'
  | 'loanStatus'
  | 'payment'
  | 'void'
  | 'amount'
  | 'delivery'
  | 'unnumbered'
  | 'saving';
export interface Writes {
  readonly kind: 'writes';
  /** Of one event-loop iteration; `at` picks the row, `value` what it gets. */
  readonly writes: readonly { readonly what: Write; readonly at: number; readonly value: number }[];
  readonly isCommitted: boolean;
}
export interface Import {
  readonly kind: 'import';
  readonly of: ImportKind;
  readonly rows: readonly Cells[];
  readonly overwrites: boolean;
  /** Between its check and its commit. */
  readonly beside?: Writes | undefined;
}
export type Correction =
  | {
      readonly kind: 'replace';
      readonly from: number;
      readonly to: number;
      readonly releases: boolean;
      readonly samePerson: boolean;
      /** Picks the only membership that gets the number, where not all do. */
      readonly only: number | undefined;
    }
  | {
      readonly kind: 'merge' | 'move' | 'transfer' | 'release' | 'death' | 'erase';
      readonly from: number;
      readonly to: number;
    }
  | { readonly kind: 'cooperatives'; readonly from: number; readonly to: number }
  | { readonly kind: 'remove'; readonly entries: EntryKind; readonly at: number; readonly isAll: boolean };
/** An imported file comes again as its newer version, without some rows and with another value in one. */
export interface Newer {
  readonly kind: 'newer';
  readonly at: number;
  /** Places of rows. */
  readonly dropped: readonly number[];
  readonly changed: number;
  readonly value: number;
}
export type Operation =
  | Import
  | Writes
  | Correction
  | { readonly kind: 'again'; readonly at: number }
  | Newer
  | { readonly kind: 'undo'; readonly at: number };

const cooperative = fc.constantFrom('A-1', 'A-1', 'B-2', 'C-3');
const few = fc.integer({ min: 1, max: 4 });
const maybe = <T>(...values: readonly T[]) => fc.constantFrom(...values, null);
const numbered = (prefix: string) =>
  fc
    .oneof({ weight: 2, arbitrary: few }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) })
    .map((n) => `${prefix}-${n}`);
const money = fc.oneof({ weight: 5, arbitrary: few }, { weight: 1, arbitrary: fc.constant(LARGEST) });
/** At both edges of the production window too, which moves by a second with each step. */
const instant = fc.oneof(
  fc.constantFrom(NOW - DAY, NOW - 2 * DAY),
  fc.integer({ min: NOW - 365 * DAY - 2, max: NOW - 365 * DAY + 20 }),
);
/** An entry's member by its code; a file may name it by its national ID instead. */
const entry = { cooperative_code: cooperative, member_code: few.map(memberCode) };

const member = fc.record({
  n: fc.integer({ min: 1, max: 5 }),
  variant: fc.constantFrom(1, 2),
  has: fc.boolean(),
});
const ROWS: { readonly [kind in ImportKind]: fc.Arbitrary<Cells> } = {
  cooperatives: fc.record({
    ...{ code: fc.constantFrom(...CODES), name: fc.constantFrom('One', 'Two') },
    ...{ sector: maybe('mining'), status: maybe('active', 'inactive') },
  }),
  members: fc
    .tuple(
      member,
      fc.record({
        ...{ ...entry, gender: maybe('FEMALE'), date_of_birth: maybe('1985-01-02') },
        status: maybe('active', 'active', ...MEMBER_STATUSES),
        registration_date: fc.constantFrom(NOW - 3, NOW - 2),
      }),
    )
    .map(([{ n, variant, has }, cells]) => ({
      ...{ ...cells, identity_card: nid(n), full_name: nameOf(n, variant) },
      mobile: has ? mobileOf(n, variant) : null,
    })),
  production: fc.record({
    ...{ ...entry, reference: numbered('P'), delivered_at: instant },
    ...{ kg: fc.oneof(few, fc.constant(9_999_999_999)), product: maybe('milk') },
  }),
  loans: fc.record({
    ...{ ...entry, reference: numbered('L'), amount: money, interest_rate: few },
    status: fc.constantFrom('pending', 'approved', 'approved', ...LOAN_STATUSES),
    ...{ paid_amount: maybe(0, 3, 5), paid_until: fc.constantFrom(NOW - DAY, NOW - 2 * DAY, NOW - 200_000) },
    ...{
      loan_start_date: maybe(NOW - 2, NOW + 5),
      loan_end_date: maybe(NOW + 9),
      approved_at: maybe(NOW - 9),
    },
  }),
  payments: fc.record({
    ...{ cooperative_code: cooperative, loan_reference: numbered('L'), reference: numbered('Q') },
    ...{ amount: few, method: fc.constantFrom('cash', 'bank') },
    ...{ paid_at: fc.constantFrom(NOW - DAY, NOW - 2 * DAY), status: maybe('recorded', 'void') },
  }),
  savings: fc.record({
    ...{ ...entry, account_number: numbered('S'), reference: numbered('R') },
    ...{ kind: fc.constantFrom('contribution', 'withdrawal'), amount: money },
    transacted_at: fc.constantFrom(NOW - DAY, NOW - 2 * DAY),
  }),
};

/** What a file of a kind may do without, or name its members by. */
const LESS: {
  readonly [kind in ImportKind]?: readonly ('reference' | 'member_code' | 'status' | 'mobile')[];
} = {
  members: ['status', 'mobile'],
  production: ['reference', 'member_code'],
  loans: ['member_code', 'status'],
  savings: ['reference', 'member_code'],
};
const withLess = (row: Cells, less: readonly string[]): Cells =>
  Object.fromEntries(
    Object.entries(row).flatMap(([column, cell]) => {
      if (!less.includes(column)) return [[column, cell]];
      // Of the first people, code n is mostly that of number n.
      return column === 'member_code' ? [['identity_card', nid(Number(/\d+/.exec(String(cell))?.[0]))]] : [];
    }),
  );

export const fileOf = (of: ImportKind, maxLength: number): fc.Arbitrary<Import> =>
  fc
    .tuple(
      fc.array(ROWS[of], { minLength: 1, maxLength, size: 'max' }),
      fc.subarray([...(LESS[of] ?? [])]),
      fc.boolean(),
    )
    .map(([rows, less, overwrites]) => ({
      ...({ kind: 'import', of, overwrites } as const),
      rows: rows.map((row) => withLess(row, less)),
    }));

const anyWrites: fc.Arbitrary<Writes> = fc.record({
  kind: fc.constant('writes' as const),
  writes: fc.array(
    fc.record({
      what: fc.constantFrom<Write>(
        ...(['member', 'name', 'name', 'code', 'number', 'memberStatus', 'cooperative'] as const),
        ...(['cooperativeName', 'cooperativeCode', 'loan', 'loanStatus'] as const),
        ...(['payment', 'payment', 'payment', 'void', 'amount'] as const),
        ...(['delivery', 'unnumbered', 'saving', 'saving'] as const),
      ),
      ...{ at: fc.nat(20), value: fc.nat(30) },
    }),
    { minLength: 1, maxLength: 5 },
  ),
  isCommitted: fc.integer({ min: 0, max: 5 }).map((n) => n > 0),
});

const anyFile = fc
  .tuple(
    fc.oneof(
      ...[...IMPORT_KINDS, 'members', 'loans', 'payments', 'payments', 'savings'].map((of) =>
        fileOf(of as ImportKind, 6),
      ),
    ),
    fc.option(anyWrites, { freq: 6, nil: undefined }),
  )
  .map(([file, beside]): Import => ({ ...file, beside }));

const place = { from: fc.nat(20), to: fc.nat(20) };
/** A national ID by its number: most are of somebody. */
export const person = fc.integer({ min: 1, max: 7 });
const anyCorrection: fc.Arbitrary<Correction> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      ...{ kind: fc.constant('replace' as const), from: person, to: person, releases: fc.boolean() },
      samePerson: fc.nat(3).map((n) => n > 0),
      only: fc.option(fc.nat(2), { nil: undefined, freq: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('merge' as const, 'move' as const, 'transfer' as const),
      ...place,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('release' as const, 'release' as const, 'death' as const, 'erase' as const),
      ...{ from: person, to: fc.constant(0) },
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cooperatives' as const), ...place }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ kind: fc.constant('remove' as const), entries: fc.constantFrom(...ENTRY_KINDS) },
      ...{ at: fc.nat(20), isAll: fc.boolean() },
    }),
  },
);

const anyUndo = fc.record({ kind: fc.constant('undo' as const), at: fc.nat(20) });
const anyNewer: fc.Arbitrary<Newer> = fc.record({
  ...{ kind: fc.constant('newer' as const), at: fc.nat(20), dropped: fc.subarray([0, 1, 2, 3, 4, 5]) },
  ...{ changed: fc.nat(5), value: few },
});
const anyRepeat = fc.record({ kind: fc.constant('again' as const), at: fc.nat(20) });

/** Imports, writes of keys, and undoing the imports. */
export const importsAndWrites: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: anyFile },
    { weight: 3, arbitrary: anyUndo },
    { weight: 2, arbitrary: anyWrites },
    { weight: 1, arbitrary: anyRepeat },
  ),
  { minLength: 4, maxLength: 12 },
);

/** The same with corrections. */
export const everyOperation: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: anyFile },
    { weight: 3, arbitrary: anyUndo },
    { weight: 2, arbitrary: anyWrites },
    { weight: 1, arbitrary: anyRepeat },
    { weight: 3, arbitrary: anyNewer },
    { weight: 6, arbitrary: anyCorrection },
  ),
  { minLength: 4, maxLength: 14 },
);

/** What a history begins with. */
export const START: readonly Import[] = [
  {
    ...{ kind: 'import', of: 'cooperatives', overwrites: false },
    rows: CODES.map((code) => ({ code, name: 'One' })),
  },
  {
    ...{ kind: 'import', of: 'members', overwrites: false },
    rows: [1, 2, 3].map((n) => ({
      ...{ cooperative_code: 'A-1', identity_card: nid(n), member_code: memberCode(n) },
      ...{ full_name: nameOf(n, 1), mobile: mobileOf(n, 1) },
    })),
  },
  {
    ...{ kind: 'import', of: 'loans', overwrites: false },
    rows: [1, 2, 3, 4].map((n) => ({
      ...{ cooperative_code: 'A-1', member_code: memberCode(1 + (n % 3)), reference: `L-${n}` },
      ...{ amount: 4, interest_rate: 1, status: 'approved' },
    })),
  },
];
/** Files with many entries of few members, so that more loans than a lookup shows meet in one. */
export const startFiles: fc.Arbitrary<readonly Import[]> = fc
  .tuple(fileOf('members', 8), fileOf('production', 10), fileOf('loans', 24), fileOf('savings', 10))
  .map((files) => [...START, ...files]);
