/** `import`: imports CSV files and workbooks into the registry, each completely or not at all. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { openFile } from '../../formats/open-file.ts';
import { SeveralSheets, UnknownSheetError } from '../../formats/open-workbook.ts';
import { FileFault } from '../../formats/records.ts';
import { IMPORT_KINDS, type ImportKind } from '../../registry/file-columns.ts';
import { type CliContext, CommandError, EXIT, languageFor, tell, translate } from '../../terminal/context.ts';
import { parseCode, parseIdOf } from '../../terminal/options.ts';
import { formatJson } from '../../terminal/output.ts';
import { assertPlace, refusing, statOf, writePrivately } from '../../terminal/places.ts';
import { showingNobody } from '../../terminal/record-reading.ts';
import { acting, type Run } from '../../terminal/run.ts';
import { addSettingOptions, type PrintOptions, type SettingOptions } from '../../terminal/settings.ts';
import { pack, say, type Text } from '../../values/message.ts';
import { type ImportOptions, listImportFiles } from '../import-files.ts';
import { type ImportFile, nameOf } from '../import-report.ts';
import { cellContext } from '../reading/cell-context.ts';
import type { FileLayout } from '../reading/file-layout.ts';
import type { PlacedHeading } from '../reading/guess-headings.ts';
import { isMapDocument, parseMap } from '../reading/parse-map.ts';
import { guessKind, type MapProposal, proposeMap } from '../reading/propose-map.ts';
import { describeColumns } from '../table/columns.ts';
import { scoreHeader } from '../table/recognise-headings.ts';
import { templateOf } from '../template.ts';
import { type ImportCommandOptions, runImport } from './import-run.ts';

// Layout of the imported files: map documents, and the options --map, --cooperative, --sheet and --strict

/** A larger file is no map. */
const MAX_MAP_BYTES = 1024 * 1024;

/** @throws CommandError `usage` */
async function readMapFile(path: string): Promise<string> {
  const refuse = (text: string) => new CommandError(EXIT.usage, text);
  if (statOf(path).size > MAX_MAP_BYTES) throw refuse(`${path} is too large for a map.`);
  const bytes = await refusing(
    (code) => refuse(`${path} cannot be read (${code}).`),
    () => readFileSync(path),
  );
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse(`${path} is not UTF-8. Save it again as UTF-8.`);
  }
}

/** True for an earlier map or an empty file, which may be replaced. */
async function isReplaceableMap(path: string): Promise<boolean> {
  const { size } = statOf(path);
  return size === 0 || (size <= MAX_MAP_BYTES && isMapDocument(await readMapFile(path)));
}

/** @throws CommandError `usage` if the operating system refuses it */
const writeMapFile = (path: string, text: string): Promise<void> =>
  refusing(
    (code) =>
      new CommandError(EXIT.usage, `${path} cannot be written (${code}). Choose another file for --out.`),
    () => writeFileSync(path, text),
  );

interface LayoutOptions extends SettingOptions {
  readonly map?: string;
  readonly cooperative?: string;
  readonly sheet?: string;
  readonly strict?: boolean;
  readonly fileName?: string;
}

const addLayoutOptions = (command: Command): Command =>
  command
    .option('--map <map>', 'read the file as this map says; "import map" proposes one')
    .option('--cooperative <code>', 'the cooperative of every row', parseCode)
    .option('--sheet <name>', 'the sheet of a workbook')
    .option('--strict', 'refuse what would be read with a note')
    .option('--file-name <name>', 'what the file is called, where its path does not say it');

/**
 * @param kind of the only file of the import; undefined for a folder
 * @throws CommandError `usage` with every fault of the map
 */
