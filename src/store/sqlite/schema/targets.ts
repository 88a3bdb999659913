/** Where each column of an import file goes, and what an empty cell means for a stored row. */
import { type Field, NOW } from '../../../domain/values/declared-fields.ts';
import { byKind, FILE_COLUMNS, type FileColumn } from '../../contract/import/import-columns.ts';
import type { ImportKind } from '../../contract/import/import-session.ts';
import { CUT_OFF, NEW_CUT_OFF, OPENING_BALANCE } from './opening-balance.ts';
import { referencesOf, type Table, tableOf } from './tables.ts';

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

export interface Target extends Pick<Table, 'table' | 'label' | 'hasTimestamps'> {
  readonly columns: readonly TargetColumn[];
  /** Columns of the file that name the row; they are staged, resolved, and never updated. */
  readonly keys: readonly { readonly name: string; readonly to?: string }[];
  /** Resolved references that a new row stores. */
  readonly resolved: readonly string[];
}

/** Values of loans that depend on each other. */
const DECIDED: { readonly [column: string]: Pick<TargetColumn, 'decided' | 'addsTo'> } = {
  opening_balance_minor: {
    addsTo: 'paid_amount_minor',
    decided: { created: 'coalesce(r.paid_amount, 0)', changed: OPENING_BALANCE },
  },
  paid_until: { decided: { created: NEW_CUT_OFF, changed: CUT_OFF } },
};

const NUMBERS: readonly Field['kind'][] = ['instant', 'past_instant', 'decimal'];
const typeOf = ({ kind }: Field): TargetColumn['type'] => (NUMBERS.includes(kind) ? 'INTEGER' : 'TEXT');

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

/** The columns of a staged row after its line, in the order of `StagedRow.values`. */
export const stagedColumns = (kind: ImportKind): { name: string; type: string }[] =>
  FILE_COLUMNS[kind].map(({ name, field }) => ({ name, type: typeOf(field) }));
