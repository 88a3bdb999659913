/** The form into which every file format is read: records of texts, with the lines on which they start. */
import type { Text } from '../../values/message.ts';

export interface FileRecord {
  /** Line of a text file on which it starts, or row number in a workbook. The first is 1. */
  readonly line: number;
  /** Last line of a record with several. Lines between two records have no value. */
  readonly lastLine?: number;
  readonly cells: readonly string[];
  /** Indexes of the cells that a workbook stores as numbers; a text file has none. */
  readonly numbers?: ReadonlySet<number>;
  /** Reasons why cells of a workbook have no value of their own, by index. */
  readonly cellFaults?: ReadonlyMap<number, Text>;
  /** Numbers as the workbook shows them, by index, where that is rounded. */
  readonly shownNumbers?: ReadonlyMap<number, string>;
  /** Indexes of cells with the value of one above that they are merged with. */
  readonly mergedCells?: ReadonlySet<number>;
  /** True for a row that is hidden, by hand or by a filter. */
  readonly isHidden?: boolean;
}

/** Records read from a file at once. A slow reader delays the next ones. */
export interface RecordBatch {
  readonly records: readonly FileRecord[];
  /** Number of bytes read so far. */
  readonly bytesRead: number;
  /** Indexes of the hidden columns of a workbook. */
  readonly hiddenColumns?: ReadonlySet<number>;
}

/** Number of first rows with a value among which the header is, as titles may precede it. */
export const HEADER_ROWS = 20;

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export type SourceFormat =
  | {
      readonly type: 'text';
      readonly encoding: Encoding;
      /** True for a file with a byte order mark. */
      readonly hasMark: boolean;
      readonly separator: string;
    }
  | { readonly type: 'workbook'; readonly sheet: string };

/** Counts the headings of the kind in a row. */
export type ScoreHeader = (cells: readonly string[]) => number;

/** An open file. It stays readable if its name is moved or deleted meanwhile. */
export interface RecordSource {
  /** Size of the file in bytes. */
  readonly bytes: number;
  /** SHA-256 of the bytes of the file, in hex. */
  readonly sha256: string;
  readonly format: SourceFormat;
  /** Names of all sheets of a workbook. */
  readonly sheets?: readonly string[];
  /**
   * Reads from the start; can be called again once a reading has ended. Empty records are left out.
   * @throws FileFault after the records before the unreadable one
   */
  read(): AsyncGenerator<RecordBatch>;
  close(): Promise<void>;
}

/** The records of a file in one format. */
export type FormatSource = Pick<RecordSource, 'format' | 'sheets' | 'read'>;

/** Refuses a file that cannot be read any further, or whose header is wrong. */
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
  /** Line on which the row starts; the header is line 1. */
  readonly line: number;
  /** Empty if the fault concerns no single column. */
  readonly column: string;
  readonly message: Text;
  /** Scope of the fault: the row of its line, or the file. */
  readonly refuses: 'row' | 'file';
}

/** Template of the fault for a row that repeats an earlier one. */
export const SAME_AS_LINE = 'Same as line {line}.';
