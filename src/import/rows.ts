/** The records of one file → values to be staged, and faults. */
import { FieldError } from '../domain/errors.ts';
import { composeNames } from '../domain/members.ts';
import type { ImportKind, StagedValue } from '../store/ports/import-session.ts';
import { isEmptyWord, mayBeSpecial, unwrapText } from './cells/blanks.ts';
import type { CellContext } from './cells/context.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, type ImportColumn } from './columns.ts';
import { foldHeading } from './fold.ts';
import type { Header } from './header.ts';
import type { ReadingMap } from './map/reading-map.ts';
import type { NoteKind } from './notes.ts';
import { FileFault, type FileRecord, type SourceFormat } from './records.ts';
import type { DateSurvey } from './survey-dates.ts';

/** Receives what is found in a row; `column` is empty when it concerns no single one. */
export interface RowFindings {
  fault(column: string, message: string): void;
  note(kind: NoteKind, column: string): void;
}

export interface RowReader {
  /** The columns that the file has, those made from others included. */
  readonly columns: ReadonlySet<string>;
  /**
   * Checks one row.
   * @returns the values in the order of the kind's columns, null where a cell is empty or invalid
   */
  read(record: FileRecord, findings: RowFindings): StagedValue[];
  /** Whether a date was met that cannot be read before all dates of its column are surveyed. */
  needsSurvey(): boolean;
  /** What the file shows as a whole. @returns columns whose decimals contradict each other */
  unclearDecimals(): string[];
}

export interface RowReaderOptions {
  readonly kind: ImportKind;
  readonly header: Header;
  readonly context: CellContext;
  readonly format: SourceFormat;
  readonly map?: ReadingMap | undefined;
  /** Undefined before the first survey. */
  readonly dates?: DateSurvey | undefined;
}

const NAMES = {
  members: ['full_name', 'first_name', 'last_name'],
  entries: ['member_code', 'identity_card'],
};

/** @throws FileFault when a constant of the map is invalid */
export function createRowReader(options: RowReaderOptions): RowReader {
  const { kind, header, format, map } = options;
  const declared = IMPORT_COLUMNS[kind];
  const { columns, places, headings } = header;
  const constants = readConstants(options);
  const isWrongWidth = createWidthCheck(header, format);
  const isMembers = kind === 'members';
  const isEntries = ALTERNATIVES[kind]?.column === 'member_code';
  const names = isEntries ? NAMES.entries : NAMES.members;
  const words = declared.map(({ name }) => map?.values.get(name));
  let isSurveyNeeded = false;
  let findings: RowFindings;
  const contexts = declared.map(({ name }) =>
    columnContext(options, name, {
      note: (note) => findings.note(note, name),
      askForSurvey() {
        isSurveyNeeded = true;
      },
    }),
  );

  /** @returns an empty text where there is no value */
  function unwrap(cell: string, i: number): string {
    let text = unwrapText(cell);
    const { name, isRequired } = declared[i] as ImportColumn;
    // Our own rejects of a workbook keep national IDs so.
    if (text !== cell && !header.isOfRejects) findings.note('spreadsheet_text', name);
    text = words[i]?.get(foldHeading(text)) ?? text;
    if (isRequired || !isEmptyWord(text)) return text;
    findings.note('empty_word', name);
    return '';
  }

  function readCell({ cells, numbers }: FileRecord, i: number, place: number): StagedValue | FieldError {
    let cell = (cells[place] ?? '').trim();
    if (cell === '') return null;
    if (mayBeSpecial(cell) || words[i] !== undefined) cell = unwrap(cell, i);
    if (cell === '') return null;
    const context = contexts[i] as OwnContext;
    if (numbers !== undefined) context.isNumber = numbers.has(place);
    return (declared[i] as ImportColumn).parse(cell, context);
  }

  function read(record: FileRecord, rowFindings: RowFindings): StagedValue[] {
    findings = rowFindings;
    const { cells } = record;
    if (isWrongWidth(cells)) {
      findings.fault('', `Expected ${headings.length} cells, found ${cells.length}.`);
      return declared.map(() => null);
    }
    const values: StagedValue[] = new Array(declared.length);
    let isNameFaulty = false;
    for (let i = 0; i < declared.length; i++) {
      const { name, isRequired } = declared[i] as ImportColumn;
      const place = places[i] as number;
      const value = place < 0 ? (constants[i] as StagedValue) : readCell(record, i, place);
      values[i] = value instanceof FieldError ? null : value;
      if (value instanceof FieldError) findings.fault(name, value.message);
      else if (value === null && isRequired) findings.fault(name, 'This field may not be blank.');
      else continue;
      isNameFaulty = isNameFaulty || names.includes(name);
    }
    if (isMembers && !isNameFaulty) composeFullName(values, findings);
    if (isEntries && !isNameFaulty && values[MEMBER_CODE] === null && values[IDENTITY_CARD] === null)
      findings.fault('member_code', 'Give a member code, or a national ID.');
    return values;
  }

  return {
    columns: isMembers ? new Set([...columns, 'full_name']) : columns,
    read,
    needsSurvey: () => isSurveyNeeded,
    unclearDecimals: () =>
      declared.flatMap(({ name }, i) => {
        const { hasComma, hasPointBeforeThree } = (contexts[i] as OwnContext).decimals;
        return hasComma && hasPointBeforeThree ? [name] : [];
      }),
  };
}

