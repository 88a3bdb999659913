/** Parses a map document to a file layout (docs/import-reference.md#maps). */

import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { IMPORT_KINDS, type ImportKind } from '../../registry/file-columns.ts';
import { FieldError, mayEcho } from '../../values/errors.ts';
import { ENCODINGS } from '../files/records.ts';
import { IMPORT_COLUMNS, type ImportColumn } from '../table/columns.ts';
import { type CellContext, DATE_ORDERS } from './cell-context.ts';
import { DECIMAL_MARKS, type FileLayout, MAP_KEYS, MAX_HEADER_LINE } from './file-layout.ts';
import { foldHeading, nearestName } from './fold-and-misspellings.ts';

// Parsing of JSON. Unlike `JSON.parse`, it reports repeated keys and the positions of faults.

export interface MapFault {
  /** Path in the document, such as `columns.Izina`; empty for a fault of the entire document. */
  readonly path: string;
  readonly message: string;
}

interface MapEntry {
  readonly key: string;
  readonly path: string;
  readonly value: Node;
}

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

/** Parses a document into a tree, or returns its first syntax fault, which usually causes the next faults. */
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

function entriesOf(node: Node, path: string, onFault: (path: string, message: string) => void): MapEntry[] {
  if (node.type !== 'object') {
    onFault(path, 'Expected an object: { … }.');
    return [];
  }
  const entries = new Map<string, MapEntry>();
  for (const [i, { children }] of (node.children ?? []).entries()) {
    const [keyNode, value] = children ?? [];
    if (keyNode === undefined || value === undefined) continue;
    const key = String(keyNode.value);
    const entry = { key, path: pathTo(path, key, i), value };
    if (entries.has(key)) onFault(entry.path, 'This key appears twice.');
    else entries.set(key, entry);
  }
  return [...entries.values()];
}

const PLAIN_KEY = /^[\p{L}\p{N}_-]+$/u;

