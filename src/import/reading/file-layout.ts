/** Layout of a cooperative's files, as a map document describes it (docs/import-reference.md#maps). */

import type { ImportKind } from '../../registry/file-columns.ts';
import type { Encoding } from '../files/records.ts';
import type { DateOrder } from './cell-context.ts';

export const DECIMAL_MARKS = [',', '.'] as const;
type DecimalMark = (typeof DECIMAL_MARKS)[number];

export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
] as const satisfies readonly Encoding[];

/** Maximum `header_row`, because the rows above the header are kept in memory until the header is found. */
export const MAX_HEADER_LINE = 10_000;

export const MAP_KEYS = [
  'kind',
  'columns',
  'constants',
  'values',
  'dates',
  'decimal',
  'encoding',
  'header_row',
  'sheet',
] as const;

export interface FileLayout {
  readonly kind: ImportKind;
  /** Columns by folded heading of the file; null for a heading to ignore. */
  readonly columns: ReadonlyMap<string, string | null>;
  /** Columns whose numbers are rounded to the number of decimals that the column allows. */
  readonly rounded?: ReadonlySet<string>;
  /** Constants, by column: each is the cell of every row. */
  readonly constants: ReadonlyMap<string, string>;
  /** Values of the registry, by column and folded word of the file. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly dates?: DateOrder;
  readonly decimal?: DecimalMark;
  readonly encoding?: Encoding;
  readonly headerRow?: number;
  readonly sheet?: string;
}
