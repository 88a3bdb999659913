/**
 * Reads the table of a file: finds the header, and separates rows from lines such as totals and signatures.
 * Turns rows into values, faults and notes (docs/import-reference.md#notes). Stages and checks the values.
 */

import { valueIn } from '../../formats/spreadsheet-cells-and-empty-words.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import { composeNames } from '../../registry/members.ts';
import type { StagedRow, StagedValue } from '../../values/declared-fields.ts';
import { FieldError } from '../../values/errors.ts';
import { asMessage, say } from '../../values/message.ts';
import {
  FileFault,
  type FileRecord,
  fileFault,
  type ImportFault,
  type RecordBatch,
  type RecordSource,
} from '../files/records.ts';
import { columnLetters } from '../files/sheet-rows.ts';
import type { ImportWarning } from '../import-warnings.ts';
import { type CellContext, ColumnSurvey } from '../reading/cell-context.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import { isPersonsName } from '../reading/guess-columns.ts';
import { NoteLog } from '../reading/notes.ts';
import type { ImportSession } from '../staging/import-session.ts';
import type { CheckOptions } from '../staging/staging-tables.ts';
import { createExampleCheck } from '../template.ts';
import { type CellReaderOptions, createCellReader, type FileSurvey, RowFindings } from './cell-reader.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, type ImportColumn } from './columns.ts';
import { createTotalsCheck, IDENTITY, isTotalsRow } from './compare-totals.ts';
import {
  createHeaderCheck,
  createWidthCheck,
  findHeader,
  type Header,
  readHeader,
  withHeaderRows,
} from './header.ts';
import { createFilesReader, createRepeatCheck } from './rejects-columns.ts';

