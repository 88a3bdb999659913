/** The `import` command: imports CSV files and workbooks, each completely or not at all. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { IMPORT_KINDS, type ImportKind } from '../../registry/file-columns.ts';
import { type CliContext, CommandError, EXIT, languageFor, tell, translate } from '../../terminal/context.ts';
import { parseCode, parseIdOf } from '../../terminal/options.ts';
import { formatJson } from '../../terminal/output.ts';
import {
  assertFolder,
  assertPlace,
  reading,
  refusing,
  statOf,
  writePrivately,
} from '../../terminal/places.ts';
import { showingNobody } from '../../terminal/record-reading.ts';
import { acting, type Run } from '../../terminal/run.ts';
import { addSettingOptions, type PrintOptions, type SettingOptions } from '../../terminal/settings.ts';
import { pack, say, type Text } from '../../values/message.ts';
import { openFile } from '../files/open-file.ts';
import { SeveralSheets, UnknownSheetError } from '../files/open-workbook.ts';
import { FileFault } from '../files/records.ts';
import { listImportFiles } from '../import-files.ts';
import { type ImportFile, nameOf } from '../import-report.ts';
import { type CellContext, cellContext } from '../reading/cell-context.ts';
import { isMapDocument, parseMap } from '../reading/parse-map.ts';
import { guessKind, type MapProposal, proposeMap } from '../reading/propose-map.ts';
import { describeColumns } from '../table/columns.ts';
import { scoreHeader } from '../table/header.ts';
import { templateOf } from '../template.ts';
import type { ImportCommandOptions } from './import-as-json.ts';
import { type Layout, runImport } from './import-run.ts';

const refuse = (text: Text) => new CommandError(EXIT.usage, text);

const MAX_MAP_BYTES = 1024 * 1024;

/** @throws CommandError `usage` */
async function readMapFile(path: string): Promise<string> {
  if (statOf(path).size > MAX_MAP_BYTES) throw refuse(`${path} is too large for a map.`);
  const bytes = await reading(path, () => readFileSync(path));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse(`${path} is not UTF-8. Save it again as UTF-8.`);
  }
}

interface LayoutOptions extends SettingOptions {
  readonly map?: string;
  readonly cooperative?: string;
  readonly sheet?: string;
  readonly strict?: boolean;
  readonly skipHidden?: boolean;
  readonly fileName?: string;
}

/** @param kind undefined for a folder @throws CommandError `usage` with all faults of the map */
async function readLayoutOptions(run: Run<LayoutOptions>, kind: ImportKind | undefined): Promise<Layout> {
  const { map: path, cooperative, sheet, fileName, strict: isStrict, skipHidden: skipsHidden } = run.options;
  const isReadAsIs = [path, cooperative, sheet].every((option) => option === undefined);
  if (isReadAsIs && (fileName === undefined || kind !== undefined)) return { isStrict, skipsHidden };
  if (kind === undefined)
    throw refuse(
      '--map, --cooperative, --sheet and --file-name are for one file. Usage: import <kind> FILE.',
    );
  if (cooperative !== undefined && kind === 'cooperatives')
    throw refuse('A file of cooperatives has no --cooperative: its column is code.');
  const constants = new Map(cooperative === undefined ? [] : [['cooperative_code', cooperative]]);
  const layout: ReturnType<typeof parseMap> =
    path === undefined
      ? { kind, columns: new Map(), constants, values: new Map() }
      : parseMap(await readMapFile(path), { kind, cells: cellContext(run.zone, run.now), constants });
  if ('kind' in layout)
    return { isStrict, skipsHidden, map: sheet === undefined ? layout : { ...layout, sheet } };
  const lines = layout.map(
    (fault) => `${path}: ${fault.path === '' ? '' : `${fault.path}: `}${fault.message}`,
  );
  throw refuse(lines.join('\n'));
}

/** @throws CommandError `usage` */
function parseKind(name: string): ImportKind {
  const kind = IMPORT_KINDS.find((each) => each === name);
  if (kind !== undefined) return kind;
  throw refuse(say('Known kinds: {kinds}.', { kinds: IMPORT_KINDS }));
}

// `import map`: proposes a map for a file (docs/import-reference.md#maps)

