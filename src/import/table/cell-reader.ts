/** Reads the cells of a row, each as its column in this file requires. */

import {
  isEmptyWord,
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
import { type CellContext, type DecimalForm, MOST_UNKNOWN_WORDS } from '../reading/cell-context.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { foldHeading } from '../reading/fold.ts';
import type { NoteKind } from '../reading/notes.ts';
import { IMPORT_COLUMNS, type ImportColumn } from './columns.ts';
import type { Header } from './header.ts';
import type { FileSurvey } from './survey-dates.ts';

/** Findings in a row; `column` is empty if a finding concerns no single one. */
export class RowFindings {
  readonly faults: { readonly column: string; readonly message: Text }[] = [];
  readonly notes: { readonly kind: NoteKind; readonly column: string }[] = [];
  /** Decimal forms in its cells that their columns have not shown before. @see CellReader.accept */
  readonly evidence: DecimalEvidence[] = [];

  fault(column: string, message: Text): void {
    this.faults.push({ column, message });
  }

  note(kind: NoteKind, column: string): void {
    this.notes.push({ kind, column });
  }
}

interface DecimalEvidence {
  /** Place of the column among those of the kind. */
  readonly place: number;
  readonly form: DecimalForm;
}

export interface CellReaderOptions {
  readonly kind: ImportKind;
  readonly header: Header;
  readonly context: CellContext;
  readonly format: SourceFormat;
  readonly map?: FileLayout | undefined;
  readonly survey: FileSurvey;
}

/** A fault of an entire column. */
interface ColumnFault {
  readonly column: string;
  readonly message: string;
}

export interface CellReader {
  /**
   * Reads the cell of a column that the file has.
   * @param i place of the column among those of the kind
   * @returns null for an empty cell
   */
  read(record: FileRecord, i: number, findings: RowFindings): StagedValue | FieldError;
  /**
   * True after a date that cannot be read before all dates of its column are surveyed, or after more unknown
   * words than may be shown.
   */
  needsSurvey(): boolean;
  /** Columns with more unknown words than may be shown. */
  columnsOfUnknownWords(): string[];
  /** Keeps the evidence of a row that belongs to the table: a row of totals does not. */
  accept(findings: RowFindings): void;
  /** Columns whose decimals contradict each other. */
  unclearDecimals(): ColumnFault[];
}

const TOO_LONG = new FieldError(
  say('This cell has more than {count} characters.', { count: MAX_CELL_CHARACTERS }),
);

export function createCellReader(options: CellReaderOptions): CellReader {
  const { kind, header, map } = options;
  const declared = IMPORT_COLUMNS[kind];
  const words = declared.map(({ name }) => map?.values.get(name));
  let isSurveyNeeded = false;
  let findings: RowFindings;
  /** Decimal forms by place of the column. */
  const decimals = declared.map(() => new Set<DecimalForm>());
  const contexts = declared.map(({ name }, place) =>
    columnContext(options, name, {
      note: (note) => findings.note(note, name),
      showDecimal(form) {
        if (!decimals[place]?.has(form)) findings.evidence.push({ place, form });
      },
      askForSurvey() {
        isSurveyNeeded = true;
      },
    }),
  );

  /** @returns an empty text where there is no value */
  function unwrap(cell: string, i: number): string {
    let text = unwrapText(cell);
    const { name, isRequired } = declared[i] as ImportColumn;
    // The registry's own rejects of a workbook wrap national IDs like this.
    if (text !== cell && !header.isOfRejects) findings.note('spreadsheet_text', name);
    text = words[i]?.get(foldHeading(text)) ?? text;
    if (isRequired || isFormulaText(cell) || !isEmptyWord(text)) return text;
    findings.note('empty_word', name);
    return '';
  }

  return {
    read({ cells, numbers }, i, rowFindings) {
      const place = header.places[i] as number;
      const given = cells[place] ?? '';
      if (given.length > MAX_CELL_CHARACTERS) return TOO_LONG;
      let cell = given.trim();
      if (cell === '') return null;
      findings = rowFindings;
      if (mayBeSpecial(cell) || words[i] !== undefined) cell = unwrap(cell, i);
      if (cell === '') return null;
      const context = contexts[i] as OwnContext;
      context.isNumber = numbers?.has(place) === true;
      return (declared[i] as ImportColumn).parse(cell, context);
    },
    needsSurvey: () => isSurveyNeeded || contexts.some(hasManyUnknownWords),
    columnsOfUnknownWords: () =>
      declared.flatMap(({ name }, i) => (hasManyUnknownWords(contexts[i] as OwnContext) ? name : [])),
    accept({ evidence }) {
      for (const { place, form } of evidence) decimals[place]?.add(form);
    },
    unclearDecimals: () =>
      declared.flatMap(({ name: column }, i) => {
        const message = contradictionOf(decimals[i] as Set<DecimalForm>);
        return message === undefined ? [] : [{ column, message }];
      }),
  };
}

const hasManyUnknownWords = ({ unknownWords }: OwnContext): boolean =>
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

/** Context of a column, which the reader changes from cell to cell. */
interface OwnContext extends CellContext {
  isNumber: boolean;
}

function columnContext(
  { context, map, format, survey }: CellReaderOptions,
  column: string,
  found: Pick<CellContext, 'note' | 'showDecimal' | 'askForSurvey'>,
): OwnContext {
  return {
    ...context,
    dateOrder: map?.dates,
    decimalMark: map?.decimal,
    isSeparatedBySemicolons: format.type === 'text' && format.separator === ';',
    dates: survey.dates?.get(column),
    unknownWords: survey.hidden.has(column) ? undefined : new Set(),
    ...found,
  };
}