async function readLayoutOptions(
  run: Run<LayoutOptions>,
  kind: ImportKind | undefined,
): Promise<Pick<ImportOptions, 'map' | 'isStrict'>> {
  const { options } = run;
  const { cooperative, sheet, fileName } = options;
  const isStrict = options.strict === true;
  const isReadAsIs = [options.map, cooperative, sheet].every((given) => given === undefined);
  if (isReadAsIs && (fileName === undefined || kind !== undefined)) return { isStrict };
  if (kind === undefined) {
    const text = '--map, --cooperative, --sheet and --file-name are for one file. Usage: import <kind> FILE.';
    throw new CommandError(EXIT.usage, text);
  }
  if (cooperative !== undefined && kind === 'cooperatives')
    throw new CommandError(EXIT.usage, 'A file of cooperatives has no --cooperative: its column is code.');
  const constants = new Map(cooperative === undefined ? [] : [['cooperative_code', cooperative]]);
  const empty: FileLayout = { kind, columns: new Map(), constants, values: new Map() };
  const map = options.map === undefined ? empty : await readMap(run, options.map, { kind, constants });
  return { isStrict, map: sheet === undefined ? map : { ...map, sheet } };
}

interface MapUse {
  readonly kind: ImportKind;
  readonly constants: ReadonlyMap<string, string>;
}

async function readMap(
  { zone, now }: Run<LayoutOptions>,
  path: string,
  { kind, constants }: MapUse,
): Promise<FileLayout> {
  const cells = cellContext(zone, now);
  const map = parseMap(await readMapFile(path), { kind, cells, constants });
  if ('kind' in map) return map;
  const lines = map.map((fault) => `${path}: ${fault.path === '' ? '' : `${fault.path}: `}${fault.message}`);
  throw new CommandError(EXIT.usage, lines.join('\n'));
}

/** @throws CommandError `usage` */
function parseKind(name: string): ImportKind {
  const kind = IMPORT_KINDS.find((known) => known === name);
  if (kind !== undefined) return kind;
  throw new CommandError(EXIT.usage, say('Known kinds: {kinds}.', { kinds: IMPORT_KINDS }));
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
    .option('--json', 'one JSON document: the map, and what is open in it')
    .option('--file-name <name>', 'what the file is called, where its path does not say it')
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
      replaces: { kind: 'a map', accepts: isReplaceableMap },
    });
  const cells = cellContext(run.zone, run.now);
  const proposal = await orRefuse(run, file, () => propose(file, { cells, sheet }));
  run.news?.({ proposal });
  const text = formatJson(proposal.document);
  if (out !== undefined) await writeMapFile(out, text);
  if (json === true || out === undefined) run.show(describeProposal(proposal), text);
  if (json === true) return;
  for (const remark of remarksOn(proposal)) run.err(`${nameOf(file)}: ${remark}\n`);
  if (out !== undefined) tell(run, `The map is in ${out}.`);
}

function assertFile(path: string): void {
  if (!statOf(path).isFile()) throw new CommandError(EXIT.usage, `${path} is not a file.`);
}

async function propose(
  { kind, path }: ImportFile,
  options: { cells: ReturnType<typeof cellContext>; sheet: string | undefined },
): Promise<MapProposal> {
  const { sheet } = options;
  const source = await openFile(path, { sheet, scoreHeader: (cells) => scoreHeader(kind, cells) });
  try {
    return await proposeMap(source, { kind, ...options });
  } finally {
    await source.close();
  }
}

/** @throws CommandError for any reason that keeps a file from being read */
async function orRefuse<T>(
  { news }: Pick<CliContext, 'news'>,
  file: Pick<ImportFile, 'path' | 'name'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await refusing(
      (code) => new CommandError(EXIT.refused, `${nameOf(file)} cannot be read (${code}).`),
      work,
    );
  } catch (error) {
    const inform = (text: Text) => news?.({ part: 'failed', text: pack(text) });
    if (error instanceof UnknownSheetError) {
      inform(error.message);
      throw new CommandError(EXIT.usage, error.message);
    }
    if (error instanceof FileFault) {
      for (const { message } of error.faults) inform(message);
      if (error.cause instanceof SeveralSheets) news?.({ sheets: error.cause.sheets });
      const lines = error.faults.map(({ line, message }) => `${nameOf(file)} line ${line}: ${message}`);
      throw new CommandError(EXIT.refused, lines.join('\n'));
    }
    throw error;
  }
}

