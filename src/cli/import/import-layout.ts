/** How the files of an import are to be read: its options --map, --cooperative, --sheet and --strict. */
import type { Command } from 'commander';
import { cellContext } from '../../import/cells/context.ts';
import type { FileLayout } from '../../import/map/file-layout.ts';
import { parseMap } from '../../import/map/parse-map.ts';
import type { ImportOptions } from '../../import/run/import-files.ts';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import { readMapFile } from '../map/map-file.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import type { Run } from '../terminal/run.ts';
import type { SettingOptions } from '../terminal/settings.ts';

export interface LayoutOptions extends SettingOptions {
  readonly map?: string;
  readonly cooperative?: string;
  readonly sheet?: string;
  readonly strict?: boolean;
  readonly fileName?: string;
}

export const addLayoutOptions = (command: Command): Command =>
  command
    .option('--map <map>', 'read the file as this map says; "import map" proposes one')
    .option('--cooperative <code>', 'the cooperative of every row', parseCode)
    .option('--sheet <name>', 'the sheet of a workbook')
    .option('--strict', 'refuse what would be read with a note')
    .option('--file-name <name>', 'what the file is called, where its path does not say it');

/**
 * @param kind of the one file of the import; undefined for a folder
 * @throws CommandError `usage` with every fault of the map
 */
export async function readLayoutOptions(
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
