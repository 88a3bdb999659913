/** Separates rows from lines such as totals and signatures (docs/import-reference.md#notes). */

import type { StagedValue } from '../../values/declared-fields.ts';
import type { FileRecord } from '../files/records.ts';
import { isPersonsName } from '../reading/guess-headings.ts';
import type { NoteLog } from '../reading/notes.ts';
import type { RowFindings } from './cell-reader.ts';
import { type createTotalsCheck, IDENTITY, isTotalsRow } from './compare-totals.ts';
import { createHeaderCheck, type Header } from './header.ts';

export interface ReadRow {
  readonly record: FileRecord;
  readonly values: StagedValue[];
  readonly findings: RowFindings;
}

interface TableLinesOptions {
  readonly header: Header;
  readonly notes: NoteLog;
  readonly totals: ReturnType<typeof createTotalsCheck>;
  readonly isExample: (values: readonly StagedValue[]) => boolean;
  readonly read: (record: FileRecord) => Omit<ReadRow, 'record'>;
}

/** Maximum number of lines below a table. More lines than this are rows of the table with empty cells. */
const MOST_LINES_BELOW = 50;

export function createTableLines({ header, notes, totals, isExample, read }: TableLinesOptions) {
  const repeatsHeader = createHeaderCheck(header.headings);
  let isAnyRow = false;
  /** True after a row of totals, and after an empty line below a row, until the next row. */
  let mayBeBelow = false;
  /** Lines that are below the table, unless another row of the table follows. */
  const below: ReadRow[] = [];
  /** The last row of the table. */
  let above: FileRecord | undefined;
  return {
    /** Reads a line. Returns the lines, in order, that are now known to be rows of the table. */
    read(record: FileRecord): readonly ReadRow[] {
      const { line, cells } = record;
      if (repeatsHeader(cells)) {
        notes.note('repeated_header', '', line);
        return [];
      }
      const { values, findings } = read(record);
      const row = { record, values, findings };
      const isFaulty = findings.faults.length > 0;
      if (isFaulty && isTotalsRow(header.headings, cells)) {
        notes.note('totals_row', '', line);
        totals.compare(line, values);
        mayBeBelow = true;
        return [];
      }
      if (isExample(values)) {
        notes.note('example_row', '', line);
        return [];
      }
      if (mayBeBelow && isFaulty && below.length < MOST_LINES_BELOW && isBelow(record, header, above)) {
        below.push(row);
        return [];
      }
      mayBeBelow = false;
      isAnyRow = true;
      above = record;
      return below.length === 0 ? [row] : [...below.splice(0), row];
    },
    /** Must be called for empty lines between two other lines, because the table may end there. */
    passGap(): void {
      mayBeBelow ||= isAnyRow;
    },
    /** Adds notes about the lines below the table. Must be called at the end of the file. */
    end(): void {
      for (const { record } of below)
        notes.note('text_below', '', record.line, { text: loneText(record)?.text });
    },
  };
}

/** Number of columns, from the left, in which a text below a table may begin. */
const FIRST_COLUMNS = 3;
/** Single word with a digit, such as a member code. A line with only a code may be an incomplete row. */
const CODE = /^\S*\p{Nd}\S*$/u;

/** Returns the only value of a line if it is a text such as `Fait à Huye, le 3 mai 2026`, or undefined. */
function loneText({ cells, numbers }: FileRecord) {
  const place = cells.findIndex((cell) => cell.trim() !== '');
  if (place < 0 || place >= FIRST_COLUMNS || numbers?.has(place) === true) return undefined;
  if (cells.slice(place + 1).some((cell) => cell.trim() !== '')) return undefined;
  const text = (cells[place] ?? '').trim();
  return /\p{L}/u.test(text) && !CODE.test(text) ? { place, text } : undefined;
}

const NAMES: readonly string[] = ['full_name', 'first_name', 'last_name', 'name'];
/** Punctuation of sentences and of lines for signatures. Codes do not contain it. */
const SENTENCE = /[:,;_…]|\.{3}/;
const FIRST_WORDS =
  'fait|etabli|dresse|prepare|verifie|approuve|lu|vise|visa|signe|signature|cachet|le|la|pour|note|' +
  'done|prepared|checked|verified|approved|signed|stamp|the|date|page|nb|' +
  'bikozwe|byakozwe|bikorewe|byateguwe|byemejwe|bigenzuwe|byagenzuwe|umukono|kashe|itariki|' +
  'presidente?|perezida|chairperson|secretaire|secretary|umunyamabanga|umwanditsi|tresoriere?|treasurer|' +
  'umubitsi|comptable|accountant|gerante?|manager|umucungamutungo|umugenzuzi';
/** First words, without accents, of the texts that cooperatives write below their tables. */
const FOOTER = new RegExp(`^(?:${FIRST_WORDS})(?![\\p{L}\\p{N}])`, 'iu');

/** Returns a form of a code that is equal for similar codes, such as `LE 12` and `KA 345`. */
const formOf = (code: string): string =>
  code
    .replace(/\p{Lu}/gu, 'A')
    .replace(/\p{Ll}/gu, 'a')
    .replace(/\p{Nd}+/gu, '0');

/**
 * True for a line with a single text, unless the text may be the name or code of an incomplete row.
 * @param above last row above the line. A text of the same form as the code of this row is a code.
 */
function isBelow(record: FileRecord, { headings }: Header, above: FileRecord | undefined): boolean {
  const lone = loneText(record);
  if (lone === undefined) return false;
  const { place, text } = lone;
  const column = headings[place]?.column ?? '';
  const isCode = IDENTITY.includes(column);
  const form = formOf(text);
  if (isCode && form.includes('0') && form === formOf((above?.cells[place] ?? '').trim())) return false;
  const mayBeRow =
    (NAMES.includes(column) && (isPersonsName(text) || !/\s/.test(text))) || (isCode && !SENTENCE.test(text));
  return !mayBeRow || FOOTER.test(text.normalize('NFKD').replace(/\p{M}/gu, ''));
}
