/**
 * A template is a workbook to fill in. It has translated headings for one kind of file, a fictitious row, and
 * a sheet that explains each column (docs/importing.md#a-template).
 */

import type { CellStyle, DataValidation, WriteSheet } from 'hucre/xlsx';
import { type Cell, type CellType, FORMATS, toCell, WIDTHS } from '../formats/write-csv-and-workbooks.ts';
import { FILE_COLUMNS, type FileColumn, type ImportKind } from '../registry/file-columns.ts';
import { labelOf } from '../values/choice-labels.ts';
import type { StagedRow } from '../values/declared-fields.ts';
import { kindOf } from '../values/field-json.ts';
import { inLanguage, LANGUAGE_NAMES, LANGUAGES, type Language } from '../values/language.ts';
import { type Message, say, type Text } from '../values/message.ts';
import { exampleOf } from '../values/schema.ts';
import type { CellContext } from './reading/cell-context.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, isOfDates } from './table/columns.ts';
import type { Header } from './table/header.ts';

/** Values of the fictitious row that differ from the examples in the API documentation. */
const EXAMPLES: { readonly [kind in ImportKind]?: { readonly [column: string]: string } } = {
  cooperatives: { registration_date: '2015-03-31' },
  loans: { paid_amount: '420000', paid_until: '2025-05-31', approved_at: '2025-01-10' },
};

/** Omits columns that could replace another column. */
const templateColumns = (kind: ImportKind): readonly FileColumn[] =>
  FILE_COLUMNS[kind].filter(({ name }) => ALTERNATIVES[kind]?.others.includes(name) !== true);

/** Shortens an instant to its day. */
function exampleIn(kind: ImportKind, { name, field }: FileColumn): string {
  const text = EXAMPLES[kind]?.[name] ?? String(exampleOf(kindOf(field).schema));
  return isOfDates(field) ? text.slice(0, 'YYYY-MM-DD'.length) : text;
}

/**
 * Returns a function that is true for the values of the fictitious row. If the headings are column names, as
 * in exports, the function is always false: the headings of templates are translated.
 */
export function createExampleCheck(
  kind: ImportKind,
  { headings, places }: Pick<Header, 'headings' | 'places'>,
  context: CellContext,
): (values: StagedRow['values']) => boolean {
  if (headings.every(({ text, column }) => typeof column !== 'string' || text.toLowerCase() === column))
    return () => false;
  const examples = new Map(templateColumns(kind).map((column) => [column.name, exampleIn(kind, column)]));
  const expected = IMPORT_COLUMNS[kind].map(({ name, parse }) => {
    const cell = examples.get(name);
    return cell === undefined ? null : parse(cell, context);
  });
  return (values) => values.every((value, i) => places[i] === -1 || value === expected[i]);
}

type Translate = (text: Text) => string;

/** Number of rows whose cells have formats. A typed national ID stays text only in a text cell. */
const FORMATTED_ROWS = 500;
/** Row indexes of the headings and of the fictitious row. An introduction is above them. */
const [HEADINGS, EXAMPLE] = [1, 2];

const isNeeded = (kind: ImportKind, { name, isRequired }: FileColumn): boolean =>
  isRequired || name === ALTERNATIVES[kind]?.column;

function typeOf({ field }: FileColumn): CellType {
  if (field.kind === 'decimal') return 'number';
  return field.kind === 'past_date' || field.kind.endsWith('instant') ? 'date' : 'text';
}

function exampleCell(kind: ImportKind, column: FileColumn, translate: Translate): Cell {
  const text = exampleIn(kind, column);
  return toCell(typeOf(column), column.field.kind === 'choice' ? translate(labelOf(text)) : text);
}

function formatOf(column: FileColumn): { readonly numFmt?: string } {
  const numFmt = FORMATS[typeOf(column)];
  return numFmt === undefined ? {} : { numFmt };
}

