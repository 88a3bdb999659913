/** Runs one import: opens its files and session, ends it on a signal, and closes everything in any case. */

import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { UnknownSheetError } from '../../formats/open-workbook.ts';
import type { RecordSource } from '../../formats/records.ts';
import type { StagedChange } from '../../journal/operations.ts';
import type { Storage } from '../../sqlite/storage.ts';
import { type CliContext, CommandError, EXIT, languageFor, tell } from '../../terminal/context.ts';
import { createJsonWriter } from '../../terminal/json-writer.ts';
import { newRegistryNote, noRegistryNote } from '../../terminal/output.ts';
import { assertPlace, refusing } from '../../terminal/places.ts';
import { createProgressBar } from '../../terminal/progress-bar.ts';
import { recordAll, recordNobody } from '../../terminal/record-reading.ts';
import type { Run } from '../../terminal/run.ts';
import type { PrintOptions } from '../../terminal/settings.ts';
import { asksYes, interruptible } from '../../terminal/signals.ts';
import type { StagedValue } from '../../values/declared-fields.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import type { Language } from '../../values/language.ts';
import { Message, say } from '../../values/message.ts';
import {
  absentFormat,
  changesFormat,
  createListFile,
  type ImportOptions,
  importFiles,
  isListFile,
  type ListFile,
  type ListFormat,
} from '../import-files.ts';
import { type FileReport, ImportError, type ImportFile, nameOf } from '../import-report.ts';
import {
  createRejectsFile,
  hasRepeatedRow,
  isReplaceable,
  type RejectsFile,
  rejectsPath,
} from '../rejects-file.ts';
import type { AcceptedFile, CheckedFile } from '../staging/import-transaction.ts';
import type { RegistrySize } from '../staging/session.ts';
import { openImportSession } from '../staging/session.ts';
import type { FileFindings } from '../table/read-and-check.ts';
import { type FileToShow, type ImportOutput, rowsPerSecond, STOPPED, warningsOf } from './import-output.ts';
import { createImportScreen } from './import-screen.ts';

// Files that an import writes beside the registry: `--rejects`, `--changes` and `--absent`

interface SideFileKind<T> {
  /** Name of the option, such as `--rejects`. */
  readonly option: string;
  /** Name for messages, such as `a rejects file`. */
  readonly name: string;
  /** True for an existing file that may be replaced: it is empty, or an earlier one of this kind. */
  readonly isReplaceable: (path: string) => Promise<boolean>;
  readonly create: (path: string) => Promise<T>;
}

/**
 * Creates the file before anything is imported, so that an unwritable path stops nothing halfway. An earlier
 * file of the kind is replaced, so that the new one has its own mode.
 * @param files that are to be imported
 * @throws CommandError `usage` for any other existing file, one of the registry or one to be imported
 */
async function openSideFile<T>(
  path: string,
  { option, name, isReplaceable, create }: SideFileKind<T>,
  files: readonly ImportFile[],
  storage: Storage,
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
      replaces: { kind: name, accepts: isReplaceable },
    });
    rmSync(path, { force: true });
    return create(path);
  });
}

/** @throws CommandError `usage` as `openSideFile` */
const openListFile = <Row>(
  path: string,
  { format, ...kind }: Pick<SideFileKind<unknown>, 'option' | 'name'> & { readonly format: ListFormat<Row> },
  files: readonly ImportFile[],
  storage: Storage,
): Promise<ListFile<Row>> =>
  openSideFile(
    path,
    {
      ...kind,
      isReplaceable: (file) => isListFile(file, format),
      create: (file) => createListFile(file, format),
    },
    files,
    storage,
  );

/**
 * @param lost template of the message if the disk takes no more, with a place for the reason
 * @throws ImportError in that case
 */
export const appendTo = <Row>(file: ListFile<Row>, lost: string, rows: Iterable<Row>): Promise<void> =>
  refusing(
    (reason, cause) => new ImportError(new Message(lost, { reason }), { cause }),
    () => file.append(rows),
  );

// JSON output of an import: one document, streamed, so that memory holds no list of faults

const INDENT = ' '.repeat(8);
/** Lists of a file that are known once it is checked, in the order in which they are written. */
const CHECKED_LISTS = ['errors', 'notes', 'warnings', 'conflicts'] as const;

function createImportJson(context: CliContext, database: string, isDryRun: boolean): ImportOutput {
  const document = createJsonWriter(context.out);
  document.write(`{\n  "database": ${JSON.stringify(database)},\n  "dry_run": ${isDryRun},\n  "files": [`);
  let before: RegistrySize | undefined;
  let files = 0;
  let openFile: ImportFile | undefined;
  const missing = new Set<string>();

  /** Begins the object of a file with its faults and warnings, as its outcome is not known yet. */
  function begin(file: ImportFile): void {
    if (openFile === file) return;
    openFile = file;
    for (const name of CHECKED_LISTS) missing.add(name);
    document.write(`${files++ === 0 ? '' : ','}\n    {\n`);
    document.write(
      `      "file": ${JSON.stringify(hideIdentityCards(file.path))},\n      "kind": "${file.kind}"`,
    );
  }

  function list(name: (typeof CHECKED_LISTS)[number], items: Parameters<typeof document.list>[0]) {
    missing.delete(name);
    document.write(`,\n      "${name}": `);
    return document.list(items, INDENT);
  }

  return {
    begin(registry) {
      before = registry;
    },
    async checked(shown) {
      begin(shown.file);
      const { checked, findings } = shown;
      await list('errors', describeFaults(shown));
      await list(
        'notes',
        findings.notes.map(({ kind, column, count, lines }) => ({ kind, column, count, lines: lines() })),
      );
      await list(
        'warnings',
        warningsOf(shown).map(({ kind, stops, message, lines }) => ({
          kind,
          stops,
          message,
          lines: lines(),
        })),
      );
      if (!checked.isRefused) await list('conflicts', describeConflicts(checked));
    },
    finished(report) {
      begin(report.file);
      for (const name of missing) document.write(`,\n      "${name}": []`);
      for (const [name, value] of Object.entries(describeReport(report)))
        document.write(`,\n      "${name}": ${JSON.stringify(value)}`);
      document.write('\n    }');
    },
    end(_reports, after) {
      const registry = `{ "before": ${JSON.stringify(before)}, "after": ${JSON.stringify(after)} }`;
      document.write(`${files === 0 ? '' : '\n  '}],\n  "registry": ${registry}\n}\n`);
      document.flush();
    },
  };
}

