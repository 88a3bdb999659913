/** Shows an import to the operator. */

import { valueIn } from '../../formats/blanks.ts';
import { FileFault } from '../../formats/records.ts';
import type { StagedChange } from '../../journal/operations.ts';
import { countEntities } from '../../registry/changes/labels.ts';
import { formatStored } from '../../registry/file-columns.ts';
import { type CliContext, print, tell, translate } from '../../terminal/context.ts';
import { describeLines, proposed, SHOWN_LINES } from '../../terminal/output.ts';
import type { SettingOptions } from '../../terminal/settings.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import { asMessage, type Message, pack, say, type Text } from '../../values/message.ts';
import {
  type ColumnChanges,
  type FileReport,
  type FirstRow,
  type NewsPart,
  nameOf,
  type ReportNews,
} from '../import-report.ts';
import type { ImportWarning } from '../import-warnings.ts';
import type { ImportNote, NoteKind } from '../reading/notes.ts';
import type { AcceptedFile } from '../staging/import-transaction.ts';
import type { RegistrySize } from '../staging/session.ts';
import { IMPORT_COLUMNS } from '../table/columns.ts';
import { ignoredHeadings } from '../table/header.ts';
import type { FileFindings } from '../table/read-and-check.ts';
import { type Show, showFaults, showKept, showMissing } from './import-faults.ts';
import {
  type FileToShow,
  type ImportOutput,
  rowsPerSecond,
  STOPPED,
  STOPS_TOO,
  warningsOf,
} from './import-output.ts';

// Notes of a file for an operator: one line for all headings, one for each other kind and column

/** The headings that the dictionary recognised, with their columns. */
function describeHeadings({ header }: Pick<FileFindings, 'header'>): Message[] {
  const headings = (header?.headings ?? [])
    .filter(({ by }) => by === 'dictionary')
    .map(({ text, column }) => say('"{heading}" is {column}', { heading: text, column: column ?? '' }));
  return headings.length === 0 ? [] : [say('headings: {headings}', { headings })];
}

/** Notes that are not about headings. */
const describeNotes = ({ notes }: Pick<FileFindings, 'notes'>): Message[] =>
  notes.filter(({ kind }) => kind !== 'heading' && kind !== 'ignored_column').map(describeNote);

const ignoredIn = ({ notes }: Pick<FileFindings, 'notes'>): readonly string[] =>
  notes.filter(({ kind }) => kind === 'ignored_column').map(({ column }) => column);

const isPosition = (column: string): boolean => column.startsWith('#');

/**
 * Columns of which nothing is imported, for output without a preview. A heading that may be personal data is
 * replaced by its position, `#5`.
 */
function describeIgnored(findings: Pick<FileFindings, 'notes'>): Message[] {
  const ignored = ignoredIn(findings);
  const columns = ignored.map((column) => (isPosition(column) ? column : `"${column}"`));
  if (columns.length === 0) return [];
  return ignored.some(isPosition)
    ? [say('ignored columns: {columns} (import map shows their headings)', { columns })]
    : [say('ignored columns: {columns}', { columns })];
}

/**
 * Columns of which nothing is imported, for an operator who is asked to confirm: includes those that a map
 * ignores, with the headings of the file.
 */
