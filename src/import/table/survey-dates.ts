/**
 * Goes through an entire file for the order of day and month in its dates, before its rows are staged. What
 * the evidence decides is in cells/dates.ts.
 */
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import { valueIn } from '../cells/blanks.ts';
import { type DateEvidence, noDates } from '../cells/context.ts';
import { collectDateEvidence } from '../cells/dates.ts';
import { IMPORT_COLUMNS, isOfDates } from '../columns/columns.ts';
import { FileFault, type FileRecord, type RecordSource } from '../formats/source/records.ts';
import type { Header } from './header.ts';
import { createWidthCheck } from './row-width.ts';
import { isTotalsRow } from './totals-row.ts';

/** By column, what its dates show. */
export type DateSurvey = ReadonlyMap<string, DateEvidence>;

/** What is known of all of a file from earlier readings. */
export interface FileSurvey {
  /** Undefined before the dates were surveyed. */
  readonly dates?: DateSurvey | undefined;
  /** Columns of which no unknown word is shown, as there are too many. */
  readonly hidden: ReadonlySet<string>;
}

/** @param onBatch called between batches; what it throws ends the reading */
export async function surveyDates(
  source: RecordSource,
  kind: ImportKind,
  header: Header,
  onBatch: (bytesRead: number) => void,
): Promise<DateSurvey> {
  const columns = IMPORT_COLUMNS[kind].flatMap((column, i) =>
    isOfDates(column) ? [{ name: column.name, place: header.places[i] as number, evidence: noDates() }] : [],
  );
  const isWrongWidth = createWidthCheck(header, source.format);
  // What is no row of the table does not speak for its columns.
  const isRow = ({ line, cells }: FileRecord): boolean =>
    line > header.line && !isWrongWidth(cells) && !isTotalsRow(kind, header, cells);
  try {
    for await (const { records, bytesRead } of source.read()) {
      onBatch(bytesRead);
      for (const record of records) {
        if (!isRow(record)) continue;
        for (const { place, evidence } of columns)
          if (place >= 0) collectDateEvidence(valueIn(record.cells, place), evidence);
      }
    }
  } catch (error) {
    // Reported when the rows are read.
    if (!(error instanceof FileFault)) throw error;
  }
  return new Map(columns.map(({ name, evidence }) => [name, evidence]));
}
