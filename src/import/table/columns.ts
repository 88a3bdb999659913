/** Columns of each kind of import file, with the parsers of their cells. */

import { byKind, FILE_COLUMNS, type FileColumn, type ImportKind } from '../../registry/file-columns.ts';
import { type DecimalKind, RATE } from '../../values/decimal.ts';
import type { ValueKind } from '../../values/declared-fields.ts';
import type { FieldError } from '../../values/errors.ts';
import { parseCooperativeCode, parseNamedCode, parseText } from '../../values/text.ts';
import { type CellContext, type ColumnSurvey, readChoice, readGender } from '../reading/cell-context.ts';
import {
  collectDateForms,
  readBirthDate,
  readDateTime,
  readPastDate,
  readPastDateTime,
} from '../reading/dates.ts';
import { collectRates, readDecimal } from '../reading/decimals.ts';
import { WORDS } from '../reading/dictionary-words.ts';
import { readIdentityCard, readMobile } from '../reading/national-ids-and-phones.ts';

export interface ImportColumn {
  readonly name: string;
  readonly kind: ValueKind['kind'];
  /** True if every file must have the column, with a value in every row. */
  readonly isRequired: boolean;
  readonly choices?: readonly string[];
  /** Kind of decimals, which are parsed to minor units or grams. */
  readonly decimal?: DecimalKind;
  /** Parses a trimmed, non-empty cell. */
  readonly parse: (cell: string, context: CellContext) => string | number | FieldError;
  /** Adds the evidence of a cell to the survey of its column. Missing if no cell can be ambiguous. */
  readonly collect?: (cell: string, survey: ColumnSurvey) => void;
}

const DATES: readonly ImportColumn['kind'][] = ['past_date', 'instant', 'past_instant'];

export const isOfDates = ({ kind }: Pick<ImportColumn, 'kind'>): boolean => DATES.includes(kind);

function parserOf(kind: ImportKind, { field, role }: FileColumn): ImportColumn['parse'] {
  switch (field.kind) {
    case 'text':
      return (cell) => parseText(cell, field.maxLength);
    case 'cooperative_code':
      return role === 'owner' ? parseNamedCode : parseCooperativeCode;
    case 'identity_card':
      return readIdentityCard;
    case 'mobile':
      return readMobile;
    case 'choice':
      return field.property === 'gender' ? readGender : readChoice(field.choices, WORDS[kind]?.[field.name]);
    case 'past_date':
      return field.property === 'dateOfBirth' ? readBirthDate : readPastDate;
    case 'instant':
      return readDateTime;
    case 'past_instant':
      return readPastDateTime;
    case 'decimal':
      return readDecimal(field.decimal);
    case 'reference':
      throw new Error(`Files have no ids: ${field.name}`);
  }
}

export const IMPORT_COLUMNS = byKind((kind) =>
  FILE_COLUMNS[kind].map((column): ImportColumn => {
    const { name, isRequired, field } = column;
    return {
      ...{ name, kind: field.kind, isRequired, parse: parserOf(kind, column) },
      ...(field.kind === 'choice' && { choices: field.choices }),
      ...(field.kind === 'decimal' && { decimal: field.decimal }),
      ...(field.kind === 'decimal' && field.decimal === RATE && { collect: collectRates }),
      ...(isOfDates(field) && { collect: collectDateForms }),
    };
  }),
);

/** Column that other columns can replace. A file, and each row, needs either `column` or all of `others`. */
interface Alternatives {
  readonly column: string;
  readonly others: readonly string[];
  readonly missingMessage: string;
}

const MEMBER_OF_ENTRY: Alternatives = {
  column: 'member_code',
  others: ['identity_card'],
  missingMessage: 'The column is missing: member_code, or identity_card.',
};

export const ALTERNATIVES: { readonly [kind in ImportKind]?: Alternatives } = {
  members: {
    column: 'full_name',
    others: ['first_name', 'last_name'],
    missingMessage: 'The column is missing: full_name, or first_name and last_name.',
  },
  production: MEMBER_OF_ENTRY,
  loans: MEMBER_OF_ENTRY,
  savings: MEMBER_OF_ENTRY,
};

/** Returns the required columns that a file lacks. Names a column, not the columns that can replace it. */
export function missingColumns(kind: ImportKind, columns: ReadonlySet<string>): string[] {
  const missing = IMPORT_COLUMNS[kind].filter(({ name, isRequired }) => isRequired && !columns.has(name));
  const names = missing.map(({ name }) => name);
  const alternatives = ALTERNATIVES[kind];
  if (alternatives === undefined || columns.has(alternatives.column)) return names;
  return alternatives.others.every((name) => columns.has(name)) ? names : [...names, alternatives.column];
}

/** Formats a column with its alternatives: `full_name (or first_name and last_name)`. */
export function describeColumn(kind: ImportKind, column: string): string {
  const alternatives = ALTERNATIVES[kind];
  return column === alternatives?.column ? `${column} (or ${alternatives.others.join(' and ')})` : column;
}

/** Lists the columns of a kind for help texts, with `*` after columns that every file and row needs. */
export const describeColumns = (kind: ImportKind): string =>
  IMPORT_COLUMNS[kind]
    .filter(({ name }) => ALTERNATIVES[kind]?.others.includes(name) !== true)
    .map(({ name, isRequired }) => {
      const isNeeded = isRequired || name === ALTERNATIVES[kind]?.column;
      return describeColumn(kind, name) + (isNeeded ? '*' : '');
    })
    .join(', ');
