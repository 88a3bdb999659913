/** What an operator sees of an import. */

import { countEntities } from '../../app/wording/entity-names.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { asMessage, type Message, pack, say, type Text } from '../../domain/values/message.ts';
import type { NewsPart, ReportNews } from '../../import/run/import-news.ts';
import { type FileReport, nameOf } from '../../import/run/import-report.ts';
import type { RegistrySize } from '../../store/contract/import/import-session.ts';
import { type CliContext, print, tell, translate } from '../terminal/context.ts';
import { proposed } from '../terminal/proposed-command.ts';
import type { SettingOptions } from '../terminal/settings.ts';
import { type Show, showFaults } from './import-faults.ts';
import { findingsOf } from './import-findings.ts';
import { showKept, showMissing } from './import-kept.ts';
import { type ImportOutput, rowsPerSecond, STOPPED, STOPS_TOO } from './import-output.ts';
import { namesOn } from './named-lines.ts';
import { describePreview, listColumnChanges, listFirstRows } from './preview-text.ts';

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
  const inform = (part: NewsPart, text: Text, lines: readonly number[] = []) =>
    context.news?.({ part, text: pack(text), lines });
  /** Lines of which a program asks who is on them. */
  const mentioned = new Set<number>();
  /** Shows texts of one part. */
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
