/** Reports on the files of an import. */
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
  /** Name under which users know the file, if not that in its path. */
  readonly name?: string | undefined;
  /** A typed row, in place of a file. */
  readonly entered?: RecordSource;
}

/** The name of a file without its folder, and without national IDs: it is printed and recorded. */
export const nameOf = ({ name, path }: Pick<ImportFile, 'path' | 'name'>): string =>
  hideIdentityCards(name ?? basename(path));

/**
 * `imported`; `accepted`: a dry run found nothing that refuses or stops the file; `refused`: by its faults;
 * `stopped`: by warnings that nobody has accepted; `failed`: by something else, see the report's failure;
 * `not_reached`: an earlier file did not get through. Nothing is written of any file but an imported one.
 */
export type Outcome = 'imported' | 'accepted' | 'refused' | 'stopped' | 'failed' | 'not_reached';

export interface FileReport {
  readonly file: ImportFile;
  readonly outcome: Outcome;
  readonly rows: number;
  readonly refusedRows: number;
  readonly faults: number;
  /** True if a fault concerns no single row: of its header, its bytes, or all its national IDs. */
  readonly isFileFaulty: boolean;
  readonly notes: readonly ImportNote[];
  /** Changes that were made; in a dry run and for a stopped file, those that an import would make. */
  readonly changes: ImportChanges;
  /** Numbers of stored values that changed or would change, by column; a column without any is missing. */
  readonly columns: ReadonlyMap<string, number>;
  /** Number of rows of the replaced import that the file no longer has; members and cooperatives stay. */
  readonly missing: number;
  readonly importId?: number;
  /** An earlier import of the same bytes that was not undone. */
  readonly sameAsImport?: number | undefined;
  readonly lockMs: number;
  readonly seconds: number;
  readonly failure?: Failure;
}

interface Failure {
  /** Message for the operator. */
  readonly message: Text;
  readonly error: unknown;
  /** True if the operator can do something about it; otherwise the error is unexpected. */
  readonly isExpected: boolean;
}

/** An error outside the registry, named in the message. */
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

// Messages of a running import to the program that has started the command and shows them (src/desk/)

/** Subject of a message about a file. */
export type NewsPart = 'note' | 'ignored' | 'warning' | 'fault' | 'kept' | 'missing' | 'changed' | 'failed';

export type ReportNews = Pick<
  FileReport,
  'outcome' | 'rows' | 'refusedRows' | 'isFileFaulty' | 'changes' | 'importId' | 'sameAsImport'
>;

/** A row of the file as it was understood, without its national ID, with values as they are stored. */
export interface FirstRow {
  readonly line: number;
  readonly values: { readonly [column: string]: string | number };
}

/**
 * Stored values of a column that the file would change: their number, and examples that are no national IDs.
 */
export interface ColumnChanges {
  readonly column: string;
  readonly count: number;
  readonly examples: readonly Pick<StagedChange, 'row' | 'old' | 'new'>[];
}

export type ImportNews =
  /** Share of the file that was read. */
  | { readonly progress: number }
  /** A packed message (src/values/message.ts), shown in the language of its reader. */
  | { readonly part: NewsPart; readonly text: string; readonly lines?: readonly number[] }
  /** Names of persons on the lines that messages are about, as the file has them. */
  | { readonly names: { readonly [line: number]: string } }
  | { readonly changes: readonly ColumnChanges[] }
  /** Sheets of a workbook of which none is chosen. */
  | { readonly sheets: readonly string[] }
  | { readonly firstRows: readonly FirstRow[] }
  | { readonly report: ReportNews }
  /** Sent when the command has reported what it would do, and waits for the message `yes`. */
  | { readonly asks: true }
  | { readonly proposal: MapProposal };
