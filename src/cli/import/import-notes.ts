/** The notes of a file for an operator: one line for all headings, one for each other kind and column. */
import type { ImportNote } from '../../import/cells/notes.ts';
import type { FileReading } from '../../import/table/stage-file.ts';

/** Lines shown of a note or warning. */
export const SHOWN_LINES = 5;

export function describeNotes({ notes, header }: FileReading): string[] {
  const others = notes.filter(({ kind }) => kind !== 'heading' && kind !== 'ignored_column');
  const ignored = notes.filter(({ kind }) => kind === 'ignored_column').map(({ column }) => column);
  const recognised = (header?.headings ?? [])
    .filter(({ by }) => by === 'dictionary')
    .map(({ text, column }) => `"${text}" is ${column}`);
  return [
    ...(recognised.length === 0 ? [] : [`headings: ${recognised.join(', ')}`]),
    ...(ignored.length === 0 ? [] : [`ignored columns: ${describeColumns(ignored)}`]),
    ...others.map(describeNote),
  ];
}

/** One that is not shown, as it may be somebody's data, is named by its position: `#5`. */
function describeColumns(columns: readonly string[]): string {
  const isHidden = (column: string) => column.startsWith('#');
  const named = columns.map((column) => (isHidden(column) ? column : `"${column}"`)).join(', ');
  return columns.some(isHidden) ? `${named} (import map shows their headings)` : named;
}

/** The kind of a note reads as prose without its underscores. */
function describeNote({ kind, column, count, lines }: ImportNote): string {
  if (kind === 'encoding') return 'encoding: read as Windows-1252';
  const where = column === '' ? '' : ` in column ${column}`;
  return `${kind.replaceAll('_', ' ')}${where}: ${describeLines([...firstOf(lines())], count)}`;
}

function* firstOf(lines: Iterable<number>): Generator<number> {
  let shown = 0;
  for (const line of lines) {
    yield line;
    if (++shown === SHOWN_LINES) return;
  }
}

/** @param first the first of them, of `count` */
export function describeLines(first: readonly number[], count: number): string {
  const rest = count - first.length;
  return `${count === 1 ? 'line' : 'lines'} ${first.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
