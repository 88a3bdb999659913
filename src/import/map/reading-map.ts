/** How one cooperative writes its files: what a map document says (docs/importing.md). */
import type { ImportKind } from '../../store/ports/import-session.ts';
import type { Encoding } from '../records.ts';

/** `dmy`: 31/3/2024, `mdy`: 3/31/2024, `ymd`: 2024/3/31. */
export type DateOrder = 'dmy' | 'mdy' | 'ymd';

export interface ReadingMap {
  readonly kind: ImportKind;
  /** By folded heading of the file, the column of the kind; null for one to be ignored. */
  readonly columns: ReadonlyMap<string, string | null>;
  /** By column of the kind, the cell that every row has. */
  readonly constants: ReadonlyMap<string, string>;
  /** By column of the kind, by folded word of the file, the word of the registry. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly dates?: DateOrder;
  readonly decimal?: ',' | '.';
  readonly encoding?: Encoding;
  /** Line of the header. */
  readonly headerRow?: number;
  readonly sheet?: string;
}
