/** Mapping of file columns to table columns, with the SQL of the stored values. */

import { referencesOf, type Table, tableOf } from '../../registry/changes/tables.ts';
import { byKind, FILE_COLUMNS, type FileColumn, type ImportKind } from '../../registry/file-columns.ts';
import { type Field, NOW } from '../../values/declared-fields.ts';

// SQL for the opening balance of a loan and its end (docs/import-reference.md#opening-balances). `r` is the
// staged row and `t` the stored loan.

/** SQL condition: the row's paid amount is neither the opening balance nor the total paid amount of `t`. */
export const IS_ANOTHER_BALANCE = 'r.paid_amount NOT IN (t.opening_balance_minor, t.paid_amount_minor)';

/** SQL expression for the new opening balance of a stored loan. */
export const OPENING_BALANCE = `iif(${IS_ANOTHER_BALANCE}, r.paid_amount, t.opening_balance_minor)`;

/** SQL expression for the end of a new loan's opening balance; null without an opening balance. */
export const NEW_CUT_OFF = 'iif(r.paid_amount > 0, r.paid_until, NULL)';
/** SQL expression for the new end of a stored loan's opening balance. It changes only with the balance. */
export const CUT_OFF = `iif(${IS_ANOTHER_BALANCE}, ${NEW_CUT_OFF}, t.paid_until)`;

/** A column of a file whose cells set a value of a stored row. */
export interface TargetColumn {
  /** Column of `staging.rows`. */
  readonly from: string;
  /** Column of the table. */
  readonly to: string;
  /** SQL expression for the value of a new row, from the staged row `r`. `@now` is the time of the import. */
  readonly created: string;
  /** SQL expression for the new value of the stored row `t`, from the staged row `r`. */
  readonly changed: string;
  /** Another column of the table, to which the difference between new and old value is added. */
  readonly addsTo?: string;
}

export interface Target extends Pick<Table, 'table' | 'label' | 'hasTimestamps'> {
  readonly columns: readonly TargetColumn[];
  /** File columns that identify the row. Of these, only a national ID can change (staged-changes.ts). */
  readonly keys: readonly { readonly name: string; readonly to?: string }[];
  /** Columns of `resolved_references` that are stored in a new row. */
  readonly resolved: readonly string[];
}

/** Columns of loans whose values depend on each other. */
const DECIDED: { readonly [column: string]: Omit<TargetColumn, 'from' | 'to'> } = {
  opening_balance_minor: {
    created: 'coalesce(r.paid_amount, 0)',
    changed: OPENING_BALANCE,
    addsTo: 'paid_amount_minor',
  },
  paid_until: { created: NEW_CUT_OFF, changed: CUT_OFF },
};

const NUMBERS: readonly Field['kind'][] = ['instant', 'past_instant', 'decimal'];
const typeOf = ({ kind }: Field): 'TEXT' | 'INTEGER' => (NUMBERS.includes(kind) ? 'INTEGER' : 'TEXT');

function toTargetColumn({ name, isRequired, field }: FileColumn): TargetColumn {
  const { column, initial, isNullable, isKeptByEmptyCell } = field;
  const isClearedByEmptyCell = isNullable === true && isKeptByEmptyCell !== true;
  const ifEmpty = initial === NOW ? '@now' : `'${initial}'`;
  return {
    from: name,
    to: column,
    created: initial === undefined || isRequired ? `r.${name}` : `coalesce(r.${name}, ${ifEmpty})`,
    changed: isClearedByEmptyCell ? `r.${name}` : `coalesce(r.${name}, t.${column})`,
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
