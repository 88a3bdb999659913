/** The parts of a map document that speak of the kind's columns: headings, constants and words. */
import { FieldError } from '../../domain/values/errors.ts';
import type { CellContext } from '../cells/context.ts';
import type { ImportColumn } from '../columns/columns.ts';
import { foldHeading } from '../dictionary/fold.ts';
import { openChoice, unknownChoice, unknownName } from './map-faults.ts';
import { entriesOf, type MapEntry, type OnMapFault, textOf } from './map-json.ts';

interface MapCheck {
  /** The columns of the kind. */
  readonly declared: readonly ImportColumn[];
  readonly cells: CellContext;
  readonly onFault: OnMapFault;
}

type Columns = ReadonlyMap<string, string | null>;

/** By folded heading, the column that it is read as; null where it is to be ignored. */
export function readColumns({ declared, onFault }: MapCheck, entry: MapEntry | undefined): Columns {
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

/** @param given the constants that win over those of the document, which may therefore be open */
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

/** By column and folded word, the value of the registry. */
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