/** The reader's own context of a column, changed from cell to cell. */
interface OwnContext extends CellContext {
  isNumber: boolean;
}

function columnContext(
  { context, map, format, dates }: RowReaderOptions,
  column: string,
  found: Pick<CellContext, 'note' | 'askForSurvey'>,
): OwnContext {
  return {
    ...context,
    dateOrder: map?.dates,
    decimalMark: map?.decimal,
    isSeparatedBySemicolons: format.type === 'text' && format.separator === ';',
    decimals: { hasComma: false, hasPointBeforeThree: false },
    dates: dates?.get(column),
    ...found,
  };
}

/**
 * Whether a row has too few cells for the columns with a heading, or values beyond the header. In a workbook,
 * a row ends with its last value.
 */
function createWidthCheck({ headings }: Header, format: SourceFormat): (cells: readonly string[]) => boolean {
  const width = headings.length;
  const namedWidth = headings.findLastIndex(({ text }) => text !== '') + 1;
  return (cells) => {
    if (cells.length === width) return false;
    if (cells.length < namedWidth) return format.type === 'text';
    return cells.slice(width).some((cell) => cell.trim() !== '');
  };
}

/** The values that every row has; null for a column without a constant. */
function readConstants({ kind, header, context, map }: RowReaderOptions): StagedValue[] {
  return IMPORT_COLUMNS[kind].map(({ name, parse }) => {
    const cell = map?.constants.get(name)?.trim() ?? '';
    const value = cell === '' ? null : parse(cell, context);
    if (!(value instanceof FieldError)) return value;
    const message = `The constant for this column is invalid. ${value.message}`;
    throw new FileFault([{ line: header.line, column: name, message, refuses: 'file' }]);
  });
}

const positionOf = (column: string): number =>
  IMPORT_COLUMNS.members.findIndex(({ name }) => name === column);
const FULL_NAME = positionOf('full_name');
const FIRST_NAME = positionOf('first_name');
const LAST_NAME = positionOf('last_name');
/** The same in every kind of entries. */
const MEMBER_CODE = 1;
const IDENTITY_CARD = 2;

function composeFullName(values: StagedValue[], findings: RowFindings): void {
  const nameAt = (position: number) => values[position] as string | null;
  const names = composeNames(nameAt(FULL_NAME), nameAt(FIRST_NAME), nameAt(LAST_NAME));
  if (names === undefined) findings.fault('full_name', 'Give a full name, or a first name and a last name.');
  else if (names instanceof FieldError) findings.fault('full_name', names.message);
  else values[FULL_NAME] = names.fullName;
}
