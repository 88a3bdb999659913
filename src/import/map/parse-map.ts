/** A map document → how a file is to be read, or all its faults (docs/import-reference.md#maps). */
import { IMPORT_KINDS, type ImportKind } from '../../store/contract/import/import-session.ts';
import type { CellContext } from '../cells/context.ts';
import { DATE_ORDERS } from '../cells/context.ts';
import { IMPORT_COLUMNS } from '../columns/columns.ts';
import { DECIMAL_MARKS, ENCODINGS, type FileLayout, MAP_KEYS, MAX_HEADER_LINE } from './file-layout.ts';
import { readColumns, readConstants, readValues } from './map-columns.ts';
import { openChoice, unknownChoice, unknownName } from './map-faults.ts';
import {
  entriesOf,
  type MapEntry,
  type MapFault,
  type OnMapFault,
  parseMapJson,
  textOf,
} from './map-json.ts';

export interface MapContext {
  /** What is imported with the map. */
  readonly kind: ImportKind;
  readonly cells: CellContext;
  /** By column of the kind: constants that win over those of the document. */
  readonly constants?: ReadonlyMap<string, string>;
}

/** Reads a map document. @returns every fault of it, if it has any */
export function parseMap(text: string, context: MapContext): FileLayout | readonly MapFault[] {
  const tree = parseMapJson(text);
  if (!('type' in tree)) return [tree];
  const faults: MapFault[] = [];
  const onFault = (path: string, message: string) => faults.push({ path, message });
  const entries = new Map(entriesOf(tree, '', onFault).map((entry) => [entry.key, entry]));
  if (tree.type !== 'object') return faults;
  for (const { key, path } of entries.values())
    if (!MAP_KEYS.some((known) => known === key)) onFault(path, unknownName('key', key, MAP_KEYS));

  const kind = readKind(entries.get('kind'), context.kind, onFault);
  const read = { declared: IMPORT_COLUMNS[kind], cells: context.cells, onFault };
  const columns = readColumns(read, entries.get('columns'));
  const given = context.constants ?? new Map<string, string>();
  const constants = readConstants(read, entries.get('constants'), { columns, given });
  const values = readValues(read, entries.get('values'));
  const choose = <Choice extends string>(key: string, choices: readonly Choice[]) =>
    readChoice(entries.get(key), choices, onFault);
  const dates = choose('dates', DATE_ORDERS);
  const decimal = choose('decimal', DECIMAL_MARKS);
  const encoding = choose('encoding', ENCODINGS);
  const headerRow = readLine(entries.get('header_row'), onFault);
  const sheet = readSheet(entries.get('sheet'), onFault);
  if (faults.length > 0) return faults;
  return {
    kind,
    columns,
    constants: new Map([...constants, ...given]),
    values,
    ...(dates !== undefined && { dates }),
    ...(decimal !== undefined && { decimal }),
    ...(encoding !== undefined && { encoding }),
    ...(headerRow !== undefined && { headerRow }),
    ...(sheet !== undefined && { sheet }),
  };
}

/** The kind for which the rest of the document is checked: its own, where it has one. */
function readKind(entry: MapEntry | undefined, imported: ImportKind, onFault: OnMapFault): ImportKind {
  if (entry === undefined) {
    onFault('', `The map must name its kind: "kind": "${imported}".`);
    return imported;
  }
  const kind = readChoice(entry, IMPORT_KINDS, onFault);
  if (kind !== undefined && kind !== imported)
    onFault(entry.path, `This map is for ${kind}, not for ${imported}.`);
  return kind ?? imported;
}

function readChoice<Choice extends string>(
  entry: MapEntry | undefined,
  choices: readonly Choice[],
  onFault: OnMapFault,
): Choice | undefined {
  if (entry === undefined) return undefined;
  const given = textOf(entry.value);
  const choice = choices.find((each) => each === given);
  if (choice !== undefined) return choice;
  const isOpen = entry.value.type === 'null';
  onFault(entry.path, isOpen ? openChoice(choices) : unknownChoice(given, choices));
  return undefined;
}

function readLine(entry: MapEntry | undefined, onFault: OnMapFault): number | undefined {
  if (entry === undefined) return undefined;
  const line: unknown = entry.value.value;
  if (typeof line === 'number' && Number.isInteger(line) && line >= 1 && line <= MAX_HEADER_LINE) return line;
  onFault(entry.path, `Expected the number of a line, from 1 to ${MAX_HEADER_LINE}.`);
  return undefined;
}

function readSheet(entry: MapEntry | undefined, onFault: OnMapFault): string | undefined {
  if (entry === undefined) return undefined;
  const name = textOf(entry.value);
  if (name !== undefined && name.trim() !== '') return name;
  onFault(entry.path, 'Expected the name of a sheet.');
  return undefined;
}
