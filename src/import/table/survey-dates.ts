/**
 * Surveys an entire file for the order of day and month in its dates, before its rows are staged. The order
 * that the evidence implies is determined in reading/dates.ts.
 */

import { valueIn } from '../../formats/blanks.ts';
import { FileFault, type FileRecord, type RecordSource } from '../../formats/records.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import { type DateEvidence, noDates } from '../reading/cell-context.ts';
import { collectDateEvidence } from '../reading/dates.ts';
import { IMPORT_COLUMNS, isOfDates } from './columns.ts';
import { isTotalsRow } from './compare-totals.ts';
import { createWidthCheck, type Header } from './header.ts';

/** Evidence of the date order by column. */
type DateSurvey = ReadonlyMap<string, DateEvidence>;

/** Facts about an entire file from earlier readings. */
export interface FileSurvey {
  /** Undefined until the dates are surveyed. */
  readonly dates?: DateSurvey | undefined;
  /** Columns with too many unknown words for any of them to be shown. */
  readonly hidden: ReadonlySet<string>;
}

/** @param onBatch called between batches; an exception from it ends the reading */
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
  // A row outside the table is no evidence about its columns.
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
