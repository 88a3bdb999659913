/** Runs one import: opens what it needs, ends it on a signal, and closes everything whatever happens. */

import { resolve } from 'node:path';
import { say } from '../../domain/values/message.ts';
import { UnknownSheetError } from '../../import/formats/workbook/open-workbook.ts';
import type { RejectsFile } from '../../import/rejects/rejects-file.ts';
import { type ImportOptions, importFiles } from '../../import/run/import-files.ts';
import { type FileReport, ImportError, type ImportFile, nameOf } from '../../import/run/import-report.ts';
import { absentFormat, changesFormat, type ListFile, type ListFormat } from '../../import/run/list-file.ts';
import type { StagedChange, StagedValue } from '../../store/contract/import/import-session.ts';
import type { Storage } from '../../store/contract/storage.ts';
import { recordAll, recordNobody } from '../persons/record-reading.ts';
import { asksYes } from '../terminal/confirm.ts';
import { CommandError, EXIT, languageFor, tell } from '../terminal/context.ts';
import { newRegistryNote, noRegistryNote } from '../terminal/output.ts';
import { createProgressBar } from '../terminal/progress-bar.ts';
import type { Run } from '../terminal/run.ts';
import type { PrintOptions } from '../terminal/settings.ts';
import { interruptible } from '../terminal/signals.ts';
import { createImportJson } from './import-json.ts';
import type { ImportOutput } from './import-output.ts';
import { appendRejects, openRejects } from './import-rejects.ts';
import { createImportScreen } from './import-screen.ts';
import { appendTo, openListFile } from './import-side-files.ts';

export interface ImportCommandOptions extends PrintOptions {
  readonly create?: boolean;
  readonly dryRun?: boolean;
  readonly ask?: boolean;
  readonly rejects?: string;
  readonly changes?: string;
  readonly replaces?: number;
  readonly absent?: string;
  readonly yes?: boolean;
  readonly overwriteCorrections?: boolean;
  readonly despiteErasure?: boolean;
  readonly skipInvalid?: boolean;
  readonly acceptTrailingZero?: boolean;
}

type ImportRun = Run<ImportCommandOptions>;

/**
 * @param layout how the files are to be read
 * @throws CommandError `refused` unless every file is imported without a fault; any unexpected error
 */
export async function runImport(
  run: ImportRun,
  files: readonly ImportFile[],
  layout: ImportWork['layout'],
): Promise<void> {
  const { options, storage, zone } = run;
  assertMeant(storage, options);
  if (options.ask === true && (options.json === true || run.ask === undefined))
    throw new CommandError(
      EXIT.usage,
      '--ask needs a terminal, and cannot be combined with --json. Use --dry-run to see what would change.',
    );
  const paths = [options.rejects, options.changes, options.absent].flatMap((path) =>
    path === undefined ? [] : resolve(path),
  );
  if (new Set(paths).size < paths.length)
    throw new CommandError(EXIT.usage, 'Choose different files for --rejects, --changes and --absent.');
  const open = <Row>(path: string, option: string, name: string, format: ListFormat<Row>) =>
    openListFile(path, { option, name, format }, files, storage);
  let rejects: RejectsFile | undefined;
  let changes: ListFile<StagedChange> | undefined;
  let absent: ListFile<readonly StagedValue[]> | undefined;
  let reports: FileReport[];
  try {
    if (options.rejects !== undefined) {
      const language = languageFor(run);
      rejects = await openRejects(options.rejects, files, storage, language, run.news !== undefined);
    }
    if (options.changes !== undefined)
      changes = await open(options.changes, '--changes', 'a list of changes', changesFormat(zone));
    if (options.absent !== undefined && files[0] !== undefined) {
      const format = absentFormat(files[0].kind, zone);
      absent = await open(options.absent, '--absent', 'a list of absent rows', format);
    }
    reports = await importWithSession(run, { files, layout, rejects, changes, absent });
  } catch (error) {
    throw error instanceof UnknownSheetError ? new CommandError(EXIT.usage, error.message) : error;
  } finally {
    await rejects?.close();
    await changes?.close();
    await absent?.close();
  }
  const unexpected = reports.find(({ failure }) => failure?.isExpected === false)?.failure;
  if (unexpected !== undefined) throw unexpected.error;
  const isDone = ({ outcome, faults }: FileReport) =>
    (outcome === 'imported' || outcome === 'accepted') && faults === 0;
  if (!reports.every(isDone)) throw new CommandError(EXIT.refused, '');
}

/**
 * A mistyped path would otherwise become an empty registry. What `REGISTRY_DB` names is created: it was
 * decided on once, and not typed again for each import.
 * @throws CommandError `usage`
 */
function assertMeant(storage: Storage, { db, create }: ImportCommandOptions): void {
  if (db === undefined || create === true || storage.exists()) return;
  throw new CommandError(
    EXIT.usage,
    say('There is no registry at {location}. Add --create to import into a new one.', storage),
  );
}

