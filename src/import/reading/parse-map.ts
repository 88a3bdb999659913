/**
 * Parses a map document into the layout of a file, or into all its faults (docs/import-reference.md#maps).
 */

import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { IMPORT_KINDS, type ImportKind } from '../../registry/file-columns.ts';
import { FieldError, mayEcho } from '../../values/errors.ts';
import { IMPORT_COLUMNS, type ImportColumn } from '../table/columns.ts';
import { type CellContext, DATE_ORDERS } from './cell-context.ts';
import { DECIMAL_MARKS, ENCODINGS, type FileLayout, MAP_KEYS, MAX_HEADER_LINE } from './file-layout.ts';
import { foldHeading, nearestName } from './fold.ts';

// JSON of a map document, with the repeated keys and fault positions that `JSON.parse` does not report

export interface MapFault {
  /** Path such as `columns.Izina`; empty if the fault concerns the entire document. */
  readonly path: string;
  readonly message: string;
}

type OnMapFault = (path: string, message: string) => void;

interface MapEntry {
  readonly key: string;
  readonly path: string;
  readonly value: Node;
}

/** Descriptions of syntax errors by the parser's name for them. */
const SYNTAX_FAULTS: { readonly [code: string]: string } = {
  PropertyNameExpected: 'a key in double quotes is expected',
  ValueExpected: 'a value is expected',
  ColonExpected: 'a colon is expected',
  CommaExpected: 'a comma is expected',
  CloseBraceExpected: 'a closing brace is expected',
  CloseBracketExpected: 'a closing bracket is expected',
  EndOfFileExpected: 'the end of the document is expected',
  InvalidCommentToken: 'comments are not allowed',
  UnexpectedEndOfString: 'a closing quote is expected',
};

/** The tree of a document, or its first syntax fault, from which the others follow. */
function parseMapJson(text: string): Node | MapFault {
  const errors: ParseError[] = [];
  let tree: Node | undefined;
  try {
    tree = parseTree(text, errors, { disallowComments: true });
  } catch (error) {
    if (error instanceof RangeError) return { path: '', message: 'The document is nested too deeply.' };
    throw error;
  }
  const [first] = errors;
  if (first === undefined && tree !== undefined) return tree;
  const { error, offset } = first as ParseError;
  const reason = SYNTAX_FAULTS[printParseErrorCode(error)] ?? 'this is not expected here';
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  const column = (before.at(-1) ?? '').length + 1;
  return {
    path: '',
    message: `The document is not JSON: ${reason} at line ${before.length}, column ${column}.`,
  };
}

/** Entries of an object. A node that is no object, and a repeated key, are faults. */
export function entriesOf(node: Node, path: string, onFault: OnMapFault): MapEntry[] {
  if (node.type !== 'object') {
    onFault(path, 'Expected an object: { … }.');
    return [];
  }
  const seen = new Set<string>();
  return (node.children ?? []).flatMap(({ children }, i) => {
    const [keyNode, value] = children ?? [];
    if (keyNode === undefined || value === undefined) return [];
    const key = String(keyNode.value);
    const entry = { key, path: pathTo(path, key, i), value };
    if (!seen.has(key)) {
      seen.add(key);
      return [entry];
    }
    onFault(entry.path, 'This key appears twice.');
    return [];
  });
}

const PLAIN_KEY = /^[\p{L}\p{N}_-]+$/u;