/** The JSON document for programs: the map, and its open places. */
function describeProposal(proposal: MapProposal): object {
  const { document, headerLine, headings, unknownWords, missing } = proposal;
  return {
    map: document,
    header_line: headerLine,
    guessed: guessed(headings).map(({ text, column, by }) => ({ heading: text, column, by })),
    ignored: ignored(headings).map(({ text }) => text),
    unnamed: unnamed(headings),
    open: openPlaces(proposal),
    more_words: unknownWords.flatMap(({ column, hasMore }) => (hasMore ? column : [])),
    missing,
  };
}

function remarksOn(proposal: MapProposal): string[] {
  const { document, headerLine, headings, unknownWords, missing } = proposal;
  const unknown = ignored(headings).map(({ text }) => quote(text));
  const positions = unnamed(headings);
  return [
    `The header is on line ${headerLine}.`,
    ...guessed(headings).map(
      ({ text, column, by }) => `${quote(text)} is read as ${column}, guessed from its ${by}: check it.`,
    ),
    ...(unknown.length === 0 ? [] : [`Left null, which ignores the column: ${unknown.join(', ')}.`]),
    ...(positions.length === 0
      ? []
      : [`No map can name the headings in these positions, which are ignored: ${positions.join(', ')}.`]),
    ...unknownWords.flatMap(({ column, words, hasMore }) => [
      ...(words.length === 0
        ? []
        : [`${column}: write what these words mean in place of null: ${words.map(quote).join(', ')}.`]),
      ...(hasMore
        ? [`${column}: it has other unknown words, which are not shown, as they may be somebody's data.`]
        : []),
    ]),
    ...Object.keys(document.constants ?? {}).map(
      (column) => `${column}: no heading gives it. Write the value of every row in place of null.`,
    ),
    ...(document.dates === null
      ? ['dates: the file does not settle the order of day and month. Write "dmy" or "mdy" in place of null.']
      : []),
    ...(document.decimal === null
      ? ['decimal: the file does not settle the decimal mark. Write "," or "." in place of null.']
      : []),
    ...(missing.length === 0
      ? []
      : [`Needed, and no heading is read as it: ${missing.join(', ')}. Write it beside its heading.`]),
  ];
}

const guessed = (headings: readonly PlacedHeading[]): PlacedHeading[] =>
  headings.filter(({ by }) => by === 'values' || by === 'spelling');

const ignored = (headings: readonly PlacedHeading[]): PlacedHeading[] =>
  headings.filter(({ column, isNameable }) => isNameable && column === null);

/** Positions, from 1, of headings that repeat another or may be personal data. */
const unnamed = (headings: readonly PlacedHeading[]): number[] =>
  headings.flatMap(({ text, column, isNameable }, place) =>
    text === '' || isNameable || column !== null ? [] : [place + 1],
  );

/** Paths of the nulls that an import refuses. */
function openPlaces({ document, unknownWords }: MapProposal): string[] {
  return [
    ...Object.keys(document.constants ?? {}).map((column) => `constants.${column}`),
    ...unknownWords.flatMap(({ column, words }) => words.map((word) => `values.${column}.${word}`)),
    ...(['dates', 'decimal'] as const).filter((key) => document[key] === null),
  ];
}

const quote = (text: string): string => `"${text}"`;

// `import template`: a workbook for a cooperative to fill in (docs/importing.md#a-template)

interface OptionsImportTemplate extends PrintOptions {
  readonly out?: string;
}

