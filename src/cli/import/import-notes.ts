/** The notes of a file for an operator: one line for all headings, one for each other kind and column. */
import { asMessage, type Message, say } from '../../domain/values/message.ts';
import type { ImportNote, NoteKind } from '../../import/cells/notes.ts';
import { ignoredHeadings } from '../../import/table/header.ts';
import type { FileFindings } from '../../import/table/read-and-check.ts';

/** Lines shown of a note or warning. */
export const SHOWN_LINES = 5;

/** What the headings were recognised as. */
export function describeHeadings({ header }: Pick<FileFindings, 'header'>): Message[] {
  const headings = (header?.headings ?? [])
    .filter(({ by }) => by === 'dictionary')
    .map(({ text, column }) => say('"{heading}" is {column}', { heading: text, column: column ?? '' }));
  return headings.length === 0 ? [] : [say('headings: {headings}', { headings })];
}

/** Those that are not about headings. */
export const describeNotes = ({ notes }: Pick<FileFindings, 'notes'>): Message[] =>
  notes.filter(({ kind }) => kind !== 'heading' && kind !== 'ignored_column').map(describeNote);

const ignoredIn = ({ notes }: Pick<FileFindings, 'notes'>): readonly string[] =>
  notes.filter(({ kind }) => kind === 'ignored_column').map(({ column }) => column);

const isPosition = (column: string): boolean => column.startsWith('#');

/**
 * Columns of which nothing is imported, where nobody has seen the file before: one that may be somebody's
 * data is named by its position, `#5`.
 */
export function describeIgnored(findings: Pick<FileFindings, 'notes'>): Message[] {
  const ignored = ignoredIn(findings);
  const columns = ignored.map((column) => (isPosition(column) ? column : `"${column}"`));
  if (columns.length === 0) return [];
  return ignored.some(isPosition)
    ? [say('ignored columns: {columns} (import map shows their headings)', { columns })]
    : [say('ignored columns: {columns}', { columns })];
}

/** The same for whoever is to agree to it: those that a map ignores too, and as the file heads them. */
export function describePlaceless({ notes, header }: FileFindings): Message[] {
  if (header === undefined) return describeIgnored({ notes });
  const headed = ignoredHeadings(header);
  const known = new Set(headed.map(({ position }) => `#${position}`));
  const unheaded = ignoredIn({ notes }).filter((column) => isPosition(column) && !known.has(column));
  const columns = [
    ...headed.map(({ position, text }) =>
      text === undefined ? say('column number {position}', { position }) : asMessage(`"${text}"`),
    ),
    ...unheaded.map((column) => say('column number {position}', { position: column.slice(1) })),
  ];
  return columns.length === 0 ? [] : [say('ignored columns: {columns}', { columns })];
}

/** What the kinds of notes are called. */
export const NOTE_NAMES: { readonly [kind in NoteKind]: string } = {
  encoding: 'encoding',
  title_row: 'title row',
  heading: 'heading',
  ignored_column: 'ignored column',
  empty_row: 'empty row',
  totals_row: 'totals row',
  example_row: 'example of the template, left out',
  word: 'word',
  empty_word: 'empty word',
  second_phone: 'second phone',
  spreadsheet_text: 'spreadsheet text',
  decimal_comma: 'decimal comma',
  unit: 'unit',
  date_order: 'date order',
};

function describeNote({ kind, column, count, lines: all }: ImportNote): Message {
  if (kind === 'encoding') return say('encoding: read as Windows-1252');
  const note = asMessage(NOTE_NAMES[kind]);
  const lines = describeLines([...firstOf(all())], count);
  return column === ''
    ? say('{note}: {lines}', { note, lines })
    : say('{note} in column {column}: {lines}', { note, column, lines });
}

function* firstOf(lines: Iterable<number>): Generator<number> {
  let shown = 0;
  for (const line of lines) {
    yield line;
    if (++shown === SHOWN_LINES) return;
  }
}

/** @param first the first of them, of `count` */
export function describeLines(first: readonly number[], count: number): Message {
  const rest = count - first.length;
  const lines = first.join(', ');
  return rest > 0
    ? say('lines {lines} and {rest} more', { lines, rest })
    : say('{count|line|lines} {lines}', { count, lines });
}
