/** Reads the cells of a row, each in the format that its column has in the file. */

import {
  cellError,
  isEmptyWord,
  isErrorText,
  isFormulaText,
  MAX_CELL_CHARACTERS,
  mayBeSpecial,
  unwrapText,
} from '../../formats/spreadsheet-cells-and-empty-words.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import { RATE } from '../../values/decimal.ts';
import type { StagedValue } from '../../values/declared-fields.ts';
import { FieldError } from '../../values/errors.ts';
import { say, type Text } from '../../values/message.ts';
import type { FileRecord, SourceFormat } from '../files/records.ts';
import { fractionDigitsOf, roundText } from '../files/workbook-values.ts';
import {
  type CellContext,
  type ColumnSurvey,
  type DecimalForm,
  MOST_UNKNOWN_WORDS,
  NOT_SURVEYED,
} from '../reading/cell-context.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { foldHeading } from '../reading/fold-and-misspellings.ts';
import type { NoteKind } from '../reading/notes.ts';
import { IMPORT_COLUMNS, type ImportColumn } from './columns.ts';
import type { Header } from './header.ts';

/** Facts about an entire file from earlier passes over the file. */
export interface FileSurvey {
  /** Evidence by column; undefined before the file is scanned. */
  readonly columns?: ReadonlyMap<string, ColumnSurvey> | undefined;
  /** Columns with unknown words that messages must not show, because the words may be names. */
  readonly hidden: ReadonlySet<string>;
}

/** Findings about a row. `column` is empty for a finding that does not concern a single column. */
export class RowFindings {
  readonly faults: { readonly column: string; readonly message: Text }[] = [];
  readonly notes: { readonly kind: NoteKind; readonly column: string }[] = [];
  /** Evidence about decimal marks. `place` is the column's index in `IMPORT_COLUMNS`. */
  readonly evidence: { readonly place: number; readonly form: DecimalForm }[] = [];

  fault(column: string, message: Text): void {
    this.faults.push({ column, message });
  }

  note(kind: NoteKind, column: string): void {
    this.notes.push({ kind, column });
  }
}

export interface CellReaderOptions {
  readonly kind: ImportKind;
  readonly header: Header;
  readonly cells: CellContext;
  readonly format: SourceFormat;
  readonly map?: FileLayout | undefined;
  readonly survey: FileSurvey;
}

const PLAIN_NUMBER = /^-?[0-9]+[.,][0-9]+%?$/;

function tooManyDecimals(value: string, shown: string | undefined, count: number): FieldError {
  return new FieldError(
    shown === undefined
      ? say(
          'This cell holds {value}, and at most {count} decimals are possible. Round it in the ' +
            'spreadsheet, or let a map round the column, "round": true.',
          { value, count },
        )
      : say(
          'This cell shows {shown} and holds {value}, and at most {count} decimals are possible. Round ' +
            'it in the spreadsheet, or let a map round the column, "round": true.',
          { shown: shown.slice(0, MOST_SHOWN_CHARACTERS), value, count },
        ),
  );
}

/**
 * Handles a number that has more decimals than its column may have: rounds it if the map says so, else
 * refuses it. Returns any other cell unchanged.
 * @param shown rounded number that the workbook displays, if any
 */
function fitDecimals(
  cell: string,
  { column: { decimal }, context, isRounded }: RoundedColumn,
  shown: string | undefined,
): string | FieldError {
  if (decimal === undefined) return cell;
  const mark = Math.max(cell.indexOf('.'), cell.indexOf(','));
  // Skips the slower checks for most cells.
  if (mark < 0 || cell.length - mark - 1 <= decimal.fractionDigits || !PLAIN_NUMBER.test(cell)) return cell;
  const { isNumber, decimalMark } = context;
  const isComma = cell.includes(',');
  const number = cell.replace(',', '.');
  const digits = fractionDigitsOf(number);
  if (digits <= decimal.fractionDigits) return cell;
  // A rate below one may be a fraction, which the parser of rates reports before any fault of decimals.
  if (decimal === RATE && Number(number) < 1) return cell;
  // In a text file, a mark before three digits may separate thousands.
  const isMark = decimalMark === undefined ? !isComma && digits > 3 : isComma === (decimalMark === ',');
  if (!isNumber && !isMark) return cell;
  if (!isRounded) {
    context.showDecimal('too many');
    return isNumber ? tooManyDecimals(cell, shown, decimal.fractionDigits) : cell;
  }
  context.note('rounded');
  const rounded = roundText(number, decimal.fractionDigits);
  return isComma ? rounded.replace('.', ',') : rounded;
}

interface RoundedColumn {
  readonly column: ImportColumn;
  readonly context: CellContext;
  readonly isRounded: boolean;
}

const MOST_SHOWN_CHARACTERS = 30;

const TOO_LONG = new FieldError(
  say('This cell has more than {count} characters.', { count: MAX_CELL_CHARACTERS }),
);