function* describeFaults({ checked, source, findings }: FileToShow): Generator<object> {
  const sheet = source.format.type === 'workbook' ? source.format.sheet : null;
  for (const { line, column, message } of checked.listFaults()) {
    const cell = findings.cellOf({ line, column }) ?? null;
    yield { line, sheet, cell, column, message };
  }
}

function* describeConflicts(accepted: AcceptedFile): Generator<object> {
  for (const { line, column } of accepted.listKept()) yield { line, column };
}

const describeReport = (report: FileReport) => ({
  outcome: report.outcome,
  message: report.outcome === 'stopped' ? STOPPED : (report.failure?.message ?? null),
  rows: report.rows,
  import_id: report.importId ?? null,
  same_as_import: report.sameAsImport ?? null,
  ...report.changes,
  missing: report.missing,
  refused_rows: report.refusedRows,
  columns: Object.fromEntries([...report.columns].map(([name, changed]) => [name, { changed }])),
  imported: report.outcome === 'imported',
  seconds: Number(report.seconds.toFixed(3)),
  rows_per_second: rowsPerSecond(report),
  lock_seconds: Number((report.lockMs / 1000).toFixed(3)),
});

// Refused rows of an import: `--rejects`

/**
 * Each file of an import may get rejects of its own. Earlier ones are replaced, so that the new ones have
 * their own mode; anything else is refused.
 * @param language of the reasons
 * @param isForPage true if a page offers them: its users know columns by their labels
 * @throws CommandError `usage`
 */
async function openRejects(
  path: string,
  files: readonly ImportFile[],
  storage: Storage,
  language: Language,
  isForPage: boolean,
): Promise<RejectsFile> {
  const labelled = isForPage ? files[0]?.kind : undefined;
  const create = (file: string) => createRejectsFile(file, language, labelled);
  const kind = { option: '--rejects', name: 'a rejects file', isReplaceable };
  for (let place = 2; place <= files.length; place++)
    await openSideFile(rejectsPath(path, place), { ...kind, create: async () => {} }, files, storage);
  return openSideFile(path, { ...kind, create }, files, storage);
}

/**
 * @returns the path of the file's refused rows; undefined if no row is refused by itself
 * @throws ImportError if the disk takes no more
 */
const appendRejects = (
  rejects: RejectsFile,
  checked: CheckedFile,
  source: RecordSource,
  findings: FileFindings,
): Promise<string | undefined> =>
  refusing(
    (reason, cause) =>
      new ImportError(
        say('The rejects cannot be written ({reason}). Nothing of this file was imported.', { reason }),
        { cause },
      ),
    async () => rejects.append(checked.listFaults(), source, findings, hasRepeatedRow(checked.listFaults())),
  );

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
 * @param layout options for reading the files
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
 * Refuses a missing database that `--db` names without `--create`: a mistyped path would become an empty
 * registry. A database that `REGISTRY_DB` names is created: it was decided on once, and not typed again for
 * each import.
 * @throws CommandError `usage`
 */
function assertMeant(storage: Storage, { db, create }: ImportCommandOptions): void {
  if (db === undefined || create === true || storage.exists()) return;
  throw new CommandError(
    EXIT.usage,
    say('There is no registry at {location}. Add --create to import into a new one.', storage),
  );
}

/** Asks the operator. A program that reads the JSON gives no answer, and has not seen the warnings yet. */
async function isConfirmed(run: ImportRun, signal: AbortSignal): Promise<boolean> {
  const { json, ask } = run.options;
  if (json === true) return false;
  const question = ask === true ? 'Import it? [y/N]' : 'Import it nevertheless? [y/N]';
  const isAgreed = await asksYes(run, question, signal);
  signal.throwIfAborted();
  return isAgreed;
}

/** Messages for lists that the disk has no room for. */
const LOST = {
  changes: 'The changes cannot be written ({reason}). Nothing of this file was imported.',
  absent: 'The absent rows cannot be written ({reason}). Nothing of this file was imported.',
};

/**
 * Records an access to stored values, which a dry run and these options show. The contents of the files are
 * known to the operator who imports them.
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
  const session = openImportSession(storage, isDryRun ? 'dryRun' : 'import');
  if (isNew) tell(run, isDryRun ? noRegistryNote(storage) : newRegistryNote(storage));
  // The import closes its session, which removes the staging file; if the process is killed instead, the next
  // start removes it.
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
          // The output before the question still holds if the answer is no.
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
