/** Reports about imported files, and messages about a running import. */
import { basename } from 'node:path';
import type { ImportChanges, StagedChange } from '../journal/operations.ts';
import type { ImportKind } from '../registry/file-columns.ts';
import { deniedMessage, systemCodeOf } from '../runtime/process.ts';
import { RegistryError } from '../values/errors.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { say, type Text } from '../values/message.ts';
import type { RecordSource } from './files/records.ts';
import type { ImportNote } from './reading/notes.ts';
import type { MapProposal } from './reading/propose-map.ts';

export interface ImportFile {
  readonly kind: ImportKind;
  readonly path: string;
  /** Name that users know the file by, if it differs from the name in the path. */
  readonly name?: string | undefined;
  /** Source of a typed row, instead of a file. */
  readonly entered?: RecordSource;
}

/** Returns a file's name without folder and national IDs, because the name is printed and stored. */
export const nameOf = ({ name, path }: Pick<ImportFile, 'path' | 'name'>): string =>
  hideIdentityCards(name ?? basename(path));

/**
 * Outcome of a file. Only an imported file is written.
 * - `imported`
 * - `accepted`: a dry run found no reason to refuse or stop the file
 * - `refused`: the file has faults
 * - `stopped`: the user has not confirmed the warnings
 * - `failed`: another error occurred, described by `failure`
 * - `not_reached`: an earlier file was not imported
 */
export type Outcome = 'imported' | 'accepted' | 'refused' | 'stopped' | 'failed' | 'not_reached';

export interface FileReport {
  readonly file: ImportFile;
  readonly outcome: Outcome;
  readonly rows: number;
  readonly refusedRows: number;
  readonly faults: number;
  /** True if a fault concerns the entire file, such as its header, its bytes or all national IDs. */
  readonly isFileFaulty: boolean;
  readonly notes: readonly ImportNote[];
  /** Changes that the import made, or would make in a dry run or for a stopped file. */
  readonly changes: ImportChanges;
  /** Number of stored values that change, by column. Columns without a change are missing. */
  readonly columns: ReadonlyMap<string, number>;
  /** Number of rows of the replaced import that the file lacks. Members and cooperatives are not removed. */
  readonly missing: number;
  readonly importId?: number;
  /** Id of an earlier import of the same bytes, unless that import was undone. */
  readonly sameAsImport?: number | undefined;
  readonly lockMs: number;
  readonly seconds: number;
  readonly failure?: Failure;
}

interface Failure {
  readonly message: Text;
  readonly error: unknown;
  /** True if the operator can fix the cause; false for an unexpected error. */
  readonly isExpected: boolean;
}

/** Expected error outside the registry, such as a full disk. The message tells the operator about it. */
export class ImportError extends Error {
  readonly text: Text;

  constructor(text: Text, options?: ErrorOptions) {
    super(String(text), options);
    this.name = 'ImportError';
    this.text = text;
  }
}

const NO_CHANGES: ImportChanges = { created: 0, changed: 0, unchanged: 0, kept: 0, removed: 0 };

export const emptyReport = (file: ImportFile): FileReport => ({
  file,
  outcome: 'not_reached',
  rows: 0,
  refusedRows: 0,
  faults: 0,
  isFileFaulty: false,
  notes: [],
  changes: NO_CHANGES,
  columns: new Map(),
  missing: 0,
  lockMs: 0,
  seconds: 0,
});

export function toFailure(error: unknown): Failure {
  if (error instanceof ImportError) return { message: error.text, error, isExpected: true };
  if (error instanceof RegistryError) return { message: error.message, error, isExpected: true };
  const code = systemCodeOf(error);
  const { path } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' && path !== undefined)
    return { message: deniedMessage(path), error, isExpected: true };
  if (code !== undefined)
    return { message: say('The file cannot be read ({code}).', { code }), error, isExpected: true };
  return { message: 'An unexpected error ended the import.', error, isExpected: false };
}

// Messages of a running import to the desk, which started the command and shows them

/** Subject of a message about a file. */
export type NewsPart = 'note' | 'ignored' | 'warning' | 'fault' | 'kept' | 'missing' | 'changed' | 'failed';

export type ReportNews = Pick<
  FileReport,
  'outcome' | 'rows' | 'refusedRows' | 'isFileFaulty' | 'changes' | 'importId' | 'sameAsImport'
>;

/** One of the first rows as the import read it, with values in stored form, without the national ID. */
export interface FirstRow {
  readonly line: number;
  readonly values: { readonly [column: string]: string | number };
}

/** Changed stored values of a column: their number, and examples, which are never national IDs. */
export interface ColumnChanges {
  readonly column: string;
  readonly count: number;
  readonly examples: readonly Pick<StagedChange, 'row' | 'old' | 'new'>[];
}

export type ImportNews =
  /** Fraction of the file read so far, from 0 to 1. */
  | { readonly progress: number }
  /** Packed message (src/values/message.ts), which the desk shows in the reader's language. */
  | { readonly part: NewsPart; readonly text: string; readonly lines?: readonly number[] }
  /** Names of people on the lines that messages refer to, as written in the file. */
  | { readonly names: { readonly [line: number]: string } }
  | { readonly changes: readonly ColumnChanges[] }
  /** Sheets of a workbook, if the import could not choose one. */
  | { readonly sheets: readonly string[] }
  | { readonly firstRows: readonly FirstRow[] }
  /** Columns with numbers that are refused for their decimals, and that a map could round. */
  | { readonly roundableColumns: readonly string[] }
  | { readonly report: ReportNews }
  /** Sent after the command has reported the planned changes; the command then waits for the reply `yes`. */
  | { readonly asks: true }
  | { readonly proposal: MapProposal };
