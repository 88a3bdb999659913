/** What an operator sees of an import. */

import { countEntities } from '../../app/wording/entity-names.ts';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { asMessage, type Message, pack, say, type Text } from '../../domain/values/message.ts';
import { IMPORT_COLUMNS } from '../../import/columns/columns.ts';
import { formatStored } from '../../import/columns/stored-values.ts';
import type { NewsPart } from '../../import/run/import-news.ts';
import { type FileReport, nameOf } from '../../import/run/import-report.ts';
import type { AcceptedFile, RegistrySize } from '../../store/contract/import/import-session.ts';
import { type CliContext, print, tell, translate } from '../terminal/context.ts';
import { proposed } from '../terminal/proposed-command.ts';
import type { SettingOptions } from '../terminal/settings.ts';
import { SHOWN_FAULTS, type Show, showFaults } from './import-faults.ts';
import { findingsOf } from './import-findings.ts';
import { type FileToShow, type ImportOutput, rowsPerSecond, STOPPED, STOPS_TOO } from './import-output.ts';
import { describePreview, listFirstRows } from './preview-text.ts';

/** Rows shown that the replaced import had and the file has not. */
const SHOWN_MISSING = 3;
const SHOWN_OF_MISSING = {
  codes: ['code', 'member_code', 'loan_reference', 'reference', 'delivered_at', 'transacted_at', 'paid_at'],
  values: ['kg', 'product', 'kind', 'amount'],
};

interface ScreenOptions {
  /** Given on the command line. */
  readonly settings: SettingOptions;
  /** Its location. */
  readonly database: string;
  readonly zone: TimeZone;
  readonly isDryRun: boolean;
  /** Whether stored values are shown beside those of the file. */
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
  const inform = (part: NewsPart, text: Text) => context.news?.({ part, text: pack(text) });
  /** Shows texts of one part. */
  const showing = (part: NewsPart) => (text: Text) => {
    tell(context, text);
    inform(part, text);
  };
  return {
    begin: (registry) =>
      print(context, say('Registry {database}: {size}', { database, size: describeSize(registry) })),
    checked(shown) {
      const { file, checked } = shown;
      const name = nameOf(file);
      for (const { part, text, told } of findingsOf(shown, name, showsPreview)) {
        tell(context, told);
        inform(part, text);
      }
      if (context.news !== undefined) context.news({ firstRows: listFirstRows(shown) });
      showFaults(showing('fault'), shown, options.rejects);
      if (checked.isRefused) {
        if (checked.warnings.some(({ stops }) => stops))
          tell(context, say('{file}: {text}', { file: name, text: STOPS_TOO }));
        return;
      }
      showKept(showing('kept'), name, checked);
      showMissing(showing('missing'), shown, options);
      if (showsPreview) preview = describePreview(name, checked, zone, translate(context, '(empty)'));
    },
    finished(report) {
      const name = nameOf(report.file);
      const tellOf = (text: Text) =>
        tell(context, say('{file}: {text}', { file: name, text: asMessage(text) }));
      if (report.outcome !== 'not_reached')
        print(context, say('{file}: {text}', { file: name, text: describeOutcome(report) }));
      if (report.outcome === 'accepted' || report.outcome === 'stopped')
        for (const line of preview) {
          print(context, line);
          inform('changed', line);
        }
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
      const { outcome, rows, refusedRows, isFileFaulty, changes, importId, sameAsImport } = report;
      context.news?.({
        report: {
          outcome,
          rows,
          refusedRows,
          isFileFaulty,
          changes,
          ...(importId && { importId }),
          sameAsImport,
        },
      });
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

function showKept(show: Show, file: string, accepted: AcceptedFile): void {
  let shown = 0;
  for (const { line, column } of accepted.listKept()) {
    if (shown++ === SHOWN_FAULTS) break;
    show(
      say('{file} line {line}, column {column}: kept, because it was corrected after it was imported.', {
        file,
        line,
        column,
      }),
    );
  }
  const rest = accepted.changes.kept - SHOWN_FAULTS;
  if (rest > 0)
    show(
      say('{file}: {rest|# more value is|# more values are} kept; --json lists all of them.', { file, rest }),
    );
  if (accepted.canOverwriteKept)
    show(say('{file}: to import these values nevertheless, add --overwrite-corrections.', { file }));
}

/** Of members only the codes; of entries that would be removed the amounts, too. */
function showMissing(
  show: Show,
  { file, checked }: FileToShow,
  { zone, absent }: Pick<ScreenOptions, 'zone' | 'absent'>,
): void {
  const missing = checked.isRefused ? undefined : checked.missing;
  if (missing === undefined || missing.count === 0) return;
  const names = IMPORT_COLUMNS[file.kind].map(({ name }) => name);
  const isShown = (name: string) =>
    SHOWN_OF_MISSING.codes.includes(name) || (missing.areRemoved && SHOWN_OF_MISSING.values.includes(name));
  // Of an instant the day, and no reference that nobody has written.
  const shorten = (text: string) => hideIdentityCards(text.replace(/^auto-.*|T\d\d:.*$/, ''));
  const examples: string[] = [];
  for (const values of missing.list()) {
    const cells = names.flatMap((name, i) =>
      isShown(name) ? shorten(formatStored(name, values[i] ?? null, zone) ?? '') : [],
    );
    if (examples.push(cells.filter((cell) => cell !== '').join(' ')) === SHOWN_MISSING) break;
  }
  const rest = missing.count > examples.length ? '; …' : '';
  const { count } = missing;
  const rows = say(
    '{count|# row of the replaced import is|# rows of the replaced import are} not in this file ({examples})',
    { count, examples: examples.join('; ') + rest },
  );
  const places = { file: nameOf(file), rows, count };
  if (missing.areRemoved) show(say('{file}: {rows}.', places));
  else if (absent === undefined)
    show(say('{file}: {rows}: {count|it stays|they stay}; --absent FILE writes {count|it|them}.', places));
  else
    show(
      say('{file}: {rows}: {count|it stays|they stay}; {absent} lists {count|it|them}.', {
        ...places,
        absent,
      }),
    );
}

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

/** Where an import of several files has stopped. */
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
