/** What a column of a kind takes, as its parser shows. */
import { FieldError } from '../../domain/values/errors.ts';
import type { CellContext } from '../cells/context.ts';
import type { ImportColumn } from '../columns/columns.ts';

export type ColumnType = 'choice' | 'date' | 'number' | 'text';

export function typeOf(column: ImportColumn, cells: CellContext): ColumnType {
  const takes = (cell: string) => !(column.parse(cell, cells) instanceof FieldError);
  if (column.choices !== undefined) return 'choice';
  if (takes('2000-01-31') && !takes('31')) return 'date';
  return takes('31') && !takes('A') ? 'number' : 'text';
}