interface ReadRow {
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

function createTableLines({ header, notes, totals, isExample, read }: TableLinesOptions) {
  const repeatsHeader = createHeaderCheck(header.headings);
  let isAnyRow = false;
  /** True after a row of totals, and after an empty line below a row, until the next row. */
  let mayBeBelow = false;
  /** Lines that are below the table, unless another row of the table follows. */
  const below: ReadRow[] = [];
  let lastRow: FileRecord | undefined;
  return {
    /** Returns the lines, in order, that are now known to be rows of the table. */
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
      if (mayBeBelow && isFaulty && below.length < MOST_LINES_BELOW && isBelow(record, header, lastRow)) {
        below.push(row);
        return [];
      }
      mayBeBelow = false;
      isAnyRow = true;
      lastRow = record;
      return below.length === 0 ? [row] : [...below.splice(0), row];
    },
    /** Must be called for empty lines between two other lines, because the table may end there. */
    passGap(): void {
      mayBeBelow ||= isAnyRow;
    },
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

const NAME_COLUMNS: readonly string[] = ['full_name', 'first_name', 'last_name', 'name'];
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

/** Returns the pattern of a code: `AA 0` for `LE 12` and for `KA 345`. */
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
    (NAME_COLUMNS.includes(column) && (isPersonsName(text) || !/\s/.test(text))) ||
    (isCode && !SENTENCE.test(text));
  return !mayBeRow || FOOTER.test(text.normalize('NFKD').replace(/\p{M}/gu, ''));
}

// Opening balances: amounts paid on loans before payments were recorded
// (docs/import-reference.md#opening-balances)

const placeOf = (kind: ImportKind, column: string): number =>
  IMPORT_COLUMNS[kind].findIndex(({ name }) => name === column);

const OPENING_BALANCE = ['paid_amount', 'paid_until'];
const [PAID_AMOUNT, PAID_UNTIL] = [placeOf('loans', 'paid_amount'), placeOf('loans', 'paid_until')];

/**
 * Completes the opening balance of a loan. An empty `paid_until` means the time of the import.
 * @param values values of a row that has no fault in the columns of `OPENING_BALANCE`
 * @param isConstant true if a constant sets `paid_until`. A constant applies only to rows with a paid amount
 */
function completeOpeningBalance(
  values: StagedValue[],
  isConstant: boolean,
  nowSeconds: number,
  findings: RowFindings,
): void {
  const paidAmount = values[PAID_AMOUNT] ?? null;
  if (paidAmount !== null && paidAmount !== 0) values[PAID_UNTIL] ??= nowSeconds;
  else if (isConstant) values[PAID_UNTIL] = null;
  else if (paidAmount === null && values[PAID_UNTIL] !== null)
    findings.fault('paid_until', 'Give the paid amount until then as well.');
}

const PARTS_OF_NAME = ['full_name', 'first_name', 'last_name'];
const MEMBER = ['member_code', 'identity_card'];

/** @throws FileFault if a constant of the map is invalid */
function createRowReader(options: CellReaderOptions) {
  const { kind, header, format, map, cells } = options;
  const declared = IMPORT_COLUMNS[kind];
  const { columns, places, headings } = header;
  const constants = readConstants(options);
  const isWrongWidth = createWidthCheck(header, format);
  const isMembers = kind === 'members';
  const isEntries = ALTERNATIVES[kind]?.column === 'member_code';
  const hasBalance = kind === 'loans' && OPENING_BALANCE.some((name) => columns.has(name));
  const composed = isMembers ? ['full_name'] : hasBalance ? ['paid_until'] : [];
  const isCutOffConstant = map?.constants.has('paid_until') === true;
  const faultyColumns = new Set<string>();
  const isAnyFaulty = (names: readonly string[]) =>
    faultyColumns.size > 0 && names.some((name) => faultyColumns.has(name));
  const cellReader = createCellReader(options);

  return {
    ...cellReader,
    /** Columns that the file provides, including columns that are composed from others. */
    columns: new Set([...columns, ...composed]),
    /**
     * Reads a row. `accept` must be called with the findings if the row belongs to the table.
     * @returns values in the order of `IMPORT_COLUMNS`; null for an empty or invalid cell
     */
    read(record: FileRecord): { values: StagedValue[]; findings: RowFindings } {
      const findings = new RowFindings();
      if (isWrongWidth(record.cells)) {
        const counts = { expected: headings.length, found: record.cells.length };
        findings.fault('', say('Expected {expected} cells, found {found}.', counts));
        return { values: declared.map(() => null), findings };
      }
      const values: StagedValue[] = new Array(declared.length);
      faultyColumns.clear();
      for (let i = 0; i < declared.length; i++) {
        const { name, isRequired } = declared[i] as ImportColumn;
        const value =
          (places[i] as number) < 0 ? (constants[i] as StagedValue) : cellReader.read(record, i, findings);
        values[i] = value instanceof FieldError ? null : value;
        if (value instanceof FieldError) findings.fault(name, value.text);
        else if (value === null && isRequired) findings.fault(name, 'This field may not be blank.');
        else continue;
        faultyColumns.add(name);
      }
      if (isMembers && !isAnyFaulty(PARTS_OF_NAME)) composeFullName(values, findings);
      if (isEntries && values[MEMBER_CODE] === null && values[IDENTITY_CARD] === null && !isAnyFaulty(MEMBER))
        findings.fault('member_code', 'Give a member code, or a national ID.');
      if (hasBalance && !isAnyFaulty(OPENING_BALANCE))
        completeOpeningBalance(values, isCutOffConstant, cells.nowSeconds, findings);
      return { values, findings };
    },
  };
}

/** @returns constants in the order of `IMPORT_COLUMNS`; null for a column without a constant */
function readConstants({ kind, header, cells, map }: CellReaderOptions): StagedValue[] {
  return IMPORT_COLUMNS[kind].map(({ name, parse }) => {
    const cell = map?.constants.get(name)?.trim() ?? '';
    const value = cell === '' ? null : parse(cell, cells);
    if (!(value instanceof FieldError)) return value;
    const message = say('The constant for this column is invalid. {fault}', { fault: asMessage(value.text) });
    throw new FileFault([{ line: header.line, column: name, message, refuses: 'file' }]);
  });
}

const FULL_NAME = placeOf('members', 'full_name');
const FIRST_NAME = placeOf('members', 'first_name');
const LAST_NAME = placeOf('members', 'last_name');
/** Places in `IMPORT_COLUMNS`, the same for deliveries, loans and savings. Payments lack these columns. */
const MEMBER_CODE = placeOf('loans', 'member_code');
const IDENTITY_CARD = placeOf('loans', 'identity_card');

function composeFullName(values: StagedValue[], findings: RowFindings): void {
  const nameAt = (place: number) => values[place] as string | null;
  const names = composeNames(nameAt(FULL_NAME), nameAt(FIRST_NAME), nameAt(LAST_NAME));
  if (names === undefined) findings.fault('full_name', 'Give a full name, or a first name and a last name.');
  else if (names instanceof FieldError) findings.fault('full_name', names.text);
  else values[FULL_NAME] = names.fullName;
}

interface TableOptions extends Omit<CellReaderOptions, 'header'> {
  readonly notes: NoteLog;
  readonly skipsHidden: boolean;
}

const EMPTY_FILE = 'The file is empty: its first line must name the columns.';

function withoutColumns(record: FileRecord, skippedColumns: RecordBatch['hiddenColumns']): FileRecord {
  if (skippedColumns === undefined || skippedColumns.size === 0) return record;
  const { cells, cellFaults = [] } = record;
  return {
    ...record,
    cells: cells.map((cell, place) => (skippedColumns.has(place) ? '' : cell)),
    cellFaults: new Map([...cellFaults].filter(([place]) => !skippedColumns.has(place))),
  };
}

const visibleRecords = (
  records: readonly FileRecord[],
  hiddenColumns: RecordBatch['hiddenColumns'],
): FileRecord[] =>
  records.filter(({ isHidden }) => isHidden !== true).map((record) => withoutColumns(record, hiddenColumns));

const isEmpty = ({ cells, cellFaults }: FileRecord): boolean =>
  cells.every((cell) => cell.trim() === '') && (cellFaults?.size ?? 0) === 0;

/** Adds notes about lines above the header and about hidden columns. */
function openHeader({ records: all, hiddenColumns }: RecordBatch, options: TableOptions): Header {
  const { kind, map, notes, skipsHidden } = options;
  const records = skipsHidden ? visibleRecords(all, hiddenColumns).filter((record) => !isEmpty(record)) : all;
  if (records.length === 0) throw fileFault(1, EMPTY_FILE);
  const { index, isCertain } = findHeader(kind, records, map);
  const header = readHeader(kind, records[index] as FileRecord, { map, isCertain, notes });
  // If the map names the header's line, the lines above it need no notes.
  if (map?.headerRow === undefined)
    for (const { line } of records.slice(0, index)) notes.note('title_row', '', line);
  const written = all.find(({ line }) => line === header.line)?.cells ?? [];
  for (const [place, cell] of written.entries())
    if (cell !== '' && hiddenColumns?.has(place) === true)
      notes.note('hidden_column', columnLetters(place), header.line);
  return header;
}

/**
 * @param first first batch of `withHeaderRows`
 * @throws FileFault with all faults of the header
 */
function openTable(first: RecordBatch, options: TableOptions) {
  const { kind, cells, notes, skipsHidden } = options;
  const header = openHeader(first, options);
  const skippedColumns = skipsHidden ? first.hiddenColumns : undefined;
  const reader = createRowReader({ ...options, header });
  const noteUnnamed = createUnnamedColumns(header, notes);
  const totals = createTotalsCheck(kind);
  const isExample = createExampleCheck(kind, header, cells);
  const filesOf = createFilesReader(header.filePlace);
  const checkRepeat = createRepeatCheck(header.repeatsPlace, header.headings);
  const reference = IMPORT_COLUMNS[kind].findIndex(
    ({ name, isRequired }) => name === 'reference' && !isRequired,
  );
  let isReferenceMissing = reference >= 0 && (header.places[reference] === -1 || header.filePlace >= 0);
  let lastLine = header.line;
  const lines = createTableLines({ header, notes, totals, isExample, read: reader.read });

  function acceptRow({ record, values, findings }: ReadRow, faults: ImportFault[]): StagedRow {
    const { line } = record;
    totals.addRow(
      values,
      findings.faults.map(({ column }) => column),
    );
    reader.accept(findings);
    for (const note of findings.notes) notes.note(note.kind, note.column, line);
    noteUnnamed(record);
    // In a faulty row, null may mean an unreadable reference.
    if (findings.faults.length === 0 && values[reference] === null) isReferenceMissing = true;
    const rejectedFrom = filesOf(record, findings);
    checkRepeat(record, findings);
    for (const { column, message } of findings.faults) faults.push({ line, column, message, refuses: 'row' });
    return rejectedFrom === undefined ? { line, values } : { line, values, rejectedFrom };
  }

  return {
    ...reader,
    header,
    isReferenceMissing: () => isReferenceMissing,
    /** Skips the records up to the header, which are in the first batch. */
    read({ records: batch }: RecordBatch) {
      const rows: StagedRow[] = [];
      const faults: ImportFault[] = [];
      for (const each of batch) {
        const record = withoutColumns(each, skippedColumns);
        if (record.line < header.line || (skippedColumns !== undefined && isEmpty(record))) continue;
        if (record.line > lastLine + 1) {
          notes.noteLines('empty_row', lastLine + 1, record.line - 1);
          lines.passGap();
        }
        lastLine = record.lastLine ?? record.line;
        if (record.line === header.line) continue;
        if (record.isHidden === true) {
          notes.note('hidden_row', '', record.line);
          if (skipsHidden) continue;
        }
        for (const row of lines.read(record)) rows.push(acceptRow(row, faults));
      }
      return { rows, faults: [...faults, ...notes.takeFaults()] };
    },
    /** Returns faults of entire columns and, with `--strict`, of texts below the table. */
    end(): ImportFault[] {
      lines.end();
      const unclear = reader.unclearDecimals();
      return [
        ...notes.takeFaults(),
        ...unclear.map((fault) => ({ line: header.line, ...fault, refuses: 'file' as const })),
      ];
    },
    warnings: totals.warnings,
  };
}

/** Notes each column without a heading at the first row with a value in the column. */
function createUnnamedColumns({ headings }: Header, notes: NoteLog) {
  const places = new Set(headings.flatMap(({ text }, place) => (text === '' ? [place] : [])));
  return ({ line, cells }: FileRecord): void => {
    for (const place of places) {
      // The places are in ascending order. A row may have fewer cells than the header.
      if (place >= cells.length) break;
      if (cells[place]?.trim() === '') continue;
      notes.note('ignored_column', `#${place + 1}`, line);
      places.delete(place);
    }
  };
}

export interface StageOptions extends CheckOptions {
  readonly kind: ImportKind;
  readonly map?: FileLayout | undefined;
  /** True to make each note a fault of the file or of the row (`NOTES`). */
  readonly isStrict?: boolean | undefined;
  readonly skipsHidden?: boolean | undefined;
  readonly cells: CellContext;
  /** Called after each batch. May throw to end reading. @param bytesRead bytes up to the end of the batch */
  readonly onBatch: (bytesRead: number) => void;
}

const FIRST_ROWS = 3;

export type FileFindings = Awaited<ReturnType<typeof readAndCheck>>['findings'];

/** @throws RegistryError `unavailable`; the system's error if the file cannot be read */
export async function readAndCheck(session: ImportSession, source: RecordSource, options: StageOptions) {
  let survey: FileSurvey = { hidden: new Set() };
  let staged = await stageOnce(session, source, options, survey);
  // Most files have unambiguous dates and known words, and are read only once.
  while (staged.needsSurvey && staged.table !== undefined) {
    const { table } = staged;
    survey = {
      columns: survey.columns ?? (await surveyColumns(source, table.header, options)),
      hidden: new Set([...survey.hidden, ...table.columnsOfUnknownWords()]),
    };
    staged = await stageOnce(session, source, options, survey);
  }
  const { staging, table, notes, firstRows } = staged;
  const checked = staging.check(options);
  const warnings: readonly ImportWarning[] = table?.warnings() ?? [];
  return {
    checked,
    findings: {
      notes,
      /** Warnings about the file itself. Warnings from the comparison with stored data are in `checked`. */
      warnings,
      firstRows,
      /** Undefined if the header could not be read. */
      header: table?.header,
      /** Columns with a number that is refused for too many decimals. A map can round these columns. */
      roundableColumns: table?.roundableColumns() ?? [],
      isReferenceMissing: table?.isReferenceMissing() === true,
      /** Returns a cell of a workbook, such as `C12`; undefined if the fault has no single cell. */
      cellOf({ line, column }: Pick<ImportFault, 'line' | 'column'>): string | undefined {
        const place = table?.header.headings.findIndex((heading) => heading.column === column) ?? -1;
        return source.format.type === 'text' || place < 0 ? undefined : `${columnLetters(place)}${line}`;
      },
    },
  };
}

/** @returns `needsSurvey` is true if the file must be scanned and staged again */
async function stageOnce(
  session: ImportSession,
  source: RecordSource,
  { kind, map, cells, isStrict, skipsHidden = false, onBatch }: StageOptions,
  survey: FileSurvey,
) {
  const { format } = source;
  const notes = new NoteLog(isStrict === true);
  if (format.type === 'text' && format.encoding === 'windows-1252' && map?.encoding === undefined)
    notes.note('encoding', '', 1);
  let table: ReturnType<typeof openTable> | undefined;
  let staging: ReturnType<ImportSession['stage']> | undefined;
  const firstRows: StagedRow[] = [];
  try {
    for await (const batch of withHeaderRows(source.read(), map)) {
      onBatch(batch.bytesRead);
      if (batch.records.length === 0 && table === undefined) continue;
      table ??= openTable(batch, { kind, map, cells, format, notes, survey, skipsHidden });
      staging ??= session.stage(kind, table.columns);
      const { rows, faults } = table.read(batch);
      if (table.needsSurvey()) return { staging, table, notes: notes.list(), firstRows, needsSurvey: true };
      firstRows.push(...rows.slice(0, FIRST_ROWS - firstRows.length));
      staging.addRows(rows);
      if (faults.length > 0) staging.addFaults(faults);
    }
    if (staging === undefined) throw fileFault(1, EMPTY_FILE);
    staging.addFaults(table?.end() ?? []);
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    staging ??= session.stage(kind, new Set());
    staging.addFaults([...notes.takeFaults(), ...error.faults]);
  }
  return { staging, table, notes: notes.list(), firstRows, needsSurvey: false };
}

async function surveyColumns(
  source: RecordSource,
  header: Header,
  { kind, skipsHidden = false, onBatch }: StageOptions,
) {
  const columns = IMPORT_COLUMNS[kind].flatMap(({ name, collect }, i) =>
    collect === undefined
      ? []
      : [{ name, collect, place: header.places[i] as number, survey: new ColumnSurvey() }],
  );
  const isWrongWidth = createWidthCheck(header, source.format);
  // Rows outside the table give no evidence about its columns.
  const isRow = ({ line, cells }: FileRecord): boolean =>
    line > header.line && !isWrongWidth(cells) && !isTotalsRow(header.headings, cells);
  try {
    for await (const { records, bytesRead, hiddenColumns } of source.read()) {
      onBatch(bytesRead);
      const visible = skipsHidden ? visibleRecords(records, hiddenColumns) : records;
      for (const { cells } of visible.filter(isRow))
        for (const { place, collect, survey } of columns)
          if (place >= 0) collect(valueIn(cells, place), survey);
    }
  } catch (error) {
    // The fault is reported when the rows are read.
    if (!(error instanceof FileFault)) throw error;
  }
  return new Map(columns.map(({ name, survey }) => [name, survey]));
}
