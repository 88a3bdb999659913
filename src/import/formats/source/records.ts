/** What every format of file is read into: records of texts, with the lines on which they start. */
import type { Text } from '../../../domain/values/message.ts';
import type { ImportFault } from '../../../store/contract/import/import-session.ts';

export interface FileRecord {
  /** Line of a text file on which it starts; in a workbook, the number of the row. The first is 1. */
  readonly line: number;
  /** The last line of one that takes several. What lies between two records has no value. */
  readonly lastLine?: number;
  readonly cells: readonly string[];
  /** Indexes of the cells that a workbook stores as numbers; a text file has none. */
  readonly numbers?: ReadonlySet<number>;
}

/** What was read of a file at once; a reader that is slow keeps the next one from being read. */
export interface RecordBatch {
  readonly records: readonly FileRecord[];
  /** Bytes read so far. */
  readonly bytesRead: number;
}

/** The header is among the first rows that have a value, as titles may precede it. */
export const HEADER_ROWS = 20;

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export type SourceFormat =
  | {
      readonly type: 'text';
      readonly encoding: Encoding;
      /** Whether it begins with a byte order mark. */
      readonly hasMark: boolean;
      readonly separator: string;
    }
  | { readonly type: 'workbook'; readonly sheet: string };

/** An open file. It stays readable when its name is moved or deleted meanwhile. */
export interface RecordSource {
  /** Size of the file. */
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

/** The file cannot be read any further, or its header is wrong: it is refused. */
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
