/** Where the table of a file begins: the row of its headings (docs/import-reference.md#headings). */
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import { type FileRecord, fileFault, HEADER_ROWS, type RecordBatch } from '../formats/source/records.ts';
import type { FileLayout } from '../map/file-layout.ts';
import { addedColumnOf, FAULTS_COLUMN, MAX_COLUMNS, recogniseHeadings, scoreHeader } from './headings.ts';

/** With fewer recognised headings a row may as well be data. */
const LOWEST_SCORE = 2;

export interface HeaderPlace {
  /** Index of its record. */
  readonly index: number;
  /** Whether its headings or the map show it. Otherwise it may be data, of which nothing is shown. */
  readonly isCertain: boolean;
}

/**
 * @param records from the beginning of the file, as many as are searched
 * @throws FileFault when the map names a line that has no row
 */
export function findHeader(kind: ImportKind, records: readonly FileRecord[], map?: FileLayout): HeaderPlace {
  const [first] = records;
  // Refused rows that were corrected: their file begins with its header, wherever the map found it before.
  if (first?.cells.some((cell) => addedColumnOf(cell) === FAULTS_COLUMN) === true)
    return { index: 0, isCertain: true };
  if (map?.headerRow !== undefined) return headerOnLine(records, map.headerRow);
  const scores = records.slice(0, HEADER_ROWS).map(({ cells }, i) => {
    const score = scoreHeader(kind, cells, map);
    // What consists of exact names is the header, whatever follows it.
    return i === 0 && isExact(kind, cells) ? Number.POSITIVE_INFINITY : score;
  });
  const best = Math.max(...scores);
  return best >= LOWEST_SCORE
    ? { index: scores.indexOf(best), isCertain: true }
    : { index: 0, isCertain: false };
}

const isExact = (kind: ImportKind, cells: readonly string[]): boolean =>
  cells.length <= MAX_COLUMNS &&
  recogniseHeadings(kind, cells).every(({ text, by }) => text === '' || by === 'name');

function headerOnLine(records: readonly FileRecord[], line: number): HeaderPlace {
  const index = records.findIndex((record) => record.line === line);
  if (index < 0) throw fileFault(line, 'The map expects the header on this line, which has no row.');
  return { index, isCertain: true };
}

/**
 * The same batches, but that the first one has every row among which the header is searched. What was read
 * before an error is passed on before the error.
 */
export async function* withHeaderRows(
  batches: AsyncIterable<RecordBatch>,
  map?: FileLayout,
): AsyncGenerator<RecordBatch> {
  const records: FileRecord[] = [];
  let bytesRead = 0;
  let isComplete = false;
  try {
    for await (const batch of batches) {
      if (isComplete) {
        yield batch;
        continue;
      }
      for (const record of batch.records) records.push(record);
      bytesRead = batch.bytesRead;
      isComplete = records.length >= HEADER_ROWS && (records.at(-1)?.line ?? 0) >= (map?.headerRow ?? 0);
      if (isComplete) yield { records, bytesRead };
    }
  } catch (error) {
    if (!isComplete) yield { records, bytesRead };
    throw error;
  }
  if (!isComplete) yield { records, bytesRead };
}
