/** `import map`: proposes how a file is to be read (docs/import-reference.md#maps). */
import type { Command } from 'commander';
import { pack, type Text } from '../../domain/values/message.ts';
import { cellContext } from '../../import/cells/context.ts';
import { openFile } from '../../import/formats/open-file.ts';
import { FileFault } from '../../import/formats/source/records.ts';
import { SeveralSheets, UnknownSheetError } from '../../import/formats/workbook/open-workbook.ts';
import { guessKind } from '../../import/proposal/guess-kind.ts';
import type { PlacedHeading } from '../../import/proposal/place-headings.ts';
import { type MapProposal, proposeMap } from '../../import/proposal/propose-map.ts';
import { type ImportFile, nameOf } from '../../import/run/import-report.ts';
import { scoreHeader } from '../../import/table/headings.ts';
import { IMPORT_KINDS } from '../../store/contract/import/import-session.ts';
import { type CliContext, CommandError, EXIT, tell } from '../terminal/context.ts';
import { parseKind } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { assertPlace, refusing, statOf } from '../terminal/places.ts';
import { acting, type Run } from '../terminal/run.ts';
import type { PrintOptions } from '../terminal/settings.ts';
import { isReplaceableMap, writeMapFile } from './map-file.ts';

interface ImportMapOptions extends PrintOptions {
  readonly out?: string;
  readonly sheet?: string;
  readonly fileName?: string;
}

export function declareImportMap(command: Command, context: CliContext): void {
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

/** @throws CommandError for whatever keeps a file from being read */
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

/** For programs: the map, and what is open in it. */
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

/** For people. */
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

/** Positions, from 1, of headings that repeat another or may be data. */
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