/** Returns the path of an entry. A position replaces a key that may be personal data: `columns[#3]`. */
function pathTo(path: string, key: string, index: number): string {
  if (!mayEcho(key)) return `${path}[#${index + 1}]`;
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

const textOf = (node: Node): string | undefined =>
  node.type === 'string' ? (node.value as string) : undefined;

/** True for a map document, even with faults: an object that has `kind`, and only keys that maps may have. */
export function isMapDocument(text: string): boolean {
  const tree = parseMapJson(text);
  if (!('type' in tree) || tree.type !== 'object') return false;
  const keys = entriesOf(tree, '', () => {}).map(({ key }) => key);
  return keys.includes('kind') && keys.every(isMapKey);
}

const isMapKey = (key: string): boolean => MAP_KEYS.some((name) => name === key);

/** Returns a message such as `Unknown column "fullname". Did you mean "full_name"?` */
function unknownName(what: 'key' | 'column' | 'value', name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? `Known: ${names.join(', ')}.` : `Did you mean "${nearest}"?`;
  return `Unknown ${what}${mayEcho(name) ? ` "${name}"` : ''}. ${hint}`;
}

/** Formats a list such as `"dmy", "mdy" or "ymd"`. British English has no comma before `or`. */
const list = (words: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(words.map((word) => `"${word}"`));

function parseChoice<Choice extends string>(
  node: Node,
  choices: readonly Choice[],
  text = textOf(node),
): Choice | FieldError {
  const choice = choices.find((name) => name === text);
  if (choice !== undefined) return choice;
  // `import map` writes null where the operator must decide.
  if (node.type === 'null') return new FieldError(`Not chosen yet: replace null by ${list(choices)}.`);
  return new FieldError(
    text === undefined ? `Expected a text: ${list(choices)}.` : unknownName('value', text, choices),
  );
}

function parseConstant(
  node: Node,
  { choices, parse }: ImportColumn,
  cells: CellContext,
): string | FieldError {
  const constant = textOf(node)?.trim();
  if (choices !== undefined) return parseChoice(node, choices, constant);
  if (node.type === 'null')
    return new FieldError('Not chosen yet: replace null by the value that every row has.');
  if (constant === undefined) return new FieldError('Expected a text in quotes.');
  if (constant === '') return new FieldError('The value is empty.');
  const parsed = parse(constant, cells);
  return parsed instanceof FieldError ? parsed : constant;
}

function parseLine({ value }: Node): number | FieldError {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_HEADER_LINE)
    return value;
  return new FieldError(`Expected the number of a line, from 1 to ${MAX_HEADER_LINE}.`);
}

function parseSheet(node: Node): string | FieldError {
  const name = textOf(node) ?? '';
  return name.trim() === '' ? new FieldError('Expected the name of a sheet.') : name;
}

class MapReader {
  readonly faults: MapFault[] = [];
  readonly #entries: ReadonlyMap<string, MapEntry>;

  constructor(tree: Node) {
    this.#entries = new Map(entriesOf(tree, '', this.#fault).map((entry) => [entry.key, entry]));
    for (const { key, path } of this.#entries.values())
      if (!isMapKey(key)) this.#fault(path, unknownName('key', key, MAP_KEYS));
  }

  readonly #fault = (path: string, message: string): void => {
    this.faults.push({ path, message });
  };

  read<Value>(key: string, parse: (node: Node) => Value | FieldError): Value | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#parsed(entry, parse);
  }

  #parsed<Value>({ path, value }: MapEntry, parse: (node: Node) => Value | FieldError): Value | undefined {
    const parsed = parse(value);
    if (!(parsed instanceof FieldError)) return parsed;
    this.#fault(path, parsed.message);
    return undefined;
  }

  #entriesIn(entry: MapEntry | undefined): MapEntry[] {
    return entry === undefined ? [] : entriesOf(entry.value, entry.path, this.#fault);
  }

  readKind(imported: ImportKind): ImportKind {
    const entry = this.#entries.get('kind');
    if (entry === undefined) this.#fault('', `The map must name its kind: "kind": "${imported}".`);
    const kind = this.read('kind', (node) => parseChoice(node, IMPORT_KINDS));
    if (entry !== undefined && kind !== undefined && kind !== imported)
      this.#fault(entry.path, `This map is for ${kind}, not for ${imported}.`);
    return kind ?? imported;
  }

  readColumns(declared: readonly ImportColumn[]): FileLayout['columns'] {
    const columns = new Map<string, string | null>();
    const assigned = new Set<string>();
    for (const { key, path, value } of this.#entriesIn(this.#entries.get('columns'))) {
      const heading = foldHeading(key);
      const column =
        value.type === 'null' ? null : (textOf(value) ?? this.#readRounded(path, value, declared));
      if (heading === '') this.#fault(path, 'The heading is empty.');
      else if (column === undefined)
        this.#fault(path, 'Expected the name of a column, or null to ignore the heading.');
      else if (column !== null && !namesOf(declared).includes(column))
        this.#fault(path, unknownName('column', column, namesOf(declared)));
      else if (columns.has(heading)) {
        if (columns.get(heading) !== column)
          this.#fault(path, 'Another spelling of this heading is read as something else.');
      } else {
        if (column !== null && assigned.has(column))
          this.#fault(path, `Another heading is read as ${column}, too.`);
        columns.set(heading, column);
        if (column !== null) assigned.add(column);
      }
    }
    return columns;
  }

  /** Columns with `"round": true`. `readColumns` adds them. */
  readonly rounded = new Set<string>();

  /** Returns the column of an entry such as `{"column": "kg", "round": true}`; undefined for another form. */
  #readRounded(path: string, value: Node, declared: readonly ImportColumn[]): string | undefined {
    if (value.type !== 'object') return undefined;
    const entries = entriesOf(value, path, this.#fault);
    const named = entries.find(({ key }) => key === 'column')?.value;
    const column = named && textOf(named);
    for (const entry of entries) {
      if (entry.key === 'column') continue;
      if (entry.key !== 'round') this.#fault(entry.path, unknownName('key', entry.key, ['column', 'round']));
      else if (entry.value.type !== 'boolean') this.#fault(entry.path, 'Expected true or false.');
      else if (entry.value.value === true && column !== undefined) {
        const isDecimal = declared.some(({ name, decimal }) => name === column && decimal !== undefined);
        if (isDecimal) this.rounded.add(column);
        else if (namesOf(declared).includes(column))
          this.#fault(entry.path, 'Only amounts, weights and rates can be rounded.');
      }
    }
    return column;
  }

  readConstants(
    declared: readonly ImportColumn[],
    columns: FileLayout['columns'],
    overriding: FileLayout['constants'],
    cells: CellContext,
  ): FileLayout['constants'] {
    const constants = new Map<string, string>();
    const fromHeadings = new Set(columns.values());
    for (const entry of this.#entriesIn(this.#entries.get('constants'))) {
      const { key, path } = entry;
      const column = declared.find(({ name }) => name === key);
      if (column === undefined) {
        this.#fault(path, unknownName('column', key, namesOf(declared)));
        continue;
      }
      if (fromHeadings.has(key))
        this.#fault(path, 'A heading is read as this column, too: remove one of the two.');
      if (overriding.has(key)) continue;
      const constant = this.#parsed(entry, (node) => parseConstant(node, column, cells));
      if (constant !== undefined) constants.set(key, constant);
    }
    return new Map([...constants, ...overriding]);
  }

  readValues(declared: readonly ImportColumn[]): FileLayout['values'] {
    const values = new Map<string, ReadonlyMap<string, string>>();
    const withWords = declared.filter(({ choices }) => choices !== undefined);
    for (const entry of this.#entriesIn(this.#entries.get('values'))) {
      const column = declared.find(({ name }) => name === entry.key);
      if (column === undefined) this.#fault(entry.path, unknownName('column', entry.key, namesOf(withWords)));
      else if (column.choices === undefined)
        this.#fault(
          entry.path,
          `This column has no fixed words. Those that have: ${namesOf(withWords).join(', ') || 'none'}.`,
        );
      else values.set(entry.key, this.#readWords(column.choices, entry));
    }
    return values;
  }

  #readWords(choices: readonly string[], entry: MapEntry): ReadonlyMap<string, string> {
    const words = new Map<string, string>();
    for (const { key, path, value } of this.#entriesIn(entry)) {
      const word = foldHeading(key);
      const choice = parseChoice(value, choices);
      if (word === '') this.#fault(path, 'The word is empty.');
      else if (choice instanceof FieldError) this.#fault(path, choice.message);
      else if ((words.get(word) ?? choice) !== choice)
        this.#fault(path, 'Another spelling of this word means something else.');
      else words.set(word, choice);
    }
    return words;
  }
}