interface ImportMapOptions extends PrintOptions {
  readonly out?: string;
  readonly sheet?: string;
  readonly fileName?: string;
}

function declareImportMap(command: Command, context: CliContext): void {
  command
    .argument('<kind-or-file>', `one of ${IMPORT_KINDS.join(', ')}; without it, the kind is guessed`)
    .argument('[file]', 'the file that the map is for')
    .option('--out <map>', 'write the map to this file instead of standard output')
    .option('--sheet <name>', 'the sheet of a workbook')
    .option('--json', 'one JSON document: the map, and its open questions')
    .option('--file-name <name>', 'name of the file, if its path does not show it')
    .action(
      acting(context, async (run: Run<ImportMapOptions>, kindOrFile: string, path: string | undefined) => {
        const name = run.options.fileName;
        if (path !== undefined) return printMap(run, { kind: parseKind(kindOrFile), path, name });
        assertFile(kindOrFile);
        const kind = await orRefuse(run, { path: kindOrFile, name }, () => guessKind(kindOrFile, name));
        return printMap(run, { kind, path: kindOrFile, name });
      }),
    );
}

async function printMap(run: Run<ImportMapOptions>, file: ImportFile): Promise<void> {
  const { path } = file;
  const { out, sheet, json } = run.options;
  assertFile(path);
  if (out !== undefined)
    await assertPlace(out, {
      storage: run.storage,
      instead: 'another file for --out',
      inputs: { paths: [path], are: 'is the file that the map is for' },
      replaces: {
        kind: 'a map',
        accepts: async () => {
          const { size } = statOf(out);
          return size === 0 || (size <= MAX_MAP_BYTES && isMapDocument(await readMapFile(out)));
        },
      },
    });
  const cells = cellContext(run.zone, run.now);
  const proposal = await orRefuse(run, file, () => propose(file, { cells, sheet }));
  run.news?.({ proposal });
  const text = formatJson(proposal.document);
  if (out !== undefined)
    await refusing(
      (code) => refuse(`${out} cannot be written (${code}). Choose another file for --out.`),
      () => writeFileSync(out, text),
    );
  if (json === true || out === undefined) run.show(describeProposal(proposal), text);
  if (json === true) return;
  for (const remark of remarksOn(proposal)) run.err(`${nameOf(file)}: ${remark}\n`);
  if (out !== undefined) tell(run, `The map is in ${out}.`);
}

function assertFile(path: string): void {
  if (!statOf(path).isFile()) throw refuse(`${path} is not a file.`);
}

async function propose(
  { kind, path }: ImportFile,
  options: { readonly cells: CellContext; readonly sheet: string | undefined },
): Promise<MapProposal> {
  const scoreCells = (cells: readonly string[]) => scoreHeader(kind, cells);
  const source = await openFile(path, { sheet: options.sheet, scoreHeader: scoreCells });
  try {
    return await proposeMap(source, { kind, ...options });
  } finally {
    await source.close();
  }
}

/** @throws CommandError if the file cannot be read */
async function orRefuse<T>(
  { news }: CliContext,
  file: Pick<ImportFile, 'path' | 'name'>,
  work: () => Promise<T>,
): Promise<T> {
  const name = nameOf(file);
  try {
    return await refusing(
      (code) => new CommandError(EXIT.refused, `${name} cannot be read (${code}).`),
      work,
    );
  } catch (error) {
    const inform = (text: Text) => news?.({ part: 'failed', text: pack(text) });
    if (error instanceof UnknownSheetError) {
      inform(error.message);
      throw refuse(error.message);
    }
    if (!(error instanceof FileFault)) throw error;
    for (const { message } of error.faults) inform(message);
    if (error.cause instanceof SeveralSheets) news?.({ sheets: error.cause.sheets });
    const lines = error.faults.map(({ line, message }) => `${name} line ${line}: ${message}`);
    throw new CommandError(EXIT.refused, lines.join('\n'));
  }
}

function sortHeadings({ headings }: MapProposal) {
  return {
    guessed: headings.filter(({ by }) => by === 'values' || by === 'spelling'),
    ignored: headings
      .filter(({ column, isNameable }) => isNameable && column === null)
      .map(({ text }) => text),
    /** Positions, from 1, of ignored headings that no map can name: duplicates or possible personal data. */
    unnamed: headings.flatMap(({ text, column, isNameable }, place) =>
      text === '' || isNameable || column !== null ? [] : [place + 1],
    ),
  };
}

