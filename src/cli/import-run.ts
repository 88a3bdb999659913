/** Runs one import: opens what it needs, ends it on a signal, and closes everything whatever happens. */
import type { TimeZone } from '../domain/date-time.ts';
import {
  type FileReport,
  ImportError,
  type ImportFile,
  type ImportOptions,
  importFiles,
  nameOf,
} from '../import/import-files.ts';
import type { RejectsFile } from '../import/rejects.ts';
import { UnknownSheetError } from '../import/workbook/open-workbook.ts';
import { openConfiguredStorage } from '../storage.ts';
import type { Storage } from '../store/ports/storage.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';
import { createImportJson } from './import-json.ts';
import { createProgressBar } from './import-progress.ts';
import { appendRejects, openRejects } from './import-rejects.ts';
import { createImportScreen } from './import-screen.ts';
import { newRegistryNote, noRegistryNote } from './output.ts';
import { configOf, type SettingOptions } from './settings.ts';

export interface ImportCommandOptions extends SettingOptions {
  readonly create?: boolean;
  readonly dryRun?: boolean;
  readonly rejects?: string;
  readonly skipInvalid?: boolean;
  readonly acceptTrailingZero?: boolean;
  readonly json?: boolean;
  /** How the files are to be read. */
  readonly reading?: Pick<ImportOptions, 'map' | 'isStrict'>;
}

/** @throws CommandError `refused` unless every file is imported without a fault; any unexpected error */
export async function runImport(
  context: CliContext,
  files: readonly ImportFile[],
  options: ImportCommandOptions,
): Promise<void> {
  const config = configOf(context, options);
  const storage = openConfiguredStorage(config, context.clock);
  await assertMeant(storage, options);
  const rejects =
    options.rejects === undefined ? undefined : await openRejects(options.rejects, files, storage);
  let reports: FileReport[];
  try {
    reports = await importWithSession(context, { storage, zone: config.zone, files, rejects }, options);
  } catch (error) {
    throw error instanceof UnknownSheetError ? new CommandError(EXIT.usage, error.message) : error;
  } finally {
    await rejects?.close();
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
async function assertMeant(storage: Storage, { db, create }: ImportCommandOptions): Promise<void> {
  if (db === undefined || create === true || (await storage.exists())) return;
  throw new CommandError(
    EXIT.usage,
    `There is no registry at ${storage.location}. Add --create to import into a new one.`,
  );
}

interface ImportWork {
  readonly storage: Storage;
  readonly zone: TimeZone;
  readonly files: readonly ImportFile[];
  readonly rejects: RejectsFile | undefined;
}

async function importWithSession(
  context: CliContext,
  { storage, zone, files, rejects }: ImportWork,
  options: ImportCommandOptions,
): Promise<FileReport[]> {
  const { clock } = context;
  const isDryRun = options.dryRun === true;
  const output =
    options.json === true
      ? createImportJson(context, storage.location, isDryRun)
      : createImportScreen(context, { database: storage.location, isDryRun, rejects: options.rejects });
  const bar = createProgressBar(context);
  const isNew = !(await storage.exists());
  const session = storage.openImportSession(isDryRun ? 'dryRun' : 'import');
  if (isNew) context.err(isDryRun ? noRegistryNote(storage) : newRegistryNote(storage));
  const interruption = new AbortController();
  // The import ends before its next step and closes its session, which removes the staging file; a second
  // signal ends the process, and the next start removes the file.
  const onSignal = () => {
    bar.stop();
    interruption.abort(new ImportError('Interrupted. Nothing of this file was imported.'));
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    output.begin(await session.readSize());
    const reports = await importFiles(
      session,
      files,
      {
        ...{ zone, clock, isDryRun, signal: interruption.signal, ...options.reading },
        skipInvalid: options.skipInvalid === true,
        acceptTrailingZero: options.acceptTrailingZero === true,
      },
      {
        progress: bar.update,
        async checked(file, checked, source, { header }) {
          bar.stop();
          await output.checked(file, checked);
          if (checked.faults === 0 || rejects === undefined) return;
          const path = await appendRejects(rejects, checked, source, header);
          if (path !== undefined) context.err(`The refused rows of ${nameOf(file)} are in ${path}.\n`);
        },
        finished(report) {
          bar.stop();
          output.finished(report);
        },
      },
    );
    output.end(reports, await session.readSize());
    return reports;
  } finally {
    bar.stop();
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    await session.close();
  }
}
