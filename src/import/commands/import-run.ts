/** Runs the command `import`, with the files that it writes. */

import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { formatCsvRow } from '../../formats/write-csv-and-workbooks.ts';
import { formatStored } from '../../registry/file-columns.ts';
import { asksYes } from '../../terminal/confirm.ts';
import { CommandError, EXIT, languageFor, tell } from '../../terminal/context.ts';
import { newRegistryNote, noRegistryNote } from '../../terminal/output.ts';
import { assertOwn, assertPlace, refusing, removeOwn } from '../../terminal/places.ts';
import { createProgressBar } from '../../terminal/progress-bar.ts';
import { recordAll, recordNobody } from '../../terminal/record-reading.ts';
import { interruptible } from '../../terminal/signals.ts';
import { Message, say } from '../../values/message.ts';
import { UnknownSheetError } from '../files/open-workbook.ts';
import { type FileCheck, type ImportObserver, type ImportOptions, importFiles } from '../import-files.ts';
import { type FileReport, ImportError, type ImportFile, nameOf } from '../import-report.ts';
import { createRejectsFile, isReplaceable, rejectsPath } from '../rejects-file.ts';
import { openImportSession } from '../staging/import-session.ts';
import { IMPORT_COLUMNS } from '../table/columns.ts';
import { createImportJson, type ImportOutput, type ImportRun } from './import-as-json.ts';
import { createImportScreen } from './import-as-text.ts';

export type Layout = Pick<ImportOptions, 'map' | 'isStrict' | 'skipsHidden'>;

/** @throws CommandError `refused` unless all files are imported without a fault; any unexpected error */
export async function runImport(run: ImportRun, files: readonly ImportFile[], layout: Layout): Promise<void> {
  const { options, storage } = run;
  const refuse = (text: string | Message) => new CommandError(EXIT.usage, text);
  // A mistyped --db would create an empty registry, so --create is required. The database of the setting
  // REGISTRY_DB is created without --create, because the setting is not typed for each import.
  if (options.db !== undefined && options.create !== true && !storage.exists())
    throw refuse(say('There is no registry at {location}. Add --create to import into a new one.', storage));
  if (options.ask === true && (options.json === true || run.ask === undefined))
    throw refuse(
      '--ask needs a terminal, and cannot be combined with --json. Use --dry-run to see what would change.',
    );
  const paths = [options.rejects, options.changes, options.absent].flatMap((path) =>
    path === undefined ? [] : resolve(path),
  );
  if (new Set(paths).size < paths.length)
    throw refuse('Choose different files for --rejects, --changes and --absent.');
  const sideFiles: SideFiles = {};
  let reports: FileReport[];
  try {
    await openSideFiles(run, files, sideFiles);
    reports = await importWithSession(run, files, layout, sideFiles);
  } catch (error) {
    throw error instanceof UnknownSheetError ? refuse(error.message) : error;
  } finally {
    for (const file of Object.values(sideFiles)) await file.close();
  }
  const unexpected = reports.find(({ failure }) => failure?.isExpected === false)?.failure;
  if (unexpected !== undefined) throw unexpected.error;
  const isDone = ({ outcome, faults }: FileReport) =>
    (outcome === 'imported' || outcome === 'accepted') && faults === 0;
  if (!reports.every(isDone)) throw new CommandError(EXIT.refused, '');
}

// Side files: the files that --rejects, --changes and --absent name. Only their owner can read them,
// because national IDs may be in them.

interface SideFiles {
  rejects?: Awaited<ReturnType<typeof createRejectsFile>>;
  changes?: ListFile;
  absent?: ListFile;
}

const CHANGE_COLUMNS = ['line', 'row', 'column', 'old', 'new'];
/** Columns of the file of --absent: all columns of the kind, so that its rows can be imported again. */
const absentColumns = ({ kind }: ImportFile) => IMPORT_COLUMNS[kind].map(({ name }) => name);

