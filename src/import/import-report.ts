/** Reports on the files of an import, and the messages that a running import sends to the desk. */
import { basename } from 'node:path';
import type { ImportChanges, StagedChange } from '../journal/operations.ts';
import type { ImportKind } from '../registry/file-columns.ts';
import { deniedMessage, systemCodeOf } from '../runtime/process.ts';
import type { StagedValue } from '../values/declared-fields.ts';
import { RegistryError } from '../values/errors.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { type Message, say, type Text } from '../values/message.ts';
import type { RecordSource } from './files/records.ts';
import type { ImportNote } from './reading/notes.ts';
import type { MapProposal } from './reading/propose-map.ts';
import type { AcceptedFile } from './staging/apply-checked-file.ts';

export interface ImportFile {
  readonly kind: ImportKind;
  readonly path: string;
  /** Name by which users know the file, if it differs from the name in `path`. */
  readonly name?: string | undefined;
  /** A typed row, which is imported instead of the file at `path`. */
  readonly entered?: RecordSource;
}

/** Hides national IDs, because the name is printed and stored. */
export const nameOf = ({ name, path }: Pick<ImportFile, 'path' | 'name'>): string =>
  hideIdentityCards(name ?? basename(path));

/**
 * Outcome for a file. Only an `imported` file was written to the registry.
 * - `accepted`: the file could be imported, but was only checked, or the user did not confirm its changes
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
  /** True if a fault concerns the entire file, such as a missing column. */
  readonly isFileFaulty: boolean;
  readonly notes: readonly ImportNote[];
  /** For an `accepted` or `stopped` file, changes that an import would make. */
  readonly changes: ImportChanges;
  /** Number of changed stored values, for each column with changes. */
  readonly columns: ReadonlyMap<string, number>;
  /** Number of rows of the replaced import that the file lacks. */
  readonly missing: number;
  readonly importId?: number;
  /** Id of an earlier import of the same bytes. Undone imports do not count. */
  readonly sameAsImport?: number | undefined;
  /** Time for which other processes could not write. */
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

/** An expected error outside the registry, such as a full disk. `text` is for the operator. */
export class ImportError extends Error {
  readonly text: Text;

  constructor(text: Text, options?: ErrorOptions) {
    super(String(text), options);
    this.name = 'ImportError';
    this.text = text;
  }
}

export const emptyReport = (file: ImportFile): FileReport => ({
  file,
  outcome: 'not_reached',
  rows: 0,
  refusedRows: 0,
  faults: 0,
  isFileFaulty: false,
  notes: [],
  changes: { created: 0, changed: 0, unchanged: 0, kept: 0, removed: 0 },
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

// Messages that a command sends to the desk, if the desk started the command

/** Subject of a message about a file. The desk shows the messages of each subject under one heading. */
export type NewsPart = 'note' | 'ignored' | 'warning' | 'fault' | 'kept' | 'missing' | 'changed' | 'failed';

export type ReportNews = Pick<
  FileReport,
  'outcome' | 'rows' | 'refusedRows' | 'isFileFaulty' | 'changes' | 'importId' | 'sameAsImport'
>;

/** One of the first rows of a file, as the import understood it. */
export interface FirstRow {
  readonly line: number;
  /** Values in stored form, without the national ID. */
  readonly values: { readonly [column: string]: string | number };
}

/** Stored values that a file changes in one column. The examples have no national IDs. */
export interface ColumnChanges {
  readonly column: string;
  readonly count: number;
  readonly examples: readonly Pick<StagedChange, 'row' | 'old' | 'new'>[];
}

const SHOWN_EXAMPLES = 3;
/** Maximum number of changes searched for examples. A column whose changes all come later has no example. */
const SEARCHED_CHANGES = 10_000;

export const withoutIdentityCards = (value: StagedValue) =>
  typeof value === 'string' ? hideIdentityCards(value) : value;

/** The first changes of a column are its examples. The column of national IDs has no examples. */
export function listColumnChanges(accepted: AcceptedFile): ColumnChanges[] {
  const examples = new Map([...accepted.columns.keys()].map((column) => [column, [] as StagedChange[]]));
  for (const change of Iterator.from(accepted.listChanges()).take(SEARCHED_CHANGES)) {
    const ofColumn = examples.get(change.column);
    if (ofColumn !== undefined && ofColumn.length < SHOWN_EXAMPLES) ofColumn.push(change);
    if (examples.values().every(({ length }) => length === SHOWN_EXAMPLES)) break;
  }
  return [...accepted.columns].map(([column, count]) => ({
    column,
    count,
    examples: (column === 'identity_card' ? [] : (examples.get(column) ?? [])).map((change) => ({
      row: hideIdentityCards(change.row),
      old: withoutIdentityCards(change.old),
      new: withoutIdentityCards(change.new),
    })),
  }));
}

/** @param name display name of the column */
export function describeColumnChanges(
  { count, examples }: ColumnChanges,
  name: Text,
  write: (value: StagedValue) => string,
): Message {
  const texts = examples.map((change) => `${change.row} ${write(change.old)} → ${write(change.new)}`);
  const fields = { column: name, count };
  return texts.length === 0
    ? say('{column} changes in {count|# row|# rows}', fields)
    : say('{column} changes in {count|# row|# rows}: {examples}', {
        ...fields,
        examples: (count > texts.length ? [...texts, '…'] : texts).join('; '),
      });
}

export type ImportNews =
  /** Fraction of the file, from 0 to 1. */
  | { readonly progress: number }
  /** Packed message (src/values/message.ts), which the desk shows in the reader's language. */
  | { readonly part: NewsPart; readonly text: string; readonly lines?: readonly number[] }
  | { readonly changes: readonly ColumnChanges[] }
  /** Names of all sheets of a workbook, if the import could not choose a sheet. */
  | { readonly sheets: readonly string[] }
  | {
      readonly firstRows: readonly FirstRow[];
      /** Columns in which numbers were refused for too many decimals. A map can round these columns. */
      readonly roundableColumns: readonly string[];
      /** Names of people on the lines that messages refer to, as written in the file. */
      readonly names: { readonly [line: number]: string };
    }
  | { readonly report: ReportNews }
  /** Sent after the planned changes. The command then waits for the reply `yes`. */
  | { readonly asks: true }
  | { readonly proposal: MapProposal };
