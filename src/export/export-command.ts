/** The command `export`, which writes all rows of one kind or of all kinds to files (docs/exporting.md). */

import { extname } from 'node:path';
import { type Command, Option } from 'commander';
import { MOST_WORKBOOK_ROWS } from '../formats/write-csv-and-workbooks.ts';
import { IMPORT_KINDS } from '../registry/file-columns.ts';
import { createPrivateFolder } from '../runtime/process.ts';
import { type CliContext, CommandError, EXIT, languageFor } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { assertPlace, refused, refusing, writePrivately } from '../terminal/places.ts';
import { createProgressBar } from '../terminal/progress-bar.ts';
import { recordAccess, recordNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addSettingOptions, type SettingOptions } from '../terminal/settings.ts';
import { interruptible } from '../terminal/signals.ts';
import { FIELD_GROUPS } from '../values/declared-fields.ts';
import { counted } from '../values/text.ts';
import { EXPORTED } from './export-columns.ts';
import { type ExportedFile, exportedParts, FILE_FORMATS, type FileFormat } from './export-formats.ts';
import { type ExportFilter, type ExportSnapshot, openExportSession } from './exported-rows.ts';

function formatOf(path: string): FileFormat {
  const ending = extname(path).slice(1).toLowerCase();
  return FILE_FORMATS.find((format) => format === ending) ?? 'csv';
}

const ALL = 'all';

interface Options extends SettingOptions {
  readonly cooperative?: string;
  readonly format?: FileFormat;
  readonly labels?: true;
  readonly out?: string;
}

const MORE_HELP = `
Examples:
  export members --cooperative KOAKAMA-HUY --out members.xlsx
  export loans --labels --lang fr --out prets.xlsx
  export loans --format ndjson | gzip > loans.ndjson.gz
  export all --out trial/exported
`;

export function declareExport(command: Command, context: CliContext): void {
  addSettingOptions(command, 'REGISTRY_DB', 'REGISTRY_USER')
    .argument(
      '<kind>',
      `one of ${IMPORT_KINDS.join(', ')}; or all, for a folder of files that can be imported`,
    )
    .option('--cooperative <code>', 'only what belongs to this cooperative', parseCode)
    .addOption(
      new Option(
        '--format <format>',
        'format of the rows; without it, by the ending of --out, else csv',
      ).choices(FILE_FORMATS),
    )
    .option(
      '--labels',
      'for people: only the columns that an import reads, with headings and choices in the language of ' +
        '--lang',
    )
    .option('--out <path>', 'a new file, for all a new folder, that only you can read')
    .addHelpText('after', MORE_HELP)
    .action(
      acting(context, async (run: Run<Options>, kind: string) => {
        const files = planFiles(kind, run);
        const { out, cooperative: code } = run.options;
        if (out !== undefined) await assertPlace(out, { storage: run.storage, instead: 'another --out' });
        await withStore(openExportSession(run.storage), async (session) => {
          const cooperativeId = code === undefined ? undefined : session.findCooperative(code);
          if (code !== undefined && cooperativeId === undefined)
            throw new CommandError(EXIT.refused, `There is no cooperative with the code "${code}".`);
          const filter = { visible: null, isNamed: true, cooperativeId };
          // One snapshot for all files, because their rows refer to each other.
          const snapshot = session.begin();
          await interruptible(
            () => new CommandError(EXIT.refused, 'Interrupted. The file was not completed.'),
            (signal) => write(run, snapshot, filter, files, signal),
          ).finally(() => session.end());
        });
      }),
    );
}

interface PlannedFile extends ExportedFile {
  /** Undefined for standard output. */
  readonly path: string | undefined;
}

/** @throws CommandError `usage` */
function planFiles(argument: string, run: Run<Options>): PlannedFile[] {
  const { out, labels: hasLabels, format: choice } = run.options;
  const refuse = (message: string) => new CommandError(EXIT.usage, message);
  const format = choice ?? (argument === ALL || out === undefined ? 'csv' : formatOf(out));
  if (hasLabels === true && format === 'ndjson')
    throw refuse('NDJSON is for programs, and has no labels: choose --format csv or xlsx.');
  const labels = hasLabels === true ? languageFor(run) : undefined;
  if (argument === ALL) {
    if (out === undefined) throw refuse('Name a new folder for the files: export all --out FOLDER.');
    return IMPORT_KINDS.map((kind) => ({ kind, format, labels, path: `${out}/${kind}.${format}` }));
  }
  const kind = IMPORT_KINDS.find((name) => name === argument);
  if (kind === undefined) throw refuse(`Known kinds: ${[...IMPORT_KINDS, ALL].join(', ')}.`);
  if (format === 'xlsx' && out === undefined) throw refuse('A workbook needs a file: --out members.xlsx.');
  return [{ kind, format, labels, path: out }];
}

async function write(
  run: Run<Options>,
  snapshot: ExportSnapshot,
  filter: ExportFilter,
  files: readonly PlannedFile[],
  signal: AbortSignal,
): Promise<void> {
  const bar = createProgressBar(run);
  try {
    await record(run, snapshot, filter, files);
    const { out } = run.options;
    if (files.length > 1 && out !== undefined) await refusing(refused(out), () => createPrivateFolder(out));
    for (const file of files) {
      const total = run.terminal === undefined ? 0 : snapshot.count(file.kind, filter);
      let done = 0;
      const onRows = (rows: number) => {
        signal.throwIfAborted();
        done += rows;
        if (total > 0) bar.update(file.kind, done, total);
      };
      assertFits(snapshot, file, filter);
      const parts = await exportedParts(snapshot, file, filter, run.zone, onRows);
      if (file.path === undefined)
        for await (const part of parts) await run.out(Buffer.from(part).toString());
      else await writePrivately(file.path, parts);
      bar.stop();
      if (file.path !== undefined) run.err(`${file.path}: ${counted(done, 'row')}\n`);
    }
    run.err(`As of event ${snapshot.sequence} of the sequence ${snapshot.epoch}.\n`);
  } finally {
    bar.stop();
  }
}

async function record(
  run: Run<Options>,
  { sequence: asOfSequence }: ExportSnapshot,
  { cooperativeId }: ExportFilter,
  files: readonly PlannedFile[],
): Promise<void> {
  const fields = FIELD_GROUPS.filter((group) =>
    files.some(({ kind }) => EXPORTED[kind].groups.includes(group)),
  );
  const all = { asOfSequence, cooperativeIds: cooperativeId === undefined ? null : [cooperativeId] };
  if (fields.length === 0) recordNobody(run);
  else await recordAccess(run, { fields, all });
}

/** @throws CommandError `refused` if there are too many rows for a workbook */
export function assertFits(
  snapshot: Pick<ExportSnapshot, 'count'>,
  { kind, format }: ExportedFile,
  filter: ExportFilter,
): void {
  const rows = format === 'xlsx' ? snapshot.count(kind, filter) : 0;
  if (rows > MOST_WORKBOOK_ROWS)
    throw new CommandError(
      EXIT.refused,
      `These are ${rows} ${kind}, and a workbook takes ${MOST_WORKBOOK_ROWS}. ` +
        'Choose one cooperative with --cooperative, or --format csv.',
    );
}
