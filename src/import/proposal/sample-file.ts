/** The first rows of a file: its header, and what is below. */
import { say } from '../../domain/values/message.ts';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import { type FileRecord, fileFault, HEADER_ROWS, type RecordSource } from '../formats/source/records.ts';
import { findHeader, withHeaderRows } from '../table/find-header.ts';

export interface FileSample {
  readonly header: FileRecord;
  /** Whether the header is the first row that has a value. */
  readonly isFirstRow: boolean;
  /** The rows below the header, as many as are looked at. */
  readonly rows: readonly FileRecord[];
}

const SAMPLED_ROWS = 2000;

/** @throws FileFault when the file cannot be read, or no row of it looks like headings */
export async function sampleFile(source: RecordSource, kind: ImportKind): Promise<FileSample> {
  const records: FileRecord[] = [];
  for await (const batch of withHeaderRows(source.read())) {
    for (const record of batch.records) records.push(record);
    if (records.length > SAMPLED_ROWS) break;
  }
  const { index: found, isCertain } = findHeader(kind, records);
  const index = isCertain ? found : records.slice(0, HEADER_ROWS).findIndex((_, i) => isHeaderOf(records, i));
  const header = records[index];
  if (header === undefined)
    throw fileFault(1, say('No row among the first {rows} looks like headings.', { rows: HEADER_ROWS }));
  return { header, isFirstRow: index === 0, rows: records.slice(index + 1, index + 1 + SAMPLED_ROWS) };
}

const HAS_DIGIT = /\p{Nd}/u;
const HAS_LETTER = /\p{L}/u;
/** Rows that are compared with what may be their header. */
const COMPARED_ROWS = 100;

/**
 * Whether a row without any known heading is the header all the same: it has words only, and below one of
 * them nearly every value has a digit. A row of data would have digits there, too.
 */
function isHeaderOf(records: readonly FileRecord[], index: number): boolean {
  const cells = (records[index] as FileRecord).cells.map((cell) => cell.trim());
  const words = cells.filter((cell) => cell !== '');
  if (words.length < 2 || new Set(words).size < words.length) return false;
  if (words.some((word) => HAS_DIGIT.test(word) || !HAS_LETTER.test(word))) return false;
  const below = records.slice(index + 1, index + 1 + COMPARED_ROWS);
  return cells.some((cell, place) => {
    const values = below.map((record) => (record.cells[place] ?? '').trim()).filter((value) => value !== '');
    return (
      cell !== '' &&
      values.length > 0 &&
      values.filter((value) => HAS_DIGIT.test(value)).length >= 0.95 * values.length
    );
  });
}
