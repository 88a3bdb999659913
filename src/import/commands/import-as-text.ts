/** The output of the `import` command as text, and as messages to the desk. */

import { valueIn } from '../../formats/spreadsheet-cells-and-empty-words.ts';
import { countEntities } from '../../journal/change-texts.ts';
import { DERIVED_REFERENCE } from '../../registry/entries.ts';
import { formatStored, kindOf } from '../../registry/file-columns.ts';
import { typedCommand } from '../../runtime/typed-command.ts';
import { type CliContext, print, tell, translate } from '../../terminal/context.ts';
import { describeLines, SHOWN_LINES } from '../../terminal/output.ts';
import type { TimeZone } from '../../values/date-time.ts';
import type { StagedValue } from '../../values/declared-fields.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import { asMessage, joinTexts, type Message, pack, say, type Text, Written } from '../../values/message.ts';
import { FileFault, type ImportFault } from '../files/records.ts';
import { type FileCheck, warningsOf } from '../import-files.ts';
import {
  describeColumnChanges,
  type FileReport,
  type FirstRow,
  listColumnChanges,
  type NewsPart,
  nameOf,
  withoutIdentityCards,
} from '../import-report.ts';
import { isPersonsName } from '../reading/guess-columns.ts';
import type { ImportNote, NoteKind } from '../reading/notes.ts';
import type { AcceptedFile, CheckedFile } from '../staging/apply-checked-file.ts';
import type { RegistrySize } from '../staging/import-session.ts';
import { IMPORT_COLUMNS } from '../table/columns.ts';
import { ignoredHeadings } from '../table/header.ts';
import type { FileFindings } from '../table/read-and-check.ts';
import { type ImportOutput, type ImportRun, rowsPerSecond, STOPPED } from './import-as-json.ts';

export function createImportScreen(run: ImportRun, isDryRun: boolean): ImportOutput {
  const { options, zone } = run;
  const database = run.storage.location;
  const showsPreview = isDryRun || options.ask === true;
  let preview: readonly Message[] = [];
  const inform = (part: NewsPart, text: Text, lines: readonly number[] = []) =>
    run.news?.({ part, text: pack(text), lines });
  return {
    begin: (registry) =>
      print(run, say('Registry {database}: {size}', { database, size: describeSize(registry) })),
    async checked(check) {
      const { checked, file } = check;
      const name = nameOf(file);
      const mentionedLines = new Set<number>();
      for (const { part, text, printed = text, lines = [] } of describeFindings(
        check,
        run,
        showsPreview || run.news !== undefined,
      )) {
        tell(run, printed);
        inform(part, text, lines);
        for (const line of lines) mentionedLines.add(line);
      }
      if (run.news !== undefined) {
        const { roundableColumns } = check.findings;
        const names = await namesOn(mentionedLines, check);
        run.news({ firstRows: listFirstRows(check), roundableColumns, names });
      }
      if (checked.isRefused) {
        if (warningsOf(check).some(({ stops }) => stops))
          tell(run, say('{file}: {text}', { file: name, text: STOPS_TOO }));
        return;
      }
      if (!showsPreview) return;
      const changes = listColumnChanges(checked);
      run.news?.({ changes });
      preview = changes.map((each) => {
        const write = (value: StagedValue) =>
          formatStored(each.column, value, zone) ?? translate(run, '(empty)');
        return say('{file}: {text}', { file: name, text: describeColumnChanges(each, each.column, write) });
      });
    },
    finished(report) {
      const { outcome, importId, sameAsImport, failure } = report;
      const { rows, refusedRows, isFileFaulty, changes } = report;
      const file = nameOf(report.file);
      const tellOf = (text: Text) => tell(run, say('{file}: {text}', { file, text: asMessage(text) }));
      if (outcome !== 'not_reached')
        print(run, say('{file}: {text}', { file, text: describeOutcome(report) }));
      if (outcome === 'accepted' || outcome === 'stopped') for (const line of preview) print(run, line);
      preview = [];
      if (importId !== undefined)
        print(
          run,
          say('To undo it: {command}', { command: typedCommand(`imports undo ${importId}`, options.db) }),
        );
      if (sameAsImport !== undefined)
        tellOf(say('the same file was imported before, as import {id}.', { id: sameAsImport }));
      if (failure !== undefined) {
        tellOf(failure.message);
        inform('failed', failure.message);
      }
      if (outcome === 'stopped') tellOf(STOPPED);
      if (outcome === 'refused' || outcome === 'stopped')
        tell(run, say('Nothing of {file} was imported.', { file }));
      run.news?.({ report: { outcome, rows, refusedRows, isFileFaulty, changes, importId, sameAsImport } });
    },
    end(reports, registry) {
      const values = { database, size: describeSize(registry) };
      const isUnchanged = reports.every(({ outcome }) => outcome !== 'imported');
      if (isUnchanged) print(run, say('Registry {database} is unchanged: {size}', values));
      else print(run, say('Registry {database} now: {size}', values));
      showStop(run, reports, isDryRun);
    },
  };
}