/** `open` lists the nulls that the operator must replace before an import. */
function describeProposal(proposal: MapProposal): object {
  const { document, headerLine, unknownWords, missing } = proposal;
  const { guessed, ignored, unnamed } = sortHeadings(proposal);
  return {
    map: document,
    header_line: headerLine,
    guessed: guessed.map(({ text, column, by }) => ({ heading: text, column, by })),
    ignored,
    unnamed,
    open: [
      ...Object.keys(document.constants ?? {}).map((column) => `constants.${column}`),
      ...unknownWords.flatMap(({ column, words }) => words.map((word) => `values.${column}.${word}`)),
      ...(['dates', 'decimal'] as const).filter((key) => document[key] === null),
    ],
    more_words: unknownWords.flatMap(({ column, hasMore }) => (hasMore ? column : [])),
    missing,
  };
}

function* remarksOn(proposal: MapProposal): Generator<string> {
  const { document, headerLine, unknownWords, missing } = proposal;
  const { guessed, ignored, unnamed } = sortHeadings(proposal);
  const quote = (text: string) => `"${text}"`;
  yield `The header is on line ${headerLine}.`;
  for (const { text, column, by } of guessed)
    yield `${quote(text)} is read as ${column}, guessed from its ${by}: check it.`;
  if (ignored.length > 0) yield `Left null, which ignores the column: ${ignored.map(quote).join(', ')}.`;
  if (unnamed.length > 0)
    yield `No map can name the headings in these positions, which are ignored: ${unnamed.join(', ')}.`;
  for (const { column, words, hasMore } of unknownWords) {
    if (words.length > 0)
      yield `${column}: write what these words mean in place of null: ${words.map(quote).join(', ')}.`;
    if (hasMore)
      yield `${column}: it has other unknown words, which are not shown because they may be personal data.`;
  }
  for (const column of Object.keys(document.constants ?? {}))
    yield `${column}: no heading gives it. Write the value of every row in place of null.`;
  if (document.dates === null)
    yield 'dates: the file does not settle the order of day and month. ' +
      'Write "dmy", "mdy" or "ymd" in place of null.';
  if (document.decimal === null)
    yield 'decimal: the file does not settle the decimal mark. Write "," or "." in place of null.';
  if (missing.length > 0)
    yield `Required, but no heading is read as it: ${missing.join(', ')}. Write it beside its heading.`;
}

// `import template`: a workbook for a cooperative to fill in (docs/importing.md#a-template)

function declareImportTemplate(command: Command, context: CliContext): void {
  command
    .argument('<kind>', `one of ${IMPORT_KINDS.join(', ')}`)
    .option('--out <file>', 'the new workbook; without it, template-<kind>.xlsx in this folder')
    .option('--json', 'one JSON document: the file')
    .action(
      acting(context, async (run: Run<PrintOptions & { readonly out?: string }>, name: string) => {
        const kind = parseKind(name);
        // An import of the folder would import the template if the file name started with a kind.
        const { out = `template-${kind}.xlsx` } = run.options;
        await assertPlace(out, { storage: run.storage, instead: 'another --out' });
        const workbook = await templateOf(kind, languageFor(run));
        await writePrivately(out, [workbook]);
        run.show({ file: out }, `${translate(run, say('The template is in {file}.', { file: out }))}\n`);
      }),
    );
}

const columnsHelp = IMPORT_KINDS.map((kind) => `  ${kind.padEnd(13)} ${describeColumns(kind)}\n`).join('');

const MORE_HELP = `
Columns (* required):
${columnsHelp}
Examples:
  import data/incoming
  import members members-huye.csv --dry-run
  import map members members-huye.csv --out huye.map.json
  import members members-huye.csv --map huye.map.json
  import template members --out members-of-huye.xlsx
`;