function describePlaceless({ notes, header }: FileFindings): Message[] {
  if (header === undefined) return describeIgnored({ notes });
  const headed = ignoredHeadings(header);
  const known = new Set(headed.map(({ position }) => `#${position}`));
  const unheaded = ignoredIn({ notes }).filter((column) => isPosition(column) && !known.has(column));
  const columns = [
    ...headed.map(({ position, text }) =>
      text === undefined ? say('column number {position}', { position }) : asMessage(`"${text}"`),
    ),
    ...unheaded.map((column) => say('column number {position}', { position: column.slice(1) })),
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
  example_row: 'example of the template, left out',
  word: 'word',
  empty_word: 'empty word',
  second_phone: 'second phone',
  spreadsheet_text: 'spreadsheet text',
  decimal_comma: 'decimal comma',
  unit: 'unit',
  date_order: 'date order',
};

function describeNote({ kind, column, count, lines: all }: ImportNote): Message {
  if (kind === 'encoding') return say('encoding: read as Windows-1252');
  const note = asMessage(NOTE_NAMES[kind]);
  const lines = describeLines([...firstOfImportNotes(all())], count);
  return column === ''
    ? say('{note}: {lines}', { note, lines })
    : say('{note} in column {column}: {lines}', { note, column, lines });
}

function* firstOfImportNotes(lines: Iterable<number>): Generator<number> {
  let shown = 0;
  for (const line of lines) {
    yield line;
    if (++shown === SHOWN_LINES) return;
  }
}

// Preview of a dry run: rows of a file, and values that an import would change

const SHOWN_EXAMPLES = 3;
/** Number of changes searched for examples; a column that changes only later has none. */
const SEARCHED_CHANGES = 10_000;

/** Number of changed values in each column, with the first ones. National IDs are never among them. */
function listColumnChanges(accepted: AcceptedFile): ColumnChanges[] {
  const examples = new Map([...accepted.columns.keys()].map((column) => [column, [] as StagedChange[]]));
  let searched = 0;
  for (const change of accepted.listChanges()) {
    const found = examples.get(change.column);
    if (found !== undefined && found.length < SHOWN_EXAMPLES) found.push(change);
    const isEnough = [...examples.values()].every(({ length }) => length === SHOWN_EXAMPLES);
    if (++searched === SEARCHED_CHANGES || isEnough) break;
  }
  const hidden = (value: StagedChange['old']) =>
    typeof value === 'string' ? hideIdentityCards(value) : value;
  return [...accepted.columns].map(([column, count]) => ({
    column,
    count,
    examples: (column === 'identity_card' ? [] : (examples.get(column) ?? [])).map((change) => ({
      row: hideIdentityCards(change.row),
      old: hidden(change.old),
      new: hidden(change.new),
    })),
  }));
}

/**
 * One line for each column, with stored and new values.
 * @param name of the file
 * @param empty placeholder for a missing value
 */
function describePreview(
  name: string,
  changes: readonly ColumnChanges[],
  zone: TimeZone,
  empty: string,
): Message[] {
  return changes.map(({ column, count, examples }) => {
    const show = (value: StagedChange['old']) => formatStored(column, value, zone) ?? empty;
    const texts = examples.map((each) => `${each.row} ${show(each.old)} → ${show(each.new)}`);
    const list = (count > texts.length ? [...texts, '…'] : texts).join('; ');
    const fields = { file: name, column, count };
    return texts.length === 0
      ? say('{file}: {column} changes in {count|# row|# rows}', fields)
      : say('{file}: {column} changes in {count|# row|# rows}: {examples}', {
          ...fields,
          examples: list,
        });
  });
}

/** The first rows as they were understood, without national IDs. */
const listFirstRows = ({ file, findings }: FileToShow): FirstRow[] =>
  findings.firstRows.map(({ line, values }) => ({
    line,
    values: Object.fromEntries(
      IMPORT_COLUMNS[file.kind].flatMap(({ name }, i) => {
        const value = values[i] ?? null;
        if (value === null || name === 'identity_card') return [];
        return [[name, typeof value === 'string' ? hideIdentityCards(value) : value]];
      }),
    ),
  }));

// Notes and warnings of a file, which are shown before its faults

interface Finding {
  readonly part: NewsPart;
  readonly text: Message;
  /** The text with the name of the file, for a line of its own. */
  readonly told: Message;
  /** First of the lines that it is about. */
  readonly lines: readonly number[];
}

/** @param isPreview true if the operator is to confirm the file, or has only asked for a dry run */
function findingsOf(shown: FileToShow, file: string, isPreview: boolean): readonly Finding[] {
  const { findings } = shown;
  const noting = (part: NewsPart) => (text: Message) => ({
    part,
    text,
    told: say('{file}: note: {note}', { file, note: text }),
    lines: [],
  });
  const ignored = isPreview ? describePlaceless(findings) : describeIgnored(findings);
  return [
    ...describeHeadings(findings).map(noting('note')),
    ...ignored.map(noting('ignored')),
    ...describeNotes(findings).map(noting('note')),
    ...warningsOf(shown).map((warning) => {
      const lines = firstOf(warning);
      const text = describeWarning(warning, lines);
      const told = say('{file}: warning: {warning}', { file, warning: text });
      return { part: 'warning' as const, text, told, lines };
    }),
  ];
}

function firstOf({ lines }: ImportWarning): readonly number[] {
  const first: number[] = [];
  for (const line of lines()) if (first.push(line) === SHOWN_LINES) break;
  return first;
}

const describeWarning = ({ message, count }: ImportWarning, lines: readonly number[]): Message =>
  say('{message} ({lines})', { message: asMessage(message), lines: describeLines(lines, count) });

// Names of persons on lines of a file, which the desk shows beside its findings

const MOST_CHARACTERS = 80;

/** Reads the file again, up to the last of the lines. @returns names by line, for rows that have one */
async function namesOn(
  lines: ReadonlySet<number>,
  { source, findings: { header } }: Pick<FileToShow, 'source' | 'findings'>,
): Promise<{ readonly [line: number]: string }> {
  const names: { [line: number]: string } = {};
  const placeOf = (name: string) => header?.headings.findIndex(({ column }) => column === name) ?? -1;
  const places = ['full_name', 'first_name', 'last_name'].map(placeOf).filter((place) => place >= 0);
  const last = Math.max(...lines);
  if (header === undefined || lines.size === 0 || places.length === 0) return names;
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
    // From some row on the file cannot be read, which is among its faults.
    if (!(error instanceof FileFault)) throw error;
  }
  return names;
}

interface ScreenOptions {
  readonly settings: SettingOptions;
  readonly database: string;
  readonly zone: TimeZone;
  readonly isDryRun: boolean;
  /** True if stored values are shown beside those of the file. */
  readonly showsPreview: boolean;
  /** The path given by `--rejects`. */
  readonly rejects: string | undefined;
  /** The path given by `--absent`. */
  readonly absent: string | undefined;
}

