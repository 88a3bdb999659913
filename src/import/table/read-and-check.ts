/** Reads a file into an import session and has it checked. */
import type {
  CheckedFile,
  CheckOptions,
  FileStaging,
  ImportFault,
  ImportKind,
  ImportSession,
  StagedRow,
} from '../../store/contract/import/import-session.ts';
import type { ImportWarning } from '../../store/contract/import/import-warnings.ts';
import type { CellContext } from '../cells/context.ts';
import { createNoteTaker, type ImportNote } from '../cells/notes.ts';
import { FileFault, fileFault, type RecordSource, type SourceFormat } from '../formats/source/records.ts';
import type { FileLayout } from '../map/file-layout.ts';
import { withHeaderRows } from './find-header.ts';
import type { Header } from './header.ts';
import { type FileSurvey, surveyDates } from './survey-dates.ts';
import { openTable, type Table } from './table.ts';

export interface StageOptions extends CheckOptions {
  readonly kind: ImportKind;
  readonly map?: FileLayout | undefined;
  /** What would be read leniently or skipped is a fault. */
  readonly isStrict?: boolean | undefined;
  readonly cells: CellContext;
  /** Called between batches; what it throws ends the reading. @param bytesRead of the file so far */
  readonly onBatch: (bytesRead: number) => void;
}

const FIRST_ROWS = 3;

/** How a file was read. */
export interface FileFindings {
  readonly notes: readonly ImportNote[];
  /** Of the rows as they are in the file; those about what is stored are with the checked file. */
  readonly warnings: readonly ImportWarning[];
  /** Undefined when it could not be read. */
  readonly header: Header | undefined;
  /** Some, as they were understood. */
  readonly firstRows: readonly StagedRow[];
  /** Whether a row comes without a reference. */
  readonly isReferenceMissing: boolean;
  /** The cell of a workbook in which a fault is, such as `C12`; undefined where it is not in a single one. */
  cellOf(fault: Pick<ImportFault, 'line' | 'column'>): string | undefined;
}

/** @throws RegistryError `unavailable`; the system's error when the file cannot be read */
export async function readAndCheck(
  session: ImportSession,
  source: RecordSource,
  options: StageOptions,
): Promise<{ checked: CheckedFile; findings: FileFindings }> {
  let survey: FileSurvey = { hidden: new Set() };
  let staged = await stageOnce(session, source, options, survey);
  // Rare, so that a file with dates in one order, and known words, is read once.
  while (staged.needsSurvey && staged.table !== undefined) {
    const { table } = staged;
    survey = {
      dates: survey.dates ?? (await surveyDates(source, options.kind, table.header, options.onBatch)),
      hidden: new Set([...survey.hidden, ...table.columnsOfUnknownWords()]),
    };
    staged = await stageOnce(session, source, options, survey);
  }
  const { staging, table, notes, firstRows } = staged;
  const checked = staging.check(options);
  const findings: FileFindings = {
    notes,
    warnings: table?.warnings() ?? [],
    firstRows,
    header: table?.header,
    isReferenceMissing: table?.isReferenceMissing() === true,
    cellOf: (fault) => cellOf(source.format, table?.header, fault),
  };
  return { checked, findings };
}

interface Staged {
  readonly staging: FileStaging;
  /** Undefined for a file without a header that can be read. */
  readonly table: Table | undefined;
  readonly notes: readonly ImportNote[];
  readonly firstRows: readonly StagedRow[];
  /** Whether it is to be staged again, with what its table asks for. */
  readonly needsSurvey: boolean;
}

async function stageOnce(
  session: ImportSession,
  source: RecordSource,
  { kind, map, cells, isStrict, onBatch }: StageOptions,
  survey: FileSurvey,
): Promise<Staged> {
  const { format } = source;
  const notes = createNoteTaker(isStrict === true);
  if (isEncodingGuessed(format, map)) notes.note('encoding', '', 1);
  let table: Table | undefined;
  let staging: FileStaging | undefined;
  const firstRows: StagedRow[] = [];
  try {
    for await (const batch of withHeaderRows(source.read(), map)) {
      onBatch(batch.bytesRead);
      if (batch.records.length === 0 && table === undefined) continue;
      table ??= openTable(batch.records, { kind, map, cells, format, notes, survey });
      staging ??= session.stage(kind, table.columns);
      const { rows, faults } = table.read(batch);
      if (table.needsSurvey()) return { staging, table, notes: [], firstRows, needsSurvey: true };
      firstRows.push(...rows.slice(0, FIRST_ROWS - firstRows.length));
      staging.addRows(rows);
      if (faults.length > 0) staging.addFaults(faults);
    }
    if (staging === undefined) throw fileFault(1, 'The file is empty: its first line must name the columns.');
    staging.addFaults(table?.end() ?? []);
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    staging ??= session.stage(kind, new Set());
    staging.addFaults([...notes.takeFaults(), ...error.faults]);
  }
  return { staging, table, notes: notes.list(), firstRows, needsSurvey: false };
}

const isEncodingGuessed = (format: SourceFormat, map: FileLayout | undefined): boolean =>
  format.type === 'text' && format.encoding === 'windows-1252' && map?.encoding === undefined;

function cellOf(
  format: SourceFormat,
  header: Header | undefined,
  { line, column }: Pick<ImportFault, 'line' | 'column'>,
): string | undefined {
  const place = header?.headings.findIndex((heading) => heading.column === column) ?? -1;
  return format.type === 'text' || place < 0 ? undefined : `${columnLetters(place)}${line}`;
}

/** How a workbook calls a column: `A` to `Z`, `AA`, … @param place counted from 0 */
function columnLetters(place: number): string {
  const last = String.fromCharCode(65 + (place % 26));
  return place < 26 ? last : columnLetters(Math.floor(place / 26) - 1) + last;
}