/** A program that reads the JSON answers nothing, and has not seen the warnings yet. */
async function isConfirmed(run: ImportRun, signal: AbortSignal): Promise<boolean> {
  const { json, ask } = run.options;
  if (json === true) return false;
  const question = ask === true ? 'Import it? [y/N]' : 'Import it nevertheless? [y/N]';
  const isAgreed = await asksYes(run, question, signal);
  signal.throwIfAborted();
  return isAgreed;
}

/** Said when the disk takes no more of a list. */
const LOST = {
  changes: 'The changes cannot be written ({reason}). Nothing of this file was imported.',
  absent: 'The absent rows cannot be written ({reason}). Nothing of this file was imported.',
};

/**
 * What is in the files, whoever imports them has already. A dry run and these options show stored values
 * beside it.
 * @throws as `recordReading`
 */
async function record(run: ImportRun, isNew: boolean): Promise<void> {
  const { dryRun, ask, changes, absent, replaces } = run.options;
  const showsStored =
    dryRun === true || ask === true || [changes, absent, replaces].some((given) => given !== undefined);
  if (showsStored && !isNew) await recordAll(run);
  else recordNobody(run);
}

interface ImportWork {
  readonly files: readonly ImportFile[];
  readonly layout: Pick<ImportOptions, 'map' | 'isStrict'>;
  readonly rejects: RejectsFile | undefined;
  readonly changes: ListFile<StagedChange> | undefined;
  readonly absent: ListFile<readonly StagedValue[]> | undefined;
}

function createOutput(run: ImportRun, isDryRun: boolean): ImportOutput {
  const { options, zone, storage } = run;
  const database = storage.location;
  if (options.json === true) return createImportJson(run, database, isDryRun);
  const { ask, rejects, absent } = options;
  const showsPreview = isDryRun || ask === true;
  return createImportScreen(run, {
    database,
    zone,
    isDryRun,
    showsPreview,
    settings: options,
    rejects,
    absent,
  });
}

async function importWithSession(
  run: ImportRun,
  { files, layout: how, rejects, changes, absent }: ImportWork,
): Promise<FileReport[]> {
  const { options, storage, zone, clock } = run;
  const isDryRun = options.dryRun === true;
  const output = createOutput(run, isDryRun);
  const bar = createProgressBar(run);
  const isNew = !storage.exists();
  const session = storage.openImportSession(isDryRun ? 'dryRun' : 'import');
  if (isNew) tell(run, isDryRun ? noRegistryNote(storage) : newRegistryNote(storage));
  // The import closes its session, which removes the staging file; where the process is ended instead, the
  // next start removes it.
  const interrupted = () => {
    bar.stop();
    return new ImportError('Interrupted. Nothing of this file was imported.');
  };
  let asked: ImportFile | undefined;
  const work = async (signal: AbortSignal) => {
    await record(run, isNew);
    output.begin(session.readSize());
    const reports = await importFiles(
      session,
      files,
      {
        zone,
        clock,
        isDryRun,
        asks: options.ask === true,
        signal,
        ...how,
        systemUser: run.user,
        skipInvalid: options.skipInvalid === true,
        acceptTrailingZero: options.acceptTrailingZero === true,
        acceptsWarnings: options.yes === true,
        overwritesCorrections: options.overwriteCorrections === true,
        despiteErasure: options.despiteErasure === true,
        ...(options.replaces === undefined ? {} : { replaces: options.replaces }),
      },
      {
        progress(file, bytesRead, bytes) {
          bar.update(nameOf(file), bytesRead, bytes);
          run.news?.({ progress: bytesRead / Math.max(bytes, 1) });
        },
        async checked(file, checked, source, findings) {
          bar.stop();
          await output.checked({ file, checked, source, findings });
          if (checked.faults > 0 && rejects !== undefined) {
            const path = await appendRejects(rejects, checked, source, findings);
            if (path !== undefined)
              tell(run, say('The refused rows of {file} are in {path}.', { file: nameOf(file), path }));
          }
          if (checked.isRefused) return;
          if (changes !== undefined) await appendTo(changes, LOST.changes, checked.listChanges());
          if (absent !== undefined && checked.missing !== undefined)
            await appendTo(absent, LOST.absent, checked.missing.list());
        },
        async confirm(report) {
          asked = options.ask === true ? report.file : undefined;
          if (asked !== undefined) output.finished(report);
          return await isConfirmed(run, signal);
        },
        finished(report) {
          bar.stop();
          // What was shown before the question stays true when the answer is no.
          if (report.file === asked && (report.outcome === 'accepted' || report.outcome === 'stopped'))
            return;
          output.finished(report);
        },
      },
    );
    output.end(reports, session.readSize());
    return reports;
  };
  try {
    return await interruptible(interrupted, work);
  } finally {
    bar.stop();
    session.close();
  }
}