export function createImportScreen(context: CliContext, options: ScreenOptions): ImportOutput {
  const { database, zone, isDryRun, showsPreview, settings } = options;
  const undo = (id: number) => proposed(`imports undo ${id}`, settings);
  let preview: readonly Message[] = [];
  const inform = (part: NewsPart, text: Text, lines: readonly number[] = []) =>
    context.news?.({ part, text: pack(text), lines });
  /** Lines for which a program needs the names of the persons. */
  const mentioned = new Set<number>();
  /** Creates a function that shows texts of one part. */
  const showing =
    (part: NewsPart): Show =>
    (text, lines = []) => {
      tell(context, text);
      inform(part, text, lines);
      for (const line of lines) mentioned.add(line);
    };
  return {
    begin: (registry) =>
      print(context, say('Registry {database}: {size}', { database, size: describeSize(registry) })),
    async checked(shown) {
      const { file, checked } = shown;
      const name = nameOf(file);
      for (const { part, text, told, lines } of findingsOf(shown, name, showsPreview)) {
        tell(context, told);
        inform(part, text, lines);
        for (const line of lines) mentioned.add(line);
      }
      if (context.news !== undefined) context.news({ firstRows: listFirstRows(shown) });
      showFaults(showing('fault'), shown, options.rejects);
      if (!checked.isRefused) showKept(showing('kept'), name, checked);
      if (context.news !== undefined) context.news({ names: await namesOn(mentioned, shown) });
      mentioned.clear();
      if (checked.isRefused) {
        if (checked.warnings.some(({ stops }) => stops))
          tell(context, say('{file}: {text}', { file: name, text: STOPS_TOO }));
        return;
      }
      showMissing(showing('missing'), shown, options);
      if (!showsPreview) return;
      const changes = listColumnChanges(checked);
      context.news?.({ changes });
      preview = describePreview(name, changes, zone, translate(context, '(empty)'));
    },
    finished(report) {
      const name = nameOf(report.file);
      const tellOf = (text: Text) =>
        tell(context, say('{file}: {text}', { file: name, text: asMessage(text) }));
      if (report.outcome !== 'not_reached')
        print(context, say('{file}: {text}', { file: name, text: describeOutcome(report) }));
      if (report.outcome === 'accepted' || report.outcome === 'stopped')
        for (const line of preview) print(context, line);
      if (report.importId !== undefined)
        print(context, say('To undo it: {command}', { command: undo(report.importId) }));
      if (report.sameAsImport !== undefined)
        tellOf(say('the same file was imported before, as import {id}.', { id: report.sameAsImport }));
      preview = [];
      if (report.failure !== undefined) {
        tellOf(report.failure.message);
        inform('failed', report.failure.message);
      }
      if (report.outcome === 'stopped') tellOf(STOPPED);
      if (report.outcome === 'refused' || report.outcome === 'stopped')
        tell(context, say('Nothing of {file} was imported.', { file: name }));
      context.news?.({ report: toNews(report) });
    },
    end(reports, registry) {
      const values = { database, size: describeSize(registry) };
      print(
        context,
        isDryRun
          ? say('Registry {database} is unchanged: {size}', values)
          : say('Registry {database} now: {size}', values),
      );
      showStop(context, reports, isDryRun);
    },
  };
}

function toNews(report: FileReport): ReportNews {
  const { outcome, rows, refusedRows, isFileFaulty, changes, importId, sameAsImport } = report;
  const imported = importId === undefined ? {} : { importId };
  return { outcome, rows, refusedRows, isFileFaulty, changes, sameAsImport, ...imported };
}

const describeSize = ({
  cooperatives,
  members,
  deliveries,
  loans,
  payments,
  transactions,
}: RegistrySize): readonly Message[] => [
  countEntities('cooperatives', cooperatives),
  countEntities('members', members),
  countEntities('production', deliveries),
  countEntities('loans', loans),
  countEntities('payments', payments),
  countEntities('savings', transactions),
];

function describeOutcome(report: FileReport): Message {
  const { outcome, rows, refusedRows } = report;
  if (outcome === 'failed') return say('failed, nothing of it was imported');
  if (outcome === 'refused') {
    return report.isFileFaulty
      ? say('refused, see above')
      : say('refused, {refused} of {rows|# row|# rows} have faults', { refused: refusedRows, rows });
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

/** Lists the finished and unreached files of an import that has stopped. */
function showStop(context: CliContext, reports: readonly FileReport[], isDryRun: boolean): void {
  if (
    reports.length === 1 ||
    reports.every(({ outcome }) => outcome === 'imported' || outcome === 'accepted')
  )
    return;
  const namesOf = (...outcomes: FileReport['outcome'][]) =>
    reports.filter(({ outcome }) => outcomes.includes(outcome)).map(({ file }) => nameOf(file));
  const done = isDryRun ? namesOf('accepted') : namesOf('imported');
  const files = done.length === 0 ? say('no file') : done;
  tell(context, isDryRun ? say('Accepted: {files}.', { files }) : say('Imported: {files}.', { files }));
  const notReached = namesOf('not_reached');
  if (notReached.length > 0) tell(context, say('Not reached: {files}.', { files: notReached }));
}