const STOPS_TOO = say(
  'Correct the faults first; --yes does not help. Look at the warnings as well: it may be the wrong file.',
);

interface Finding {
  readonly part: NewsPart;
  readonly text: Message;
  /** `text` with the name of the file; undefined if `text` already contains the name. */
  readonly printed?: Message;
  /** First few lines that the finding is about. */
  readonly lines?: readonly number[];
}

/** @param isWatched false to hide texts that may be names of people, for example from a log */
function* describeFindings(
  check: FileCheck,
  { options, zone }: ImportRun,
  isWatched: boolean,
): Generator<Finding> {
  const file = nameOf(check.file);
  const { findings, checked } = check;
  const noting = (part: NewsPart) => (text: Message) => ({
    part,
    text,
    printed: say('{file}: note: {note}', { file, note: text }),
  });
  yield* describeHeadings(findings).map(noting('note'));
  yield* describeIgnored(findings, isWatched).map(noting('ignored'));
  yield* findings.notes
    .filter(({ kind }) => !['heading', 'ignored_column', 'hidden_row', 'hidden_column'].includes(kind))
    .map((note) => describeNote(note, isWatched))
    .map(noting('note'));
  yield* describeHidden(findings, options.skipHidden === true).map(noting('note'));
  for (const warning of warningsOf(check)) {
    const lines = firstOf(warning);
    const message = asMessage(warning.message);
    const text = say('{message} ({lines})', { message, lines: describeLines(lines, warning.count) });
    yield {
      part: 'warning',
      text,
      printed: say('{file}: warning: {warning}', { file, warning: text }),
      lines,
    };
  }
  yield* describeFaults(check, options.rejects);
  if (checked.isRefused) return;
  yield* describeKept(file, checked);
  yield* describeMissing(check, checked, zone, options.absent);
}

const firstOf = ({ lines }: { lines(): Iterable<number> }): readonly number[] =>
  Iterator.from(lines()).take(SHOWN_LINES).toArray();

function describeHeadings({ header }: FileFindings): Message[] {
  const headings = (header?.headings ?? [])
    .filter(({ by }) => by === 'dictionary')
    .map(({ text, column }) => say('"{heading}" is {column}', { heading: text, column: column ?? '' }));
  return headings.length === 0 ? [] : [say('headings: {headings}', { headings })];
}

const isPosition = (column: string): boolean => column.startsWith('#');

const describeColumn = (column: string): Message =>
  isPosition(column)
    ? say('column number {position}', { position: column.slice(1) })
    : say('"{heading}"', { heading: column });

/** Hides headings that may be personal data. */
function describeIgnored({ notes, header }: FileFindings, isWatched: boolean): Message[] {
  const noted = notes.filter(({ kind }) => kind === 'ignored_column').map(({ column }) => column);
  const headings = header === undefined ? [] : ignoredHeadings(header);
  const positions = new Set(headings.map(({ position }) => `#${position}`));
  const rest = noted.filter(
    (column) => header === undefined || (isPosition(column) && !positions.has(column)),
  );
  const columns = [
    ...headings.map(({ position, text = '' }) =>
      describeColumn(text === '' || (!isWatched && isPersonsName(text)) ? `#${position}` : text),
    ),
    ...rest.map(describeColumn),
  ];
  return columns.length === 0 ? [] : [say('ignored columns: {columns}', { columns })];
}

