/** A reading of an entire file for the order of day and month in its dates, before its rows are staged. */
import type { ImportKind } from '../store/ports/import-session.ts';
import type { DateEvidence } from './cells/context.ts';
import { collectEvidence, readsDates } from './cells/dates.ts';
import { IMPORT_COLUMNS } from './columns.ts';
import type { Header } from './header.ts';
import { FileFault, type RecordSource } from './records.ts';

/** By column, what its dates show. */
export type DateSurvey = ReadonlyMap<string, DateEvidence>;

/** @param onBatch called between batches; what it throws ends the reading */
export async function surveyDates(
  source: RecordSource,
  kind: ImportKind,
  header: Header,
  onBatch: (bytesRead: number) => void,
): Promise<DateSurvey> {
  const columns = IMPORT_COLUMNS[kind].flatMap(({ name, parse }, i) => {
    const evidence: DateEvidence = { hasDayFirst: false, hasMonthFirst: false };
    return readsDates(parse) ? [{ name, place: header.places[i] as number, evidence }] : [];
  });
  try {
    for await (const { records, bytesRead } of source.read()) {
      onBatch(bytesRead);
      for (const { line, cells } of records) {
        if (line <= header.line) continue;
        for (const { place, evidence } of columns)
          if (place >= 0) collectEvidence((cells[place] ?? '').trim(), evidence);
      }
    }
  } catch (error) {
    // Reported when the rows are read.
    if (!(error instanceof FileFault)) throw error;
  }
  return new Map(columns.map(({ name, evidence }) => [name, evidence]));
}
