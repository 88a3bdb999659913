/** Mapping of file columns to table columns, and the effect of an empty cell on a stored row. */

import { referencesOf, type Table, tableOf } from '../../registry/changes/tables.ts';
import { byKind, FILE_COLUMNS, type FileColumn, type ImportKind } from '../../registry/file-columns.ts';
import type { Field } from '../../values/declared-fields.ts';
import { NOW } from '../../values/declared-fields.ts';

// SQL for the opening balance of a loan and its end (docs/import-reference.md#opening-balances). `r` is the
// staged row and `t` the stored loan.

/** SQL condition: the row has another opening balance than the stored loan. */
export const IS_ANOTHER_BALANCE = 'r.paid_amount NOT IN (t.opening_balance_minor, t.paid_amount_minor)';

/** SQL expression for the new opening balance of a stored loan. */
export const OPENING_BALANCE = `iif(${IS_ANOTHER_BALANCE}, r.paid_amount, t.opening_balance_minor)`;

/** SQL expression for the end of a new loan's opening balance; null without an opening balance. */
export const NEW_CUT_OFF = 'iif(r.paid_amount > 0, r.paid_until, NULL)';
/** SQL expression for the end of a stored loan's opening balance. It changes only with the balance. */
export const CUT_OFF = `iif(${IS_ANOTHER_BALANCE}, ${NEW_CUT_OFF}, t.paid_until)`;

// Targets of each kind of file

export interface TargetColumn {
  /** Column of `staging.rows`. */
  readonly from: string;
  readonly to: string;
  readonly type: 'TEXT' | 'INTEGER';
  /** Effect of an empty cell on a stored row: clear the value or keep it. */
  readonly whenEmpty: 'clear' | 'keep';
  /** SQL expression for the value of a new row with an empty cell. `@now` is the time of the import. */
  readonly initial?: string;
  /**
   * SQL expressions for values that also depend on other columns of the staged row `r` and the stored row
   * `t`. They replace `whenEmpty` and `initial`.
   */
  readonly decided?: { readonly created: string; readonly changed: string };
  /** Another column of the table, to which the difference between new and old value is added. */
  readonly addsTo?: string;
}

export interface Target extends Pick<Table, 'table' | 'label' | 'hasTimestamps'> {
  readonly columns: readonly TargetColumn[];
  /** File columns that identify the row. They are staged and resolved, but never updated. */
  readonly keys: readonly { readonly name: string; readonly to?: string }[];
  /** Columns of `resolved_references` that are stored in a new row. */
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

/** Returns the columns of a staged row after the line number, in the order of `StagedRow.values`. */
export const stagedColumns = (kind: ImportKind): { name: string; type: string }[] =>
  FILE_COLUMNS[kind].map(({ name, field }) => ({ name, type: typeOf(field) }));
