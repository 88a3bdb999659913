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
import type { FileRecord, SourceFormat } from '../../formats/records.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import type { StagedValue } from '../../values/declared-fields.ts';
import { FieldError } from '../../values/errors.ts';
import { say, type Text } from '../../values/message.ts';
import {
  type CellContext,
  type ColumnSurvey,
  type DecimalForm,
  MOST_UNKNOWN_WORDS,
} from '../reading/cell-context.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { foldHeading } from '../reading/fold.ts';
import type { NoteKind } from '../reading/notes.ts';
import { IMPORT_COLUMNS } from './columns.ts';
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
    return { column, place: header.places[i] as number, words: map?.values.get(name), decimals, context };
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
      return column.column.parse(cell, context);
    },
    /**
     * True after a cell that cannot be read before all of its column are surveyed, or after more
     * unknown words than may be shown.
     */
    needsSurvey: () => isSurveyNeeded || columns.some(hasManyUnknownWords),
    /** Columns with more unknown words than may be shown. */
    columnsOfUnknownWords: () => columns.filter(hasManyUnknownWords).map(({ column }) => column.name),
    /** Keeps the evidence of a row that belongs to the table: a row of totals does not. */
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