export function createCellReader(options: CellReaderOptions) {
  const { kind, header, map, format, survey } = options;
  let isSurveyNeeded = false;
  let findings: RowFindings;
  const columns = IMPORT_COLUMNS[kind].map((column, i) => {
    const { name } = column;
    const decimals = new Set<DecimalForm>();
    /** `read` sets `isNumber` for each cell. */
    const context = {
      ...options.cells,
      dateOrder: map?.dates,
      decimalMark: map?.decimal,
      isSeparatedBySemicolons: format.type === 'text' && format.separator === ';',
      survey: survey.columns?.get(name),
      unknownWords: survey.hidden.has(name) ? undefined : new Set<string>(),
      note: (note: NoteKind) => findings.note(note, name),
      showDecimal(form: DecimalForm) {
        if (!decimals.has(form)) findings.evidence.push({ place: i, form });
      },
    };
    const isRounded = map?.rounded?.has(name) === true;
    const place = header.places[i] as number;
    return { column, place, words: map?.values.get(name), decimals, context, isRounded };
  });

  /** Returns the text of a cell without the wrapping of spreadsheets; empty if the text means no value. */
  function unwrap(cell: string, { column, words }: (typeof columns)[number]): string {
    let text = unwrapText(cell);
    // The rejects of a workbook have wrapped national IDs, which need no note.
    if (text !== cell && !header.isOfRejects) findings.note('spreadsheet_text', column.name);
    text = words?.get(foldHeading(text)) ?? text;
    if (column.isRequired || isFormulaText(cell) || !isEmptyWord(text)) return text;
    findings.note('empty_word', column.name);
    return '';
  }

  return {
    /** Reads a cell; null if empty. @param i index in `IMPORT_COLUMNS` of a column that the file has */
    read(record: FileRecord, i: number, rowFindings: RowFindings): StagedValue | FieldError {
      const { cells, numbers, cellFaults, mergedCells } = record;
      const column = columns[i] as (typeof columns)[number];
      const { place, words, context } = column;
      const fault = cellFaults?.get(place);
      if (fault !== undefined) return new FieldError(fault);
      const text = cells[place] ?? '';
      if (text.length > MAX_CELL_CHARACTERS) return TOO_LONG;
      let cell = text.trim();
      if (cell === '') return null;
      findings = rowFindings;
      if (mergedCells?.has(place) === true) findings.note('merged_cell', column.column.name);
      if (isErrorText(cell)) return new FieldError(cellError(cell));
      if (mayBeSpecial(cell) || words !== undefined) cell = unwrap(cell, column);
      if (cell === '') return null;
      context.isNumber = numbers?.has(place) === true;
      const fitted = fitDecimals(cell, column, record.shownNumbers?.get(place));
      if (fitted instanceof FieldError) return fitted;
      const value = column.column.parse(fitted, context);
      isSurveyNeeded ||= value === NOT_SURVEYED;
      return value;
    },
    /**
     * True if the file must be read again: a cell cannot be read before its entire column is scanned, or a
     * column has more unknown words than messages may show.
     */
    needsSurvey: () => isSurveyNeeded || columns.some(hasManyUnknownWords),
    columnsOfUnknownWords: () => columns.filter(hasManyUnknownWords).map(({ column }) => column.name),
    /** Adds the evidence of a row. Must not be called for lines outside the table, such as rows of totals. */
    accept({ evidence }: RowFindings): void {
      for (const { place, form } of evidence) columns[place]?.decimals.add(form);
    },
    roundableColumns: () =>
      columns.filter(({ decimals }) => decimals.has('too many')).map(({ column }) => column.name),
    /** Returns a fault for each column whose decimal marks contradict each other. */
    unclearDecimals: () =>
      columns.flatMap(({ column, decimals }) => {
        const message = contradictionOf(decimals);
        return message === undefined ? [] : [{ column: column.name, message }];
      }),
  };
}

const hasManyUnknownWords = ({ context: { unknownWords } }: { readonly context: CellContext }): boolean =>
  unknownWords !== undefined && unknownWords.size > MOST_UNKNOWN_WORDS;

const UNCLEAR_POINT =
  'Some values of this column have a decimal comma, and others a point before three digits, which may ' +
  'separate thousands. Name the decimal mark in a map, "decimal": "," or ".".';
const UNCLEAR_COMMA =
  'Some values of this column have a decimal comma, in others commas separate thousands, and a value such ' +
  'as 12,500 may be either. Name the decimal mark in a map, "decimal": "," or ".".';

const UNCLEAR_BESIDE_POINT =
  'Some values of this column have a point before the decimals, and in others, such as 12,500, a comma may ' +
  'mean either. Name the decimal mark in a map, "decimal": "," or ".".';

function contradictionOf(forms: ReadonlySet<DecimalForm>): string | undefined {
  if (!forms.has('comma')) return undefined;
  if (forms.has('point before three')) return UNCLEAR_POINT;
  if (!forms.has('comma before three')) return undefined;
  if (forms.has('thousands')) return UNCLEAR_COMMA;
  return forms.has('point') ? UNCLEAR_BESIDE_POINT : undefined;
}