async function openSideFiles(run: ImportRun, files: readonly ImportFile[], sideFiles: SideFiles) {
  const { rejects, changes, absent } = run.options;
  const [first] = files;
  const openList = (path: string, option: string, name: string, columns: readonly string[]) => {
    const accepts = (file: string) => isListFile(file, columns);
    return openSideFile(run, files, { path, option, name, accepts }, () => createListFile(path, columns));
  };
  if (rejects !== undefined) {
    const kind = { option: '--rejects', name: 'a rejects file', accepts: isReplaceable };
    for (let place = 2; place <= files.length; place++)
      await openSideFile(run, files, { ...kind, path: rejectsPath(rejects, place) }, async () => {});
    // Users of the desk can download the rejects. These users know columns by their labels.
    const labelled = run.news === undefined ? undefined : first?.kind;
    sideFiles.rejects = await openSideFile(run, files, { ...kind, path: rejects }, () =>
      createRejectsFile(rejects, languageFor(run), labelled),
    );
  }
  if (changes !== undefined)
    sideFiles.changes = await openList(changes, '--changes', 'a list of changes', CHANGE_COLUMNS);
  if (absent !== undefined && first !== undefined)
    sideFiles.absent = await openList(absent, '--absent', 'a list of absent rows', absentColumns(first));
}

interface SideFilePlace {
  readonly path: string;
  /** Such as `--rejects`. */
  readonly option: string;
  /** Such as `a rejects file`. */
  readonly name: string;
  /** True for the path of an earlier import's side file. Such a file may be replaced. */
  readonly accepts: (path: string) => Promise<boolean>;
}

/**
 * Creates a side file. Must be called before the import starts: an unwritable path must not stop the import
 * halfway. An earlier side file is removed first, because it may have other permissions.
 * @throws CommandError `usage` if the path names a file of the registry, an imported file, or any other
 *   existing file that is not an earlier side file
 */
async function openSideFile<T>(
  { storage }: ImportRun,
  files: readonly ImportFile[],
  { path, option, name, accepts }: SideFilePlace,
  create: () => Promise<T>,
): Promise<T> {
  const instead = `another file for ${option}`;
  const failed = (code: string) =>
    new CommandError(EXIT.usage, `${path} cannot be written (${code}). Choose ${instead}.`);
  return refusing(failed, async () => {
    await assertPlace(path, {
      storage,
      instead,
      insteadOfFolder: `another one for ${option}`,
      inputs: { paths: files.map((file) => file.path), are: 'is to be imported' },
      replaces: { kind: name, accepts },
    });
    rmSync(path, { force: true });
    return create();
  });
}

/** Number of characters per write. A write for each row would take longer than the import of the row. */
const WRITE_CHARACTERS = 64 * 1024;

/**
 * True for an empty file, and for a file that starts with these columns as its header.
 * @throws the system's error if the file cannot be read
 */
async function isListFile(path: string, columns: readonly string[]): Promise<boolean> {
  const header = formatCsvRow(columns);
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(header.length), 0);
    return bytesRead === 0 || buffer.toString('utf8', 0, bytesRead) === header;
  } finally {
    await handle.close();
  }
}

type ListFile = Awaited<ReturnType<typeof createListFile>>;

/** @throws the system's error, including `EEXIST` if the file exists */
async function createListFile(path: string, columns: readonly string[]) {
  const handle = await open(path, 'wx', 0o600);
  let isEmpty = true;
  return {
    /**
     * Appends a header and the rows of one imported file, if there are rows.
     * @throws the system's error, for example if the disk is full or another import has replaced the file
     */
    async append(rows: Iterable<readonly (string | null)[]>): Promise<void> {
      let pending = formatCsvRow(columns);
      let isFirst = true;
      for (const row of rows) {
        isFirst = false;
        pending += formatCsvRow(row.map((cell) => cell ?? ''));
        if (pending.length < WRITE_CHARACTERS) continue;
        await handle.writeFile(pending);
        pending = '';
      }
      if (isFirst) return;
      isEmpty = false;
      await handle.writeFile(pending);
      assertOwn(path, handle.fd);
    },
    /** Deletes an empty file. */
    async close(): Promise<void> {
      if (isEmpty) removeOwn(path, handle.fd);
      await handle.close();
    },
  };
}

const LOST = {
  rejects: 'The rejects cannot be written ({reason}). Nothing of this file was imported.',
  changes: 'The changes cannot be written ({reason}). Nothing of this file was imported.',
  absent: 'The absent rows cannot be written ({reason}). Nothing of this file was imported.',
};

const writing = <T>(file: keyof SideFiles, write: () => Promise<T>): Promise<T> =>
  refusing((reason, cause) => new ImportError(new Message(LOST[file], { reason }), { cause }), write);

