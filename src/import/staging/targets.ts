/** Targets of the columns of import files, and the meaning of an empty cell for a stored row. */

import { referencesOf, type Table, tableOf } from '../../registry/changes/tables.ts';
import { byKind, FILE_COLUMNS, type FileColumn, type ImportKind } from '../../registry/file-columns.ts';
import type { Field } from '../../values/declared-fields.ts';
import { NOW } from '../../values/declared-fields.ts';

// Opening balance of a loan, and its end, from a loans file (docs/import-reference.md#opening-balances). In
// each expression `r` is the staged row and `t` the stored loan.

/** True if the row has an opening balance that differs from that of the stored loan. */
export const IS_ANOTHER_BALANCE = 'r.paid_amount NOT IN (t.opening_balance_minor, t.paid_amount_minor)';

/** New opening balance of a stored loan. */
export const OPENING_BALANCE = `iif(${IS_ANOTHER_BALANCE}, r.paid_amount, t.opening_balance_minor)`;

/** End of the opening balance of a new loan; null without one. */
export const NEW_CUT_OFF = 'iif(r.paid_amount > 0, r.paid_until, NULL)';
/** End of the opening balance of a stored loan. It changes only together with the balance. */
export const CUT_OFF = `iif(${IS_ANOTHER_BALANCE}, ${NEW_CUT_OFF}, t.paid_until)`;

// The targets

export interface TargetColumn {
  /** Staged column of the file. */
  readonly from: string;
  readonly to: string;
  readonly type: 'TEXT' | 'INTEGER';
  /** Effect of an empty cell on an existing row: clears the column, or keeps the stored value. */
  readonly whenEmpty: 'clear' | 'keep';
  /** SQL of the value that a new row gets for an empty cell; `@now` is the time of the import. */
  readonly initial?: string;
  /**
   * SQL over the staged row `r` and the stored row `t`, instead of the two above, where the value also
   * depends on other columns.
   */
  readonly decided?: { readonly created: string; readonly changed: string };
  /** Column of the table that includes this value in a sum and changes by the same amount. */
  readonly addsTo?: string;
}

export interface Target extends Pick<Table, 'table' | 'label' | 'hasTimestamps'> {
  readonly columns: readonly TargetColumn[];
  /** Columns of the file that identify the row: staged, resolved, never updated. */
  readonly keys: readonly { readonly name: string; readonly to?: string }[];
  /** Columns of resolved references that a new row stores. */
  readonly resolved: readonly string[];
}

/** Columns of loans that depend on each other. */
const DECIDED: { readonly [column: string]: Pick<TargetColumn, 'decided' | 'addsTo'> } = {
  opening_balance_minor: {
    addsTo: 'paid_amount_minor',
    decided: { created: 'coalesce(r.paid_amount, 0)', changed: OPENING_BALANCE },
  },
  paid_until: { decided: { created: NEW_CUT_OFF, changed: CUT_OFF } },
};

const NUMBERS: readonly Field['kind'][] = ['instant', 'past_instant', 'decimal'];
const typeOf = ({ kind }: Field): 'TEXT' | 'INTEGER' => (NUMBERS.includes(kind) ? 'INTEGER' : 'TEXT');

function toTargetColumn({ name, isRequired, field }: FileColumn): TargetColumn {
  const { column, initial, isNullable, isKeptByEmptyCell } = field;
  return {
    from: name,
    to: column,
    type: typeOf(field),
    whenEmpty: isNullable === true && isKeptByEmptyCell !== true ? 'clear' : 'keep',
    ...(initial === undefined || isRequired ? {} : { initial: initial === NOW ? '@now' : `'${initial}'` }),
    ...DECIDED[column],
  };
}

function targetOf(kind: ImportKind): Target {
  const { table, label, hasTimestamps } = tableOf(kind);
  const columns = FILE_COLUMNS[kind];
  return {
    table,
    label,
    hasTimestamps,
    resolved: referencesOf(tableOf(kind)).map(({ column }) => column),
    keys: columns.flatMap(({ name, role, field }) => {
      if (role === 'value') return [];
      return [role === 'key' ? { name, to: field.column } : { name }];
    }),
    columns: columns.filter(({ role }) => role === 'value').map(toTargetColumn),
  };
}

export const TARGETS = byKind(targetOf);

/** Columns of a staged row after its line number, in the order of `StagedRow.values`. */
export const stagedColumns = (kind: ImportKind): { name: string; type: string }[] =>
  FILE_COLUMNS[kind].map(({ name, field }) => ({ name, type: typeOf(field) }));
