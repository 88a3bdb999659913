/** What became of each file of an import. */
import { basename } from 'node:path';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import { RegistryError } from '../../domain/values/errors.ts';
import { say, type Text } from '../../domain/values/message.ts';
import { systemCodeOf } from '../../runtime/system-code.ts';
import type { ImportChanges, ImportKind } from '../../store/contract/import/import-session.ts';
import type { ImportNote } from '../cells/notes.ts';
import type { RecordSource } from '../formats/source/records.ts';

export interface ImportFile {
  readonly kind: ImportKind;
  readonly path: string;
  /** What people call it, where that is not the name in its path. */
  readonly name?: string | undefined;
  /** A row that somebody has typed, in place of a file. */
  readonly entered?: RecordSource;
}

/** The name of a file without its folder, and without national IDs: it is printed and recorded. */
export const nameOf = ({ name, path }: Pick<ImportFile, 'path' | 'name'>): string =>
  hideIdentityCards(name ?? basename(path));

/**
 * `imported`; `accepted`: a dry run found nothing that refuses or stops the file; `refused`: its faults do;
 * `stopped`: warnings do, and nobody has accepted them; `failed`: something else went wrong, see the report's
 * failure; `not_reached`: an earlier file did not get through. Nothing is written of any file but an imported
 * one.
 */
export type Outcome = 'imported' | 'accepted' | 'refused' | 'stopped' | 'failed' | 'not_reached';

export interface FileReport {
  readonly file: ImportFile;
  readonly outcome: Outcome;
  readonly rows: number;
  readonly refusedRows: number;
  readonly faults: number;
  /** Refused for what concerns no single row: its header, its bytes, all its national IDs. */
  readonly isFileFaulty: boolean;
  /** What was read leniently or skipped. */
  readonly notes: readonly ImportNote[];
  /** What was done; in a dry run and for a stopped file, what an import would do. */
  readonly changes: ImportChanges;
  /** How many stored values of each column changed, likewise; a column without any is missing. */
  readonly columns: ReadonlyMap<string, number>;
  /** Rows of the replaced import that the file no longer has; of members and cooperatives, they stay. */
  readonly missing: number;
  /** Under which the import is recorded. */
  readonly importId?: number;
  /** An import of the same bytes that was applied before and not undone. */
  readonly sameAsImport?: number | undefined;
  readonly lockMs: number;
  readonly seconds: number;
  readonly failure?: Failure;
}

export interface Failure {
  /** For the operator. */
  readonly message: Text;
  readonly error: unknown;
  /** Whether the operator can do something about it; otherwise it is an unexpected error. */
  readonly isExpected: boolean;
}

/** Something outside the registry went wrong; the message names it. */
export class ImportError extends Error {
  readonly text: Text;

  constructor(text: Text, options?: ErrorOptions) {
    super(String(text), options);
    this.name = 'ImportError';
    this.text = text;
  }
}

const NO_CHANGES: ImportChanges = { created: 0, changed: 0, unchanged: 0, kept: 0, removed: 0 };

/** Of a file before it is reached. */
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
  if (code !== undefined)
    return { message: say('The file cannot be read ({code}).', { code }), error, isExpected: true };
  return { message: 'An unexpected error ended the import.', error, isExpected: false };
}
