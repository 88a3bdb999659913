/** Records, the form into which all file formats are read: rows of texts with line numbers. */
import type { Text } from '../../values/message.ts';

export interface FileRecord {
  /** First line of the record in a text file, or row number in a workbook, counted from 1. */
  readonly line: number;
  /** Last line of a record; missing if the record is on one line. */
  readonly lastLine?: number;
  readonly cells: readonly string[];
  /** Indexes of cells that a workbook stores as numbers. */
  readonly numbers?: ReadonlySet<number>;
  /** Reasons why cells of a workbook have no usable value, by column index. */
  readonly cellFaults?: ReadonlyMap<number, Text>;
  /** Rounded numbers, as the workbook displays them, by column index. */
  readonly shownNumbers?: ReadonlyMap<number, string>;
  /** Indexes of merged cells that have the value of a cell above. */
  readonly mergedCells?: ReadonlySet<number>;
  /** True for a row hidden by hand or by a filter. */
  readonly isHidden?: boolean;
}

export interface RecordBatch {
  readonly records: readonly FileRecord[];
  /** Number of bytes of the file up to the end of this batch. */
  readonly bytesRead: number;
  readonly hiddenColumns?: ReadonlySet<number>;
}

/** Number of rows, from the first row with a value, that are searched for the header. */
export const HEADER_ROWS = 20;

export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export type SourceFormat =
  | {
      readonly type: 'text';
      readonly encoding: Encoding;
      /** True for a file with a byte order mark. */
      readonly hasMark: boolean;
      readonly separator: string;
    }
  | { readonly type: 'workbook'; readonly sheet: string };

/** Counts the cells of a row that are known headings. */
export type ScoreHeader = (cells: readonly string[]) => number;

/** Open file, which stays readable even if it is renamed or deleted. */
export interface RecordSource {
  readonly bytes: number;
  /** SHA-256 of the file, in hex. */
  readonly sha256: string;
  readonly format: SourceFormat;
  /** Names of all sheets, for a workbook. */
  readonly sheets?: readonly string[];
  /**
   * Reads the file from its start, and skips empty records. May be called again after an earlier read has
   * ended.
   * @throws FileFault at an unreadable record, after all records before it
   */
  read(): AsyncGenerator<RecordBatch>;
  close(): Promise<void>;
}

/** Properties of a `RecordSource` that depend on the file format. */
export type FormatSource = Pick<RecordSource, 'format' | 'sheets' | 'read'>;

/** Thrown for a file that cannot be read any further, or whose header is wrong. */
export class FileFault extends Error {
  readonly faults: readonly ImportFault[];

  constructor(faults: readonly ImportFault[], options?: ErrorOptions) {
    super(String(faults[0]?.message ?? ''), options);
    this.name = 'FileFault';
    this.faults = faults;
  }
}

export const fileFault = (line: number, message: Text, options?: ErrorOptions): FileFault =>
  new FileFault([{ line, column: '', message, refuses: 'file' }], options);

export interface ImportFault {
  /** First line of the faulty row. */
  readonly line: number;
  /** Name of the column; empty for a fault that does not concern a single column. */
  readonly column: string;
  readonly message: Text;
  readonly refuses: 'row' | 'file';
}

export const SAME_AS_LINE = 'Same as line {line}.';