function declareImportTemplate(command: Command, context: CliContext): void {
  command
    .argument('<kind>', `one of ${IMPORT_KINDS.join(', ')}`)
    .option('--out <file>', 'the new workbook; without it, template-<kind>.xlsx in this folder')
    .option('--json', 'one JSON document: the file')
    .action(
      acting(context, async (run: Run<OptionsImportTemplate>, given: string) => {
        const kind = parseKind(given);
        // The name must not begin with a kind, or an import of the folder would read the file.
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

type Options = ImportCommandOptions & LayoutOptions;

export function declareImport(command: Command, context: CliContext): void {
  addLayoutOptions(addSettingOptions(command, 'REGISTRY_DB', 'REGISTRY_USER'))
    .argument('<kind-or-folder>', `a folder, or one of ${IMPORT_KINDS.join(', ')}`)
    .argument('[file]', 'the CSV file or workbook, when a kind is named')
    .option('--create', 'with --db: create the database if it does not exist')
    .option('--dry-run', 'check everything and count what would change, write nothing')
    .option('--ask', 'show what each file would change, and ask before it is imported')
    .option('--yes', 'import also what warnings stop')
    .option(
      '--replaces <import>',
      'the file is the newer version of this import',
      parseIdOf('an import, as `imports list`'),
    )
    .option('--absent <file>', 'with --replaces: write the rows that the file no longer has to this file')
    .option('--overwrite-corrections', 'set values back to what they were before they were corrected')
    .option('--despite-erasure', 'import members who were erased')
    .option('--changes <file>', 'write every changed value, as it was and as it is, to this file')
    .option('--rejects <file>', 'write the refused rows with the reasons to this file')
    .option('--skip-invalid', 'import the good rows of a file that has bad ones')
    .option('--accept-trailing-zero', 'national IDs may all end in 0')
    .option('--json', 'one JSON document, every fault included')
    .addHelpText('after', MORE_HELP)
    .action(
      acting(context, async (run: Run<Options>, kindOrFolder: string, path: string | undefined) => {
        const name = run.options.fileName;
        const files = findFiles(run, kindOrFolder, path).map((file) => ({ ...file, name }));
        assertReplacement(path, run.options);
        const kind = path === undefined ? undefined : files[0]?.kind;
        await runImport(run, files, await readLayoutOptions(run, kind));
      }),
    );
  // A folder may be called `help`.
  command.helpCommand(false);
  declareImportMap(
    showingNobody(command.command('map')).description(
      'propose a map for a file; without a kind, it is guessed',
    ),
    context,
  );
  declareImportTemplate(
    showingNobody(command.command('template')).description(
      'write a workbook to fill in: the headings of a kind, and an invented row',
    ),
    context,
  );
}

function findFiles(context: CliContext, kindOrFolder: string, path: string | undefined): ImportFile[] {
  if (path === undefined) {
    if (existsSync(kindOrFolder) && statSync(kindOrFolder).isDirectory())
      return findFilesIn(context, kindOrFolder);
    const isKind = IMPORT_KINDS.some((known) => known === kindOrFolder);
    const what = !isKind ? `${kindOrFolder} is not a folder.` : 'Name the file too.';
    throw new CommandError(EXIT.usage, `${what} Usage: import DIR, or import <kind> FILE.`);
  }
  const kind = parseKind(kindOrFolder);
  if (!statOf(path).isFile()) {
    throw new CommandError(
      EXIT.usage,
      `${path} is not a file. To import a folder, leave out the kind: import ${path}.`,
    );
  }
  return [{ kind, path }];
}

/** @throws CommandError `usage` */
function assertReplacement(path: string | undefined, options: Options): void {
  const { replaces, absent, skipInvalid } = options;
  const refuse = (message: string) => new CommandError(EXIT.usage, message);
  if (absent !== undefined && replaces === undefined)
    throw refuse('--absent needs --replaces: name the import of which the file is the newer version.');
  if (replaces === undefined) return;
  if (path === undefined) throw refuse('--replaces is for one file: import <kind> FILE --replaces ID.');
  if (skipInvalid === true)
    throw refuse(
      'With --skip-invalid, --replaces would remove the rows that are refused. Correct them first.',
    );
}

function findFilesIn(context: CliContext, folder: string): ImportFile[] {
  const kinds = IMPORT_KINDS.join(', ');
  const { files, skipped } = listImportFiles(folder);
  for (const { name, reason } of skipped) context.err(`Skipped ${nameOf({ path: name })}: ${reason}.\n`);
  if (files.length > 0) return files;
  throw new CommandError(EXIT.usage, `${folder} has no file called <kind>*.csv or <kind>*.xlsx (${kinds}).`);
}
