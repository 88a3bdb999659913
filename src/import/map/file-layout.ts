/** How one cooperative writes its files: what a map document says (docs/import-reference.md#maps). */
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import type { DateOrder } from '../cells/context.ts';
import type { Encoding } from '../formats/source/records.ts';

export const DECIMAL_MARKS = [',', '.'] as const;
export type DecimalMark = (typeof DECIMAL_MARKS)[number];

export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
] as const satisfies readonly Encoding[];

/** The rows above a header are kept in memory until it is found. */
export const MAX_HEADER_LINE = 10_000;

/** The keys of a map document. */
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
  /** By folded heading of the file, the column of the kind; null for one to be ignored. */
  readonly columns: ReadonlyMap<string, string | null>;
  /** By column of the kind, the cell that every row has. */
  readonly constants: ReadonlyMap<string, string>;
  /** By column of the kind, by folded word of the file, the word of the registry. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly dates?: DateOrder;
  readonly decimal?: DecimalMark;
  readonly encoding?: Encoding;
  /** Line of the header. */
  readonly headerRow?: number;
  readonly sheet?: string;
}
