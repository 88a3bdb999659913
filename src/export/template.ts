/**
 * A workbook to fill in: the columns of one kind of file under headings of one language, an invented row, and
 * a sheet that says what each column is called in all languages, and what it takes
 * (docs/importing.md#a-template).
 */
import { labelOf } from '../domain/values/choice-labels.ts';
import { type Message, say, type Text } from '../domain/values/message.ts';
import { ALTERNATIVES } from '../import/columns/columns.ts';
import { exampleIn, templateColumns } from '../import/table/example-row.ts';
import { inLanguage, LANGUAGE_NAMES, LANGUAGES, type Language } from '../language/language.ts';
import { FILE_COLUMNS, type FileColumn } from '../store/contract/import/import-columns.ts';
import type { ImportKind } from '../store/contract/import/import-session.ts';
import { type Cell, type CellType, FORMATS, LIBRARY, toCell, WIDTHS } from './workbook.ts';

type Translate = (text: Text) => string;

const into =
  (language: Language): Translate =>
  (text) =>
    inLanguage(text, language);

interface Style {
  readonly numFmt?: string;
  readonly font?: { readonly bold?: boolean; readonly italic?: boolean };
}

interface Sheet {
  readonly name: string;
  readonly columns: readonly { readonly width: number; readonly numFmt?: string }[];
  readonly rows: readonly (readonly Cell[])[];
  /** By `row,column`, from 0. */
  readonly cells?: ReadonlyMap<string, { readonly style: Style }>;
  readonly freezePane?: { readonly rows: number };
  readonly dataValidations?: readonly object[];
}

interface WorkbookLibrary {
  writeXlsx(options: { readonly sheets: readonly Sheet[] }): Promise<Uint8Array>;
}

/** Rows that are formatted for their columns: a spreadsheet keeps a national ID as a text only there. */
const FORMATTED_ROWS = 500;
/** Of the sheet: a sentence, the headings, the invented row. */
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

function sheetToFill(kind: ImportKind, translate: Translate): Sheet {
  const columns = templateColumns(kind);
  const sentence = say('Fill in one row for each. Write over the example in row 3. * is required.');
  const styles = columns.flatMap((column, i): [string, { style: Style }][] => [
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

/** A list to choose from, beside which other words may be written. @param place of the column, below 26 */
function listOf(choices: readonly string[], place: number, translate: Translate): object {
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

/** No row of it names two columns, so that it is not taken for the sheet with the rows. */
function sheetOfColumns(kind: ImportKind, translate: Translate): Sheet {
  const rows = FILE_COLUMNS[kind].map((column) => {
    const needed = need(kind, column);
    const names = LANGUAGES.map((language) => inLanguage(column.label, language));
    return [...names, needed === undefined ? null : translate(needed), takes(column, translate)];
  });
  const headings = LANGUAGES.map((language) => LANGUAGE_NAMES[language]);
  return {
    name: translate(say('Columns')),
    columns: [...LANGUAGES.map(() => ({ width: 32 })), { width: 24 }, { width: 60 }],
    rows: [[...headings, null, translate(say('What is written there'))], ...rows],
    cells: new Map(headings.map((_, i) => [`0,${i}`, { style: { font: { bold: true } } }])),
  };
}

/**
 * @param language of the headings and of the words of choices
 * @returns the bytes of the workbook: an import reads it without a map, and leaves out the invented row
 */
export async function templateOf(kind: ImportKind, language: Language): Promise<Uint8Array> {
  const { writeXlsx }: WorkbookLibrary = await import(LIBRARY);
  const translate = into(language);
  return writeXlsx({ sheets: [sheetToFill(kind, translate), sheetOfColumns(kind, translate)] });
}
