/** Layout of a cooperative's files, as a map document describes it (docs/import-reference.md#maps). */

import type { ImportKind } from '../../registry/file-columns.ts';
import type { Encoding } from '../files/records.ts';
import type { DateOrder } from './cell-context.ts';

export const DECIMAL_MARKS = [',', '.'] as const;
type DecimalMark = (typeof DECIMAL_MARKS)[number];

/** Maximum `header_row`, because all rows above the header are in memory at once. */
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
  /** Columns by folded heading; null for a heading that is ignored. */
  readonly columns: ReadonlyMap<string, string | null>;
  /** Columns whose numbers are rounded if they have too many decimals. */
  readonly rounded?: ReadonlySet<string>;
  /** Cells that are the same in every row, by column. */
  readonly constants: ReadonlyMap<string, string>;
  /** Choices of the registry, by column and by folded word of the file. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly dates?: DateOrder;
  readonly decimal?: DecimalMark;
  readonly encoding?: Encoding;
  readonly headerRow?: number;
  readonly sheet?: string;
}