const NOTE_NAMES: { readonly [kind in NoteKind]: string } = {
  encoding: 'encoding',
  title_row: 'title row',
  heading: 'heading',
  ignored_column: 'ignored column',
  empty_row: 'empty row',
  totals_row: 'totals row',
  repeated_header: 'header again, passed over',
  text_below: 'text below the table, passed over',
  example_row: 'example of the template, left out',
  hidden_row: 'hidden row',
  hidden_column: 'hidden column',
  merged_cell: 'value of the merged cell above',
  word: 'word',
  empty_word: 'empty word',
  second_phone: 'second phone',
  spreadsheet_text: 'spreadsheet text',
  decimal_comma: 'decimal comma',
  unit: 'unit',
  rounded: 'rounded',
  date_order: 'date order',
  two_digit_year: 'year of two digits',
};

function describeNote(importNote: ImportNote, isWatched: boolean): Message {
  const { kind, column, count, texts } = importNote;
  if (kind === 'encoding') return say('encoding: read as Windows-1252');
  const note = asMessage(NOTE_NAMES[kind]);
  const lines = describeLines(firstOf(importNote), count);
  if (texts !== undefined && isWatched)
    return say('{note}: {texts} ({lines})', { note, texts: texts.map((text) => `"${text}"`), lines });
  return column === ''
    ? say('{note}: {lines}', { note, lines })
    : say('{note} in column {column}: {lines}', { note, column, lines });
}

function describeHidden({ notes }: FileFindings, areSkipped: boolean): Message[] {
  const letters = notes.flatMap(({ kind, column }) => (kind === 'hidden_column' ? column : []));
  const columns = { count: letters.length, letters };
  const rows = notes
    .filter(({ kind }) => kind === 'hidden_row')
    .map((note) => ({ count: note.count, lines: describeLines(firstOf(note), note.count) }));
  const describeRow = (row: (typeof rows)[number]) =>
    areSkipped
      ? say('{count|# hidden row|# hidden rows}, left out: {lines}', row)
      : say('{count|# hidden row|# hidden rows}, read like the others: {lines}', row);
  const ofColumns = areSkipped
    ? say('{count|# hidden column|# hidden columns}, left out: {letters}', columns)
    : say('{count|# hidden column|# hidden columns}, read like the others: {letters}', columns);
  return [...rows.map(describeRow), ...(letters.length === 0 ? [] : [ofColumns])];
}

/** Maximum number of different faults, and of kept values, that are shown for a file. */
const SHOWN_FAULTS = 20;

/** Faults with the same column and message. `fault` is the first. */
interface EqualFaults {
  readonly fault: ImportFault;
  rows: number;
  /** First few lines. */
  readonly lines: number[];
}

function groupFaults(checked: CheckedFile): Iterable<EqualFaults> {
  const groups = new Map<string, EqualFaults>();
  for (const fault of checked.listFaults()) {
    const key = `${fault.column}\n${fault.message}`;
    const group = groups.get(key) ?? { fault, rows: 0, lines: [] };
    if (group.rows === 0 && groups.size === SHOWN_FAULTS) continue;
    groups.set(key, group);
    if (group.rows++ < SHOWN_LINES) group.lines.push(fault.line);
  }
  return groups.values();
}

function* describeFaults(check: FileCheck, rejects: string | undefined): Generator<Finding> {
  const file = nameOf(check.file);
  let rest = check.checked.faults;
  let areLinesLeft = false;
  for (const group of groupFaults(check.checked)) {
    rest -= group.rows;
    areLinesLeft ||= group.rows > group.lines.length;
    yield { part: 'fault', text: describeFault(check, group), lines: group.lines };
  }
  if (rest > 0) {
    const text =
      rejects === undefined
        ? say('{file}: {rest} more; --rejects FILE writes all of them.', { file, rest })
        : say('{file}: {rest} more; the rejects have all of them.', { file, rest });
    yield { part: 'fault', text };
  } else if (areLinesLeft) {
    const text =
      rejects === undefined
        ? say('{file}: --rejects FILE writes all rows with faults.', { file })
        : say('{file}: the rejects have all rows with faults.', { file });
    yield { part: 'fault', text };
  }
}

