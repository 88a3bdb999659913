/** What an import says while it runs, for a program that has started the command and shows it (src/desk/). */
import type { StagedChange } from '../../store/contract/import/import-session.ts';
import type { MapProposal } from '../proposal/propose-map.ts';
import type { FileReport } from './import-report.ts';

/** What a sentence about a file is. */
export type NewsPart = 'note' | 'ignored' | 'warning' | 'fault' | 'kept' | 'missing' | 'changed' | 'failed';

export type ReportNews = Pick<
  FileReport,
  'outcome' | 'rows' | 'refusedRows' | 'isFileFaulty' | 'changes' | 'importId' | 'sameAsImport'
>;

/** A row of the file as it was understood, without its national ID: values as they are stored. */
export interface FirstRow {
  readonly line: number;
  readonly values: { readonly [column: string]: string | number };
}

/** Stored values of a column that the file would change: how many, and some that are no national IDs. */
export interface ColumnChanges {
  readonly column: string;
  readonly count: number;
  readonly examples: readonly Pick<StagedChange, 'row' | 'old' | 'new'>[];
}

export type ImportNews =
  /** Share of the file that was read. */
  | { readonly progress: number }
  /** A packed message (src/domain/values/message.ts): it is shown in the language of whoever reads it. */
  | { readonly part: NewsPart; readonly text: string; readonly lines?: readonly number[] }
  /** Who is on lines that sentences are about, as the file calls them. */
  | { readonly names: { readonly [line: number]: string } }
  | { readonly changes: readonly ColumnChanges[] }
  /** Of a workbook of which none is chosen. */
  | { readonly sheets: readonly string[] }
  | { readonly firstRows: readonly FirstRow[] }
  | { readonly report: ReportNews }
  /** It has reported what it would do, and waits for the message `yes`. */
  | { readonly asks: true }
  | { readonly proposal: MapProposal };