/** Path of an entry. A key that may be personal data is named by its place: `columns[#3]`. */
function pathTo(path: string, key: string, index: number): string {
  if (!mayEcho(key)) return `${path}[#${index + 1}]`;
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** Text of a string node; undefined for any other node. */
export const textOf = (node: Node): string | undefined =>
  node.type === 'string' ? (node.value as string) : undefined;

/** True for a map, faulty or not: an object with a kind and with no other keys than those of a map. */
export function isMapDocument(text: string): boolean {
  const tree = parseMapJson(text);
  if (!('type' in tree) || tree.type !== 'object') return false;
  const entries = entriesOf(tree, '', () => {});
  const isKey = (key: string) => MAP_KEYS.some((known) => known === key);
  return entries.some(({ key }) => key === 'kind') && entries.every(({ key }) => isKey(key));
}

// Messages about unknown names and words in a map

/** `Unknown column "fullname". Did you mean "full_name"?` */
const unknownName = (what: 'key' | 'column', given: string, known: readonly string[]): string =>
  `Unknown ${what}${shown(given)}. ${hint(given, known)}`;

/** @param given undefined for a value that is not a text */
export const unknownChoice = (given: string | undefined, choices: readonly string[]): string =>
  given === undefined
    ? `Expected a text: ${list(choices)}.`
    : `Unknown value${shown(given)}. ${hint(given, choices)}`;

/** Message for a null that `import map` left to be replaced. */
const openChoice = (choices: readonly string[]): string =>
  `Not chosen yet: replace null by ${list(choices)}.`;

function hint(given: string, known: readonly string[]): string {
  const nearest = nearestName(given, known);
  return nearest === undefined ? `Known: ${known.join(', ')}.` : `Did you mean "${nearest}"?`;
}

const shown = (text: string): string => (mayEcho(text) ? ` "${text}"` : '');

/** `"dmy", "mdy" or "ymd"` */
export function list(words: readonly string[]): string {
  const quoted = words.map((word) => `"${word}"`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

// Parts of a map document about the columns of the kind: headings, constants and words

interface MapCheck {
  /** Columns of the kind. */
  readonly declared: readonly ImportColumn[];
  readonly cells: CellContext;
  readonly onFault: OnMapFault;
}

type Columns = ReadonlyMap<string, string | null>;

/** Columns by folded heading; null for a heading to be ignored. */
function readColumns({ declared, onFault }: MapCheck, entry: MapEntry | undefined): Columns {
  const columns = new Map<string, string | null>();
  const taken = new Set<string>();
  for (const { key, path, value } of entriesIn(entry, onFault)) {
    const heading = foldHeading(key);
    const column = value.type === 'null' ? null : textOf(value);
    if (heading === '') onFault(path, 'The heading is empty.');
    else if (column === undefined)
      onFault(path, 'Expected the name of a column, or null to ignore the heading.');
    else if (column !== null && find(declared, column) === undefined)
      onFault(path, unknownName('column', column, namesOf(declared)));
    else if (columns.has(heading)) {
      if (columns.get(heading) !== column)
        onFault(path, 'Another spelling of this heading is read as something else.');
    } else {
      if (column !== null && taken.has(column)) onFault(path, `Another heading is read as ${column}, too.`);
      columns.set(heading, column);
      if (column !== null) taken.add(column);
    }
  }
  return columns;
}

/** @param given constants that win over those of the document, which may therefore be open */
export function readConstants(
  { declared, cells, onFault }: MapCheck,
  entry: MapEntry | undefined,
  { columns, given }: { columns: Columns; given: ReadonlyMap<string, string> },
): ReadonlyMap<string, string> {
  const constants = new Map<string, string>();
  const fromHeadings = new Set(columns.values());
  for (const { key, path, value } of entriesIn(entry, onFault)) {
    const column = find(declared, key);
    if (column === undefined) {
      onFault(path, unknownName('column', key, namesOf(declared)));
      continue;
    }
    if (fromHeadings.has(key)) onFault(path, 'A heading is read as this column, too: remove one of the two.');
    if (given.has(key)) continue;
    const constant = readConstant(column, value, cells);
    if (constant instanceof FieldError) onFault(path, constant.message);
    else constants.set(key, constant);
  }
  return constants;
}

function readConstant(
  column: ImportColumn,
  value: MapEntry['value'],
  cells: CellContext,
): string | FieldError {
  const { choices } = column;
  if (value.type === 'null')
    return new FieldError(
      choices === undefined
        ? 'Not chosen yet: replace null by the value that every row has.'
        : openChoice(choices),
    );
  const constant = textOf(value)?.trim();
  if (choices !== undefined)
    return choices.find((choice) => choice === constant) ?? new FieldError(unknownChoice(constant, choices));
  if (constant === undefined) return new FieldError('Expected a text in quotes.');
  if (constant === '') return new FieldError('The value is empty.');
  const parsed = column.parse(constant, cells);
  return parsed instanceof FieldError ? parsed : constant;
}

/** Values of the registry by column and folded word. */
export function readValues(
  { declared, onFault }: MapCheck,
  entry: MapEntry | undefined,
): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const values = new Map<string, ReadonlyMap<string, string>>();
  const withWords = declared.filter(({ choices }) => choices !== undefined);
  for (const each of entriesIn(entry, onFault)) {
    const column = find(declared, each.key);
    if (column === undefined) onFault(each.path, unknownName('column', each.key, namesOf(withWords)));
    else if (column.choices === undefined)
      onFault(
        each.path,
        `This column has no fixed words. Those that have: ${namesOf(withWords).join(', ') || 'none'}.`,
      );
    else values.set(each.key, readWords(column.choices, each, onFault));
  }
  return values;
}

function readWords(
  choices: readonly string[],
  entry: MapEntry,
  onFault: OnMapFault,
): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const { key, path, value } of entriesIn(entry, onFault)) {
    const word = foldHeading(key);
    const given = textOf(value);
    const choice = choices.find((each) => each === given);
    if (word === '') onFault(path, 'The word is empty.');
    else if (choice === undefined)
      onFault(path, value.type === 'null' ? openChoice(choices) : unknownChoice(given, choices));
    else if ((words.get(word) ?? choice) !== choice)
      onFault(path, 'Another spelling of this word means something else.');
    else words.set(word, choice);
  }
  return words;
}

const entriesIn = (entry: MapEntry | undefined, onFault: OnMapFault): readonly MapEntry[] =>
  entry === undefined ? [] : entriesOf(entry.value, entry.path, onFault);

const find = (declared: readonly ImportColumn[], name: string): ImportColumn | undefined =>
  declared.find((column) => column.name === name);

const namesOf = (declared: readonly ImportColumn[]): string[] => declared.map(({ name }) => name);

interface MapContext {
  readonly kind: ImportKind;
  readonly cells: CellContext;
  /** Constants by column of the kind, which win over those of the document. */
  readonly constants?: ReadonlyMap<string, string>;
}

/** @returns all faults of the document, if it has any */
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

/** The kind for which the rest of the document is checked: the document's own, if it has one. */
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