function sheetToFill(kind: ImportKind, translate: Translate): WriteSheet {
  const columns = templateColumns(kind);
  const sentence = say('Fill in one row for each. Write over the example in row 3. * is required.');
  const styles = columns.flatMap((column, i): [string, { style: CellStyle }][] => [
    [`${HEADINGS},${i}`, { style: { font: { bold: true } } }],
    [`${EXAMPLE},${i}`, { style: { font: { italic: true }, ...formatOf(column) } }],
  ]);
  return {
    name: kind,
    columns: columns.map((column) => ({ width: WIDTHS[typeOf(column)], ...formatOf(column) })),
    rows: [
      [translate(sentence)],
      columns.map((column) => `${translate(column.label)}${isNeeded(kind, column) ? ' *' : ''}`),
      columns.map((column) => exampleCell(kind, column, translate)),
      ...Array.from({ length: FORMATTED_ROWS }, () => columns.map(() => null)),
    ],
    cells: new Map(styles),
    freezePane: { rows: EXAMPLE },
    dataValidations: columns.flatMap(({ field }, i) =>
      field.kind === 'choice' ? listOf(field.choices, i, translate) : [],
    ),
  };
}

/** Returns a drop-down list that also permits other words. @param place index of the column, below 26 */
function listOf(choices: readonly string[], place: number, translate: Translate): DataValidation {
  const letter = String.fromCharCode('A'.charCodeAt(0) + place);
  return {
    type: 'list',
    values: choices.map((choice) => translate(labelOf(choice))),
    range: `${letter}${EXAMPLE + 1}:${letter}${EXAMPLE + 1 + FORMATTED_ROWS}`,
    allowBlank: true,
  };
}

function takes({ field }: FileColumn, translate: Translate): string {
  switch (field.kind) {
    case 'choice':
      return field.choices.map((choice) => translate(labelOf(choice))).join(', ');
    case 'identity_card':
      return translate(say('16 digits, as a text'));
    case 'past_date':
    case 'past_instant':
      return translate(say('a day that has been'));
    case 'instant':
      return translate(say('a day'));
    case 'decimal':
      return translate(say('a number, without a unit'));
    case 'mobile':
      return translate(say('such as 078… or +250 78…'));
    default:
      return translate(say('a text'));
  }
}

function need(kind: ImportKind, column: FileColumn): Message | undefined {
  const alternatives = ALTERNATIVES[kind];
  if (isNeeded(kind, column)) return say('required');
  if (alternatives?.others.includes(column.name) !== true) return undefined;
  const other = FILE_COLUMNS[kind].find(({ name }) => name === alternatives.column);
  return say('in place of {column}', { column: other?.label ?? alternatives.column });
}

/**
 * Returns the sheet that explains the columns. Each column has its own row, because an import might mistake a
 * row with several column names for a header.
 */
function sheetOfColumns(kind: ImportKind, translate: Translate): WriteSheet {
  const rows = FILE_COLUMNS[kind].map((column) => {
    const needed = need(kind, column);
    const names = LANGUAGES.map((language) => inLanguage(column.label, language));
    return [...names, needed === undefined ? null : translate(needed), takes(column, translate)];
  });
  const headings = LANGUAGES.map((language) => LANGUAGE_NAMES[language]);
  return {
    name: translate(say('Columns')),
    columns: [...LANGUAGES.map(() => ({ width: 32 })), { width: 24 }, { width: 60 }],
    rows: [[...headings, null, translate(say('Content'))], ...rows],
    cells: new Map(headings.map((_, i) => [`0,${i}`, { style: { font: { bold: true } } }])),
  };
}

/** @param language language of the headings and choices; an import reads every language without a map */
export async function templateOf(kind: ImportKind, language: Language): Promise<Uint8Array> {
  const { writeXlsx } = await import('hucre/xlsx');
  const translate = (text: Text) => inLanguage(text, language);
  return writeXlsx({ sheets: [sheetToFill(kind, translate), sheetOfColumns(kind, translate)] });
}
