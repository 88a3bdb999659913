/** Reads the cells of a row, each as its column in this file requires. */

import {
  cellError,
  isEmptyWord,
  isErrorText,
  isFormulaText,
  MAX_CELL_CHARACTERS,
  mayBeSpecial,
  unwrapText,
} from '../../formats/blanks.ts';
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
} from '../reading/cell-context.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { foldHeading } from '../reading/fold.ts';
import type { NoteKind } from '../reading/notes.ts';
import { IMPORT_COLUMNS, type ImportColumn } from './columns.ts';
import type { Header } from './header.ts';

/** Facts about an entire file from earlier readings. */
export interface FileSurvey {
  /** By column; undefined until they are surveyed. */
  readonly columns?: ReadonlyMap<string, ColumnSurvey> | undefined;
  /** Columns with too many unknown words for any of them to be shown. */
  readonly hidden: ReadonlySet<string>;
}

/** Findings in a row; `column` is empty if a finding concerns no single one. */
export class RowFindings {
  readonly faults: { readonly column: string; readonly message: Text }[] = [];
  readonly notes: { readonly kind: NoteKind; readonly column: string }[] = [];
  /**
   * Decimal forms in its cells that their columns have not shown before, by place of the column among those
   * of the kind.
   */
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
  readonly context: CellContext;
  readonly format: SourceFormat;
  readonly map?: FileLayout | undefined;
  readonly survey: FileSurvey;
}

/** A number without separated thousands, as workbooks have it. */
const NUMBER = /^-?[0-9]+[.,][0-9]+%?$/;

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
          { shown: shown.slice(0, MOST_SHOWN), value, count },
        ),
  );
}

/**
 * Rounds a number with more decimals than its column has, if the map says so.
 * @param shown the number as the workbook shows it, if that is rounded
 */
function fitDecimals(
  cell: string,
  { column: { decimal }, context, isRounded }: RoundedColumn,
  shown: string | undefined,
): string | FieldError {
  if (decimal === undefined) return cell;
  const mark = Math.max(cell.indexOf('.'), cell.indexOf(','));
  // A short cut for most cells, which fit.
  if (mark < 0 || cell.length - mark - 1 <= decimal.fractionDigits || !NUMBER.test(cell)) return cell;
  const { isNumber, decimalMark } = context;
  const isComma = cell.includes(',');
  const number = cell.replace(',', '.');
  const digits = fractionDigitsOf(number);
  if (digits <= decimal.fractionDigits) return cell;
  // A rate below one may be a share, which is asked about before its decimals are.
  if (decimal === RATE && Number(number) < 1) return cell;
  if (isNumber && !isRounded) return tooManyDecimals(cell, shown, decimal.fractionDigits);
  // In a text, the mark before three digits may separate thousands.
  const isMark = decimalMark === undefined ? !isComma && digits > 3 : isComma === (decimalMark === ',');
  if (!isRounded || !(isNumber || isMark)) return cell;
  context.note('rounded');
  const rounded = roundText(number, decimal.fractionDigits);
  return isComma ? rounded.replace('.', ',') : rounded;
}

interface RoundedColumn {
  readonly column: ImportColumn;
  readonly context: CellContext;
  readonly isRounded: boolean;
}

/** Longest number that is shown. */
const MOST_SHOWN = 30;

const TOO_LONG = new FieldError(
  say('This cell has more than {count} characters.', { count: MAX_CELL_CHARACTERS }),
);

export function createCellReader(options: CellReaderOptions) {
  const { kind, header, map } = options;
  let isSurveyNeeded = false;
  let findings: RowFindings;
  const columns = IMPORT_COLUMNS[kind].map((column, i) => {
    const { name } = column;
    const decimals = new Set<DecimalForm>();
    const context = columnContext(options, name, {
      note: (note) => findings.note(note, name),
      showDecimal(form) {
        if (!decimals.has(form)) findings.evidence.push({ place: i, form });
      },
      askForSurvey() {
        isSurveyNeeded = true;
      },
    });
    const isRounded = map?.rounded?.has(name) === true;
    const place = header.places[i] as number;
    return { column, place, words: map?.values.get(name), decimals, context, isRounded };
  });

  /** @returns an empty text where there is no value */
  function unwrap(cell: string, { column, words }: (typeof columns)[number]): string {
    let text = unwrapText(cell);
    // The registry's own rejects of a workbook wrap national IDs like this.
    if (text !== cell && !header.isOfRejects) findings.note('spreadsheet_text', column.name);
    text = words?.get(foldHeading(text)) ?? text;
    if (column.isRequired || isFormulaText(cell) || !isEmptyWord(text)) return text;
    findings.note('empty_word', column.name);
    return '';
  }

  return {
    /**
     * Reads the cell of a column that the file has.
     * @param i place of the column among those of the kind
     * @returns null for an empty cell
     */
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
      return fitted instanceof FieldError ? fitted : column.column.parse(fitted, context);
    },
    /**
     * True after a cell that cannot be read before all of its column are surveyed, or after more
     * unknown words than may be shown.
     */
    needsSurvey: () => isSurveyNeeded || columns.some(hasManyUnknownWords),
    /** Columns with more unknown words than may be shown. */
    columnsOfUnknownWords: () => columns.filter(hasManyUnknownWords).map(({ column }) => column.name),
    /** Counts the evidence in a row of the table. A row of totals, which is not accepted, gives none. */
    accept({ evidence }: RowFindings): void {
      for (const { place, form } of evidence) columns[place]?.decimals.add(form);
    },
    /** Faults of columns whose decimals contradict each other. */
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

/** @returns undefined if the forms of the column agree */
function contradictionOf(forms: ReadonlySet<DecimalForm>): string | undefined {
  if (!forms.has('comma')) return undefined;
  if (forms.has('point before three')) return UNCLEAR_POINT;
  if (!forms.has('comma before three')) return undefined;
  if (forms.has('thousands')) return UNCLEAR_COMMA;
  return forms.has('point') ? UNCLEAR_BESIDE_POINT : undefined;
}

/** The context of a column, which the reader changes from cell to cell. */
const columnContext = (
  { context, map, format, survey }: CellReaderOptions,
  column: string,
  callbacks: Pick<CellContext, 'note' | 'showDecimal' | 'askForSurvey'>,
): CellContext & { isNumber: boolean } => ({
  ...context,
  dateOrder: map?.dates,
  decimalMark: map?.decimal,
  isSeparatedBySemicolons: format.type === 'text' && format.separator === ';',
  survey: survey.columns?.get(column),
  unknownWords: survey.hidden.has(column) ? undefined : new Set(),
  ...callbacks,
});