async function writeSideFiles(run: ImportRun, { rejects, changes, absent }: SideFiles, check: FileCheck) {
  const { file, checked } = check;
  if (checked.faults > 0 && rejects !== undefined) {
    const path = await writing('rejects', () => rejects.append(check));
    if (path !== undefined)
      tell(run, say('The refused rows of {file} are in {path}.', { file: nameOf(file), path }));
  }
  if (checked.isRefused) return;
  const write = (column: string, value: string | number | null) => formatStored(column, value, run.zone);
  if (changes !== undefined) {
    const rows = Iterator.from(checked.listChanges()).map(({ line, row, column, old, new: next }) => {
      return [String(line), row, column, write(column, old), write(column, next)];
    });
    await writing('changes', () => changes.append(rows));
  }
  if (absent !== undefined && checked.missing !== undefined) {
    const columns = absentColumns(file);
    const rows = Iterator.from(checked.missing.list()).map((values) =>
      values.map((value, i) => write(columns[i] as string, value)),
    );
    await writing('absent', () => absent.append(rows));
  }
}

/**
 * Records an access to the personal data of all people if the import shows stored values. The contents of the
 * imported files need no record: the operator already has them.
 */
async function recordIfStoredShown(run: ImportRun, isNew: boolean): Promise<void> {
  const { dryRun, ask, changes, absent, replaces } = run.options;
  const showsStored =
    dryRun === true || ask === true || [changes, absent, replaces].some((option) => option !== undefined);
  if (showsStored && !isNew) await recordAll(run);
  else recordNobody(run);
}

async function importWithSession(
  run: ImportRun,
  files: readonly ImportFile[],
  layout: Layout,
  sideFiles: SideFiles,
): Promise<FileReport[]> {
  const { options, storage, zone, clock } = run;
  const isDryRun = options.dryRun === true;
  const output = (options.json === true ? createImportJson : createImportScreen)(run, isDryRun);
  const bar = createProgressBar(run);
  const isNew = !storage.exists();
  const session = openImportSession(storage, isDryRun ? 'dryRun' : 'import');
  if (isNew) tell(run, isDryRun ? noRegistryNote(storage) : newRegistryNote(storage));
  const interrupted = () => {
    bar.stop();
    return new ImportError('Interrupted. Nothing of this file was imported.');
  };
  const work = async (signal: AbortSignal) => {
    await recordIfStoredShown(run, isNew);
    output.begin(session.readSize());
    const importOptions = {
      ...layout,
      zone,
      clock,
      isDryRun,
      signal,
      asks: options.ask,
      systemUser: run.user,
      skipInvalid: options.skipInvalid,
      acceptTrailingZero: options.acceptTrailingZero,
      acceptsWarnings: options.yes,
      overwritesCorrections: options.overwriteCorrections,
      despiteErasure: options.despiteErasure,
      replaces: options.replaces,
    };
    const observer = observerOf(run, output, bar, sideFiles, signal);
    const reports = await importFiles(session, files, importOptions, observer);
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

function observerOf(
  run: ImportRun,
  output: ImportOutput,
  bar: ReturnType<typeof createProgressBar>,
  sideFiles: SideFiles,
  signal: AbortSignal,
): ImportObserver {
  const { json, ask } = run.options;
  let askedFile: ImportFile | undefined;
  return {
    progress(file, bytesRead, bytes) {
      bar.update(nameOf(file), bytesRead, bytes);
      run.news?.({ progress: bytesRead / Math.max(bytes, 1) });
    },
    async checked(check) {
      bar.stop();
      await output.checked(check);
      await writeSideFiles(run, sideFiles, check);
    },
    async confirm(report) {
      askedFile = ask === true ? report.file : undefined;
      if (askedFile !== undefined) output.finished(report);
      // A program that reads the JSON document cannot answer.
      if (json === true) return false;
      const question = ask === true ? 'Import it? [y/N]' : 'Import it nevertheless? [y/N]';
      const isAgreed = await asksYes(run, question, signal);
      signal.throwIfAborted();
      return isAgreed;
    },
    finished(report) {
      bar.stop();
      // The file was reported before the question. The user answered no, so nothing has changed since.
      if (report.file === askedFile && (report.outcome === 'accepted' || report.outcome === 'stopped'))
        return;
      output.finished(report);
    },
  };
}