export function declareImport(command: Command, context: CliContext): void {
  addSettingOptions(command, 'REGISTRY_DB', 'REGISTRY_USER')
    .option('--map <map>', 'read the file by this map; "import map" suggests one')
    .option('--cooperative <code>', 'the cooperative of every row', parseCode)
    .option('--sheet <name>', 'the sheet of a workbook')
    .option('--strict', 'refuse values that would be imported with a note')
    .option('--skip-hidden', 'leave out the hidden rows and columns of workbooks')
    .option('--file-name <name>', 'name of the file, if its path does not show it')
    .argument('<kind-or-folder>', `a folder, or one of ${IMPORT_KINDS.join(', ')}`)
    .argument('[file]', 'the CSV file or workbook, when a kind is named')
    .option('--create', 'with --db: create the database if it does not exist')
    .option('--dry-run', 'check everything and count what would change, write nothing')
    .option('--ask', 'show what each file would change, and ask before it is imported')
    .option('--yes', 'import the file despite warnings')
    .option(
      '--replaces <import>',
      'the file is the newer version of this import',
      parseIdOf('an import, as `imports list`'),
    )
    .option('--absent <file>', 'with --replaces: write the rows that the file no longer has to this file')
    .option('--overwrite-corrections', 'also overwrite values that were corrected by hand')
    .option('--despite-erasure', 'import members who were erased')
    .option('--changes <file>', 'write every changed value, as it was and as it is, to this file')
    .option('--rejects <file>', 'write the refused rows with the reasons to this file')
    .option('--skip-invalid', 'import the good rows of a file that has bad ones')
    .option('--accept-trailing-zero', 'national IDs may all end in 0')
    .option('--json', 'one JSON document, every fault included')
    .addHelpText('after', MORE_HELP)
    .action(
      acting(
        context,
        async (
          run: Run<ImportCommandOptions & LayoutOptions>,
          kindOrFolder: string,
          path: string | undefined,
        ) => {
          const name = run.options.fileName;
          const files = (await findFiles(run, kindOrFolder, path)).map((file) => ({ ...file, name }));
          assertReplacement(path, run.options);
          const kind = path === undefined ? undefined : files[0]?.kind;
          await runImport(run, files, await readLayoutOptions(run, kind));
        },
      ),
    );
  // Otherwise `import help` would not import a folder named `help`.
  command.helpCommand(false);
  declareImportMap(
    showingNobody(command.command('map')).description(
      'propose a map for a file; without a kind, it is guessed',
    ),
    context,
  );
  declareImportTemplate(
    showingNobody(command.command('template')).description(
      'write a template, a workbook to fill in: the headings of a kind, and an invented row',
    ),
    context,
  );
}

/** @throws CommandError `usage` */
async function findFiles(
  context: CliContext,
  kindOrFolder: string,
  path: string | undefined,
): Promise<ImportFile[]> {
  if (path !== undefined) {
    const kind = parseKind(kindOrFolder);
    if (statOf(path).isFile()) return [{ kind, path }];
    throw refuse(`${path} is not a file. To import a folder, leave out the kind: import ${path}.`);
  }
  const isKind = IMPORT_KINDS.some((kind) => kind === kindOrFolder);
  const reason = isKind ? 'Name the file too.' : `${kindOrFolder} is not a folder.`;
  assertFolder(kindOrFolder, `${reason} Usage: import DIR, or import <kind> FILE.`);
  const { files, skipped } = await reading(kindOrFolder, () => listImportFiles(kindOrFolder));
  for (const { name, reason } of skipped) context.err(`Skipped ${nameOf({ path: name })}: ${reason}.\n`);
  if (files.length > 0) return files;
  const kinds = IMPORT_KINDS.join(', ');
  throw refuse(`${kindOrFolder} has no file called <kind>*.csv, <kind>*.xlsx or <kind>*.ods (${kinds}).`);
}

/** @throws CommandError `usage` */
function assertReplacement(path: string | undefined, options: ImportCommandOptions): void {
  const { replaces, absent, skipInvalid } = options;
  if (absent !== undefined && replaces === undefined)
    throw refuse('--absent needs --replaces: name the import of which the file is the newer version.');
  if (replaces === undefined) return;
  if (path === undefined) throw refuse('--replaces is for one file: import <kind> FILE --replaces ID.');
  if (skipInvalid === true)
    throw refuse(
      'With --skip-invalid, --replaces would remove the rows that are refused. Correct them first.',
    );
}
