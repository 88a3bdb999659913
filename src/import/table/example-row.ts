/**
 * The invented row of a template (docs/importing.md#a-template): it is written there, and is no data where it
 * is left in the file.
 */

import { kindOf } from '../../json/declared-fields.ts';
import { exampleOf } from '../../json/example.ts';
import { FILE_COLUMNS, type FileColumn } from '../../store/contract/import/import-columns.ts';
import type { ImportKind, StagedRow } from '../../store/contract/import/import-session.ts';
import type { CellContext } from '../cells/context.ts';
import { ALTERNATIVES, IMPORT_COLUMNS, isOfDates } from '../columns/columns.ts';
import type { Header } from './header.ts';

/** Where those of responses do not go together in one file. */
const EXAMPLES: { readonly [kind in ImportKind]?: { readonly [column: string]: string } } = {
  cooperatives: { registration_date: '2015-03-31' },
  loans: { paid_amount: '420000', paid_until: '2025-05-31', approved_at: '2025-01-10' },
};

/** Of the columns that take the place of another one, a template needs none. */
export const templateColumns = (kind: ImportKind): readonly FileColumn[] =>
  FILE_COLUMNS[kind].filter(({ name }) => ALTERNATIVES[kind]?.others.includes(name) !== true);

/** A choice as it is stored, of an instant the day. */
export function exampleIn(kind: ImportKind, { name, field }: FileColumn): string {
  const text = EXAMPLES[kind]?.[name] ?? String(exampleOf(kindOf(field).schema));
  return isOfDates(field) ? text.slice(0, 'YYYY-MM-DD'.length) : text;
}

/**
 * Whether a row is the example, in every cell that it has. A template heads its columns with words of a
 * language: in a file with the names of columns, such as an export or a typed row, it is somebody's.
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
