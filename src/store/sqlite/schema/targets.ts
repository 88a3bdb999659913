/** Where each column of an import file goes, and what an empty cell means for a stored row. */

import { DEFAULT_LOAN_STATUS } from '../../../domain/lending/loans.ts';
import { DEFAULT_PAYMENT_STATUS } from '../../../domain/lending/payments.ts';
import { DEFAULT_COOPERATIVE_STATUS } from '../../../domain/membership/cooperatives.ts';
import { DEFAULT_MEMBER_STATUS, DEFAULT_ROLE } from '../../../domain/membership/members.ts';
import type { ImportKind } from '../../ports/import-session.ts';
import { CUT_OFF, NEW_CUT_OFF, OPENING_BALANCE } from './opening-balance.ts';
import type { ReadModelColumn } from './stale-flag.ts';

export interface TargetColumn {
  /** Column of the file, as staged. */
  readonly from: string;
  /** Column of the table. */
  readonly to: string;
  readonly type: 'TEXT' | 'INTEGER';
  /** An empty cell of a row that exists clears the column, or keeps what is stored. */
  readonly whenEmpty: 'clear' | 'keep';
  /** SQL of the value that a new row gets for an empty cell; `@now` is the time of the import. */
  readonly initial?: string;
  /** In place of both, where other columns decide as well: SQL from the staged row `r` and the stored `t`. */
  readonly decided?: { readonly created: string; readonly changed: string };
  /** Column of the table that is a sum with this one, and changes by as much. */
  readonly addsTo?: string;
}

export interface Target {
  readonly table: string;
  readonly columns: readonly TargetColumn[];
  /** Columns of the file that name the row; they are staged, resolved, and never updated. */
  readonly keys: readonly { readonly name: string; readonly to?: string }[];
  /** Resolved references that a new row stores. */
  readonly resolved: readonly ('cooperative_id' | 'member_id' | 'account_id' | 'loan_id')[];
  readonly hasTimestamps: boolean;
  /** Column of the table that names a row to people: never a national ID. */
  readonly label: 'code' | 'member_code' | 'reference';
  /** Column of the read model that depends on its rows. */
  readonly readModelColumn?: ReadModelColumn;
}

const text = (name: string, more: Partial<TargetColumn> = {}): TargetColumn => ({
  from: name,
  to: name,
  type: 'TEXT',
  whenEmpty: 'clear',
  ...more,
});
const integer = (name: string, more: Partial<TargetColumn> = {}): TargetColumn =>
  text(name, { type: 'INTEGER', ...more });
/** A word of ours as a value in SQL. */
const sqlText = (word: string): string => `'${word}'`;
const KEEP = { whenEmpty: 'keep' } as const;
const COOPERATIVE = { name: 'cooperative_code' };
/** The member of an entry; where the code is missing, the national ID finds it. */
const MEMBER = [{ name: 'member_code' }, { name: 'identity_card' }];
const REFERENCE = { name: 'reference', to: 'reference' };

export const TARGETS: { readonly [kind in ImportKind]: Target } = {
  cooperatives: {
    table: 'cooperatives',
    label: 'code',
    keys: [{ name: 'code', to: 'code' }],
    resolved: [],
    hasTimestamps: true,
    columns: [
      text('name', KEEP),
      text('sector'),
      text('province'),
      text('district'),
      // Nullable, but kept like the status (docs/import-reference.md#columns).
      text('registration_date', KEEP),
      text('status', { ...KEEP, initial: sqlText(DEFAULT_COOPERATIVE_STATUS) }),
    ],
  },
  members: {
    table: 'members',
    label: 'member_code',
    keys: [COOPERATIVE, { name: 'identity_card', to: 'identity_card' }],
    resolved: ['cooperative_id'],
    hasTimestamps: true,
    columns: [
      text('member_code', KEEP),
      text('full_name', KEEP),
      text('first_name'),
      text('last_name'),
      text('gender'),
      text('date_of_birth'),
      text('mobile'),
      text('role', { ...KEEP, initial: sqlText(DEFAULT_ROLE) }),
      text('status', { ...KEEP, initial: sqlText(DEFAULT_MEMBER_STATUS) }),
      integer('registration_date', { ...KEEP, initial: '@now' }),
    ],
  },
  production: {
    table: 'production_entries',
    readModelColumn: 'production',
    label: 'reference',
    keys: [COOPERATIVE, ...MEMBER, REFERENCE],
    resolved: ['cooperative_id', 'member_id'],
    hasTimestamps: false,
    columns: [integer('delivered_at', KEEP), integer('kg', { ...KEEP, to: 'grams' }), text('product')],
  },
  loans: {
    table: 'loans',
    readModelColumn: 'loans',
    label: 'reference',
    keys: [COOPERATIVE, ...MEMBER, REFERENCE],
    resolved: ['cooperative_id', 'member_id'],
    hasTimestamps: true,
    columns: [
      integer('amount', { ...KEEP, to: 'amount_minor' }),
      integer('interest_rate', { ...KEEP, to: 'interest_rate_hundredths' }),
      text('status', { ...KEEP, initial: sqlText(DEFAULT_LOAN_STATUS) }),
      integer('paid_amount', {
        ...{ ...KEEP, to: 'opening_balance_minor', addsTo: 'paid_amount_minor' },
        decided: { created: 'coalesce(r.paid_amount, 0)', changed: OPENING_BALANCE },
      }),
      integer('paid_until', { ...KEEP, decided: { created: NEW_CUT_OFF, changed: CUT_OFF } }),
      integer('loan_start_date'),
      integer('loan_end_date'),
      integer('approved_at'),
    ],
  },
  payments: {
    table: 'payments',
    readModelColumn: 'loans',
    label: 'reference',
    keys: [COOPERATIVE, { name: 'loan_reference' }, REFERENCE],
    resolved: ['cooperative_id', 'loan_id'],
    hasTimestamps: true,
    columns: [
      integer('amount', { ...KEEP, to: 'amount_minor' }),
      text('method', KEEP),
      integer('paid_at', KEEP),
      text('status', { ...KEEP, initial: sqlText(DEFAULT_PAYMENT_STATUS) }),
    ],
  },
  savings: {
    table: 'savings_transactions',
    readModelColumn: 'savings',
    label: 'reference',
    keys: [COOPERATIVE, ...MEMBER, { name: 'account_number' }, REFERENCE],
    resolved: ['cooperative_id', 'account_id'],
    hasTimestamps: false,
    columns: [
      text('kind', KEEP),
      integer('amount', { ...KEEP, to: 'amount_minor' }),
      integer('transacted_at', KEEP),
    ],
  },
};

/** The columns of a staged row after its line, in the order of `StagedRow.values`. */
export const stagedColumns = (kind: ImportKind): { name: string; type: string }[] => [
  ...TARGETS[kind].keys.map(({ name }) => ({ name, type: 'TEXT' })),
  ...TARGETS[kind].columns.map(({ from, type }) => ({ name: from, type })),
];