function describeFault(
  { file, source: { format }, findings }: FileCheck,
  { fault, rows, lines }: EqualFaults,
): Message {
  const { line, column } = fault;
  const sheet = format.type === 'workbook' ? format.sheet : undefined;
  const cell = findings.cellOf(fault);
  const fields = { file: nameOf(file), line, column, message: asMessage(fault.message) };
  if (rows > 1) {
    const places = [
      ...(sheet === undefined ? [] : [say('sheet {sheet}', { sheet })]),
      ...(column === '' ? [] : [say('column {column}', { column })]),
      describeLines(lines, rows),
    ];
    return say('{file}: {rows} rows: {message} ({places})', { ...fields, rows, places });
  }
  if (sheet !== undefined && cell !== undefined) {
    const places = { ...fields, sheet, cell };
    return say('{file} line {line}, column {column}: {message} (sheet {sheet}, cell {cell})', places);
  }
  return column === ''
    ? say('{file} line {line}: {message}', fields)
    : say('{file} line {line}, column {column}: {message}', fields);
}

function* describeKept(file: string, accepted: AcceptedFile): Generator<Finding> {
  for (const { line, column } of Iterator.from(accepted.listKept()).take(SHOWN_FAULTS)) {
    const text = say(
      '{file} line {line}, column {column}: kept, because it was corrected after it was imported.',
      { file, line, column },
    );
    yield { part: 'kept', text, lines: [line] };
  }
  const rest = accepted.changes.kept - SHOWN_FAULTS;
  if (rest > 0) {
    const text = say('{file}: {rest|# more value is|# more values are} kept; --json lists all of them.', {
      file,
      rest,
    });
    yield { part: 'kept', text };
  }
  if (accepted.canOverwriteKept) {
    const text = say('{file}: to import these values nevertheless, add --overwrite-corrections.', { file });
    yield { part: 'kept', text };
  }
}

const SHOWN_MISSING = 3;
/** Columns that identify a missing row. */
const CODES = [
  'code',
  'member_code',
  'loan_reference',
  'reference',
  'delivered_at',
  'transacted_at',
  'paid_at',
];
/** Further columns, for a missing row that the import removes. */
const VALUES = ['kg', 'product', 'kind', 'amount'];

function* describeMissing(
  { file }: FileCheck,
  { missing }: AcceptedFile,
  zone: TimeZone,
  absent: string | undefined,
): Generator<Finding> {
  if (missing === undefined || missing.count === 0) return;
  const { count, areRemoved } = missing;
  const visibleColumns = areRemoved ? [...CODES, ...VALUES] : CODES;
  const examples: Text[] = [];
  for (const values of Iterator.from(missing.list()).take(SHOWN_MISSING)) {
    const cells = IMPORT_COLUMNS[file.kind].flatMap(({ name }, i) =>
      visibleColumns.includes(name) ? writtenOf(name, formatStored(name, values[i] ?? null, zone) ?? '') : [],
    );
    examples.push(joinTexts(cells, ' '));
  }
  if (count > examples.length) examples.push('…');
  const rows = say(
    '{count|# row of the replaced import is|# rows of the replaced import are} not in this file ({examples})',
    { count, examples: joinTexts(examples, '; ') },
  );
  const places = { file: nameOf(file), rows, count };
  const text = areRemoved
    ? say('{file}: {rows}.', places)
    : absent === undefined
      ? say('{file}: {rows}: {count|it stays|they stay}; --absent FILE writes {count|it|them}.', places)
      : say('{file}: {rows}: {count|it stays|they stay}; {absent} lists {count|it|them}.', {
          ...places,
          absent,
        });
  yield { part: 'missing', text };
}

/**
 * Returns the value in a list, for pages to format. Shortens an instant to its day. The list is empty for an
 * empty cell, and for a reference that the import made.
 */
function writtenOf(column: string, value: string): (string | Written)[] {
  const text = hideIdentityCards(value.startsWith(DERIVED_REFERENCE) ? '' : value.replace(/T\d\d:.*$/, ''));
  const kind = kindOf(column)?.kind;
  if (text === '') return [];
  if (kind === 'decimal') return [new Written('amount', text)];
  return [kind?.endsWith('instant') === true ? new Written('day', text) : text];
}