const namesOf = (declared: readonly ImportColumn[]): string[] => declared.map(({ name }) => name);

interface MapContext {
  readonly kind: ImportKind;
  readonly cells: CellContext;
  /** Constants by column. They replace constants of the document, which are then not parsed. */
  readonly constants?: ReadonlyMap<string, string>;
}

export function parseMap(
  text: string,
  { kind: imported, cells, constants: overriding = new Map() }: MapContext,
): FileLayout | readonly MapFault[] {
  const tree = parseMapJson(text);
  if (!('type' in tree)) return [tree];
  const reader = new MapReader(tree);
  if (tree.type !== 'object') return reader.faults;
  const kind = reader.readKind(imported);
  const declared = IMPORT_COLUMNS[kind];
  const columns = reader.readColumns(declared);
  const constants = reader.readConstants(declared, columns, overriding, cells);
  const values = reader.readValues(declared);
  const dates = reader.read('dates', (node) => parseChoice(node, DATE_ORDERS));
  const decimal = reader.read('decimal', (node) => parseChoice(node, DECIMAL_MARKS));
  const encoding = reader.read('encoding', (node) => parseChoice(node, ENCODINGS));
  const headerRow = reader.read('header_row', parseLine);
  const sheet = reader.read('sheet', parseSheet);
  if (reader.faults.length > 0) return reader.faults;
  return {
    kind,
    columns,
    constants,
    values,
    ...(reader.rounded.size > 0 && { rounded: reader.rounded }),
    ...(dates !== undefined && { dates }),
    ...(decimal !== undefined && { decimal }),
    ...(encoding !== undefined && { encoding }),
    ...(headerRow !== undefined && { headerRow }),
    ...(sheet !== undefined && { sheet }),
  };
}
