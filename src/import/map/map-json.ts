/** The JSON of a map document with what `JSON.parse` does not report: repeated keys, and where a fault is. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { mayEcho } from '../../domain/values/errors.ts';
import { MAP_KEYS } from './file-layout.ts';

export interface MapFault {
  /** `columns.Izina`; empty when the fault concerns the entire document. */
  readonly path: string;
  readonly message: string;
}

/** Receives each fault of a document. */
export type OnMapFault = (path: string, message: string) => void;

export interface MapEntry {
  readonly key: string;
  readonly path: string;
  readonly value: Node;
}

/** What is wrong at the position of a syntax error, by the parser's name for it. */
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

/** The tree of a document, or its first syntax fault: the next ones follow from it. */
export function parseMapJson(text: string): Node | MapFault {
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

/** The entries of an object; what is not an object, and a key that appears again, is a fault. */
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

/** The path of an entry. A key that may be somebody's data is named by its place: `columns[#3]`. */
function pathTo(path: string, key: string, index: number): string {
  if (!mayEcho(key)) return `${path}[#${index + 1}]`;
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** The text of a node; undefined for anything else. */
export const textOf = (node: Node): string | undefined =>
  node.type === 'string' ? (node.value as string) : undefined;

/** Whether a text is a map, faulty or not: an object with no other keys than those of one. */
export function isMapDocument(text: string): boolean {
  const tree = parseMapJson(text);
  if (!('type' in tree) || tree.type !== 'object') return false;
  const entries = entriesOf(tree, '', () => {});
  const isKey = (key: string) => MAP_KEYS.some((known) => known === key);
  return entries.some(({ key }) => key === 'kind') && entries.every(({ key }) => isKey(key));
}
