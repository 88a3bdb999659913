/** What was chosen on the page → the map that the import reads the file by. */

import { IMPORT_COLUMNS } from '../../../import/columns/columns.ts';
import type { MapProposal } from '../../../import/proposal/propose-map.ts';
import { FILE_COLUMNS, type FileColumn } from '../../../store/contract/import/import-columns.ts';
import type { ImportKind } from '../../../store/contract/import/import-session.ts';
import type { ImportChoices } from '../../importing/desk-folder.ts';
import type { Form } from '../../visit/screen.ts';

/** Beyond them a file has columns that nobody chooses from; they are ignored. */
const MOST_UNKNOWN = 60;

/** As `chosenMap` writes it. */
interface ChosenMap {
  readonly columns?: { readonly [heading: string]: string | null };
  readonly constants?: { readonly [column: string]: string };
  readonly values?: { readonly [column: string]: { readonly [word: string]: string } };
  readonly dates?: string;
  readonly decimal?: string;
}

/** Names of the fields of the form. */
export const FIELD = {
  heading: (place: number) => `heading-${place}`,
  constant: (column: string) => `constant-${column}`,
  word: (column: string, place: number) => `word-${column}-${place}`,
} as const;

/** Places of the headings that are asked about: those that mean something, and the first of the others. */
export function askedHeadings({ headings }: MapProposal): readonly number[] {
  let unknown = 0;
  return headings.flatMap(({ isNameable, column }, place) => {
    if (!isNameable) return [];
    return column !== null || ++unknown <= MOST_UNKNOWN ? place : [];
  });
}

/** Columns that need a value of every row, or are asked about first, as no heading is read as them. */
export function askedConstants({ document, headings }: MapProposal): readonly string[] {
  const { kind, constants = {} } = document;
  const given = new Set(headings.map(({ column }) => column));
  const also = IMPORT_COLUMNS[kind].map(({ name }) => name).filter((name) => name === 'paid_until');
  return [...Object.keys(constants), ...also.filter((name) => !given.has(name))];
}

/** What says who or which one a row is: no two rows have it alike. */
const OF_ONE_ROW: readonly string[] = ['identity_card', 'full_name', 'first_name', 'last_name', 'mobile'];

/** Whether all rows of a file may have the same value of a column. */
function mayBeAlike(kind: ImportKind, { name, role }: FileColumn): boolean {
  if (OF_ONE_ROW.includes(name) || role === 'key' || role === 'compared') return false;
  if (kind === 'cooperatives') return name !== 'name';
  return kind !== 'members' || !['member_code', 'date_of_birth'].includes(name);
}

/** Further columns that the file lacks, and of which all its rows may have one value. */
export function offeredConstants(proposal: MapProposal): readonly FileColumn[] {
  const { document, headings } = proposal;
  const asked = askedConstants(proposal);
  const given = new Set([...headings.map(({ column }) => column), ...asked]);
  return FILE_COLUMNS[document.kind].filter(
    (column) => !given.has(column.name) && mayBeAlike(document.kind, column),
  );
}

/** Columns that several headings were chosen for. */
export function chosenTwice(proposal: MapProposal, form: Form): readonly string[] {
  const chosen = askedHeadings(proposal).flatMap((place) => form.get(FIELD.heading(place)) || []);
  return [...new Set(chosen.filter((column, i) => chosen.indexOf(column) !== i))];
}

/** What the form was last sent with, by field. */
export type Given = (field: string) => string | undefined;

/** What `chosenMap` made of the form, as its fields. */
export function givenFields(proposal: MapProposal, given: ImportChoices | undefined): Given {
  if (given === undefined) return () => undefined;
  const { columns = {}, constants = {}, values = {}, dates, decimal } = JSON.parse(given.map) as ChosenMap;
  const fields = new Map<string, string | undefined>([
    ...proposal.headings.map(({ text }, place): [string, string | undefined] => [
      FIELD.heading(place),
      Object.hasOwn(columns, text) ? (columns[text] ?? '') : undefined,
    ]),
    ...Object.entries(constants).map(([column, value]): [string, string] => [FIELD.constant(column), value]),
    ...proposal.unknownWords.flatMap(({ column, words }) =>
      words.map((word, place): [string, string | undefined] => [
        FIELD.word(column, place),
        values[column]?.[word],
      ]),
    ),
    ['dates', dates],
    ['decimal', decimal],
    ['replaces', given.replaces?.toString()],
  ]);
  return (field) => fields.get(field);
}

/** @returns the map as a JSON text; what was left open is left out */
export function chosenMap(proposal: MapProposal, form: Form): string {
  const { document, headings, unknownWords } = proposal;
  const asked = new Set(askedHeadings(proposal));
  const columns: [string, string | null][] = headings.flatMap(({ text, column, isNameable }, place) => {
    if (!isNameable) return [];
    return [[text, asked.has(place) ? form.get(FIELD.heading(place)) || null : column]];
  });
  const taken = new Set(columns.map(([, column]) => column));
  const offered = offeredConstants(proposal).map(({ name }) => name);
  const constants = [...askedConstants(proposal), ...offered].flatMap((column) => {
    const given = form.get(FIELD.constant(column));
    return given === '' || taken.has(column) ? [] : [[column, given] as const];
  });
  const values = unknownWords.flatMap(({ column, words }) => {
    const chosen = words.flatMap((word, place) => {
      const value = form.get(FIELD.word(column, place));
      return value === '' ? [] : [[word, value] as const];
    });
    return chosen.length === 0 ? [] : [[column, Object.fromEntries(chosen)] as const];
  });
  const { dates, decimal } = document;
  return JSON.stringify({
    ...document,
    columns: Object.fromEntries(columns),
    constants: Object.fromEntries(constants),
    values: Object.fromEntries(values),
    dates: dates === null ? form.get('dates') || undefined : dates,
    decimal: decimal === null ? form.get('decimal') || undefined : decimal,
  });
}