const listFirstRows = ({ file, findings }: FileCheck): FirstRow[] =>
  findings.firstRows.map(({ line, values }) => ({
    line,
    values: Object.fromEntries(
      IMPORT_COLUMNS[file.kind].flatMap(({ name }, i) => {
        const value = withoutIdentityCards(values[i] ?? null);
        return value === null || name === 'identity_card' ? [] : [[name, value]];
      }),
    ),
  }));

const MOST_CHARACTERS = 80;

/** Reads the file again for the names on these lines. The desk shows the names beside the findings. */
async function namesOn(
  lines: ReadonlySet<number>,
  { source, findings: { header } }: FileCheck,
): Promise<{ readonly [line: number]: string }> {
  const names: { [line: number]: string } = {};
  const placeOf = (name: string) => header?.headings.findIndex(({ column }) => column === name) ?? -1;
  const places = ['full_name', 'first_name', 'last_name'].map(placeOf).filter((place) => place >= 0);
  if (header === undefined || lines.size === 0 || places.length === 0) return names;
  const last = Math.max(...lines);
  try {
    for await (const { records } of source.read()) {
      for (const { line, cells } of records) {
        if (line === header.line || !lines.has(line)) continue;
        const parts = places.map((place) => valueIn(cells, place)).filter((part) => part !== '');
        const name = hideIdentityCards(parts.join(' ')).slice(0, MOST_CHARACTERS);
        if (name !== '') names[line] = name;
      }
      if ((records.at(-1)?.line ?? 0) >= last) break;
    }
  } catch (error) {
    // The faults of the file already report the unreadable rest.
    if (!(error instanceof FileFault)) throw error;
  }
  return names;
}

const describeSize = (size: RegistrySize): readonly Message[] => [
  countEntities('cooperatives', size.cooperatives),
  countEntities('members', size.members),
  countEntities('production', size.deliveries),
  countEntities('loans', size.loans),
  countEntities('payments', size.payments),
  countEntities('savings', size.transactions),
];

function describeOutcome(report: FileReport): Message {
  const { outcome, rows, refusedRows } = report;
  if (outcome === 'failed') return say('failed, nothing of it was imported');
  if (outcome === 'refused') {
    return report.isFileFaulty
      ? say('refused, see above')
      : say('refused, {refused} of {rows|# row has|# rows have} faults', { refused: refusedRows, rows });
  }
  const changes = describeChanges(report);
  if (outcome === 'stopped')
    return say('{rows|# row|# rows} checked: {changes}; stopped by warnings', { rows, changes });
  if (outcome === 'accepted')
    return say('{rows|# row|# rows} checked: {changes}; nothing was written', { rows, changes });
  return say('{changes} ({seconds} s, {speed} rows/s, locked for {locked} s)', {
    changes,
    seconds: report.seconds.toFixed(1),
    speed: rowsPerSecond(report),
    locked: (report.lockMs / 1000).toFixed(3),
  });
}

function describeChanges({ changes, refusedRows }: FileReport): readonly Message[] {
  const { created, changed, unchanged, kept, removed } = changes;
  return [
    say('{n|# new|# new}', { n: created }),
    say('{n|# changed|# changed}', { n: changed }),
    say('{n|# unchanged|# unchanged}', { n: unchanged }),
    ...(removed === 0 ? [] : [say('{n|# removed|# removed}', { n: removed })]),
    ...(kept === 0 ? [] : [say('{n|# value|# values} kept', { n: kept })]),
    ...(refusedRows === 0 ? [] : [say('{n|# refused|# refused}', { n: refusedRows })]),
  ];
}

/** Prints finished and unreached files if an import of several files ended early. */
function showStop(context: CliContext, reports: readonly FileReport[], isDryRun: boolean): void {
  const isDone = ({ outcome }: FileReport) => outcome === 'imported' || outcome === 'accepted';
  if (reports.length === 1 || reports.every(isDone)) return;
  const namesOf = (wanted: FileReport['outcome']) =>
    reports.filter(({ outcome }) => outcome === wanted).map(({ file }) => nameOf(file));
  const done = namesOf(isDryRun ? 'accepted' : 'imported');
  const files = done.length === 0 ? say('no file') : done;
  tell(context, isDryRun ? say('Accepted: {files}.', { files }) : say('Imported: {files}.', { files }));
  const notReached = namesOf('not_reached');
  if (notReached.length > 0) tell(context, say('Not reached: {files}.', { files: notReached }));
}
