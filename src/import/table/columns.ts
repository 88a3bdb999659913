/** Columns of each kind of file, in the order in which they are staged, with the parsers of their cells. */

import { byKind, FILE_COLUMNS, type FileColumn, type ImportKind } from '../../registry/file-columns.ts';
import type { DecimalKind } from '../../values/decimal.ts';
import type { ValueKind } from '../../values/declared-fields.ts';
import { FieldError } from '../../values/errors.ts';
import { IDENTITY_CARD_ERROR, isIdentityCard } from '../../values/identity-card.ts';
import { parseCooperativeCode, parseMobile, parseNamedCode, parseText } from '../../values/text.ts';
import { type CellContext, readChoice, readGender } from '../reading/cell-context.ts';
import { readDateTime, readPastDate, readPastDateTime } from '../reading/dates.ts';
import { readDecimal } from '../reading/decimals.ts';
import {
  COOPERATIVE_STATUS_WORDS,
  LOAN_STATUS_WORDS,
  MEMBER_STATUS_WORDS,
  PAYMENT_METHOD_WORDS,
  PAYMENT_STATUS_WORDS,
  ROLE_WORDS,
  SECTOR_WORDS,
  TRANSACTION_KIND_WORDS,
  type Words,
} from '../reading/dictionary-words.ts';

// Cells with one or several mobile numbers, of which the first is kept
// (docs/import-reference.md#what-spreadsheets-do)

/** Allows one space at most between words: an expression for any number of them takes quadratic time. */
const BETWEEN_NUMBERS = / ?[/;,|&\n] ?| (?:ou|et|or|and|na|cyangwa) /i;
/** A text that looks like a telephone number, of a mobile or not. */
const NUMBER = /^[+(]?[0-9][0-9\s().-]{5,18}$/;

/** Reads a mobile number; of several, the first, if all of them look like telephone numbers. */
export function readMobile(cell: string, context: CellContext): string | FieldError {
  const mobile = parseMobile(cell);
  if (!(mobile instanceof FieldError)) return mobile;
  const parts = cell.replace(/[^\S\n]+/g, ' ').split(BETWEEN_NUMBERS);
  const [first = '', ...others] = parts.filter((part) => part.trim() !== '');
  const firstMobile = parseMobile(first);
  if (
    others.length === 0 ||
    firstMobile instanceof FieldError ||
    !others.every((other) => NUMBER.test(other))
  )
    return mobile;
  context.note('second_phone');
  return firstMobile;
}

// National IDs as spreadsheets write them, read as 16 digits (docs/import-reference.md#what-spreadsheets-do)

/** Spaces between groups of digits, including the no-break spaces of spreadsheets. */
const SPACES = /\s/g;

const SCIENTIFIC = /^[0-9](?:[.,][0-9]+)?[Ee]\+?[0-9]+$/;
const NUMBER_FAULT = new FieldError(
  'A spreadsheet turned this national ID into a number and lost digits. ' +
    'Format the column as text and enter it again.',
);

function readIdentityCard(cell: string, { isNumber }: CellContext): string | FieldError {
  // A workbook keeps only 15 digits of a number, whatever the cell shows.
  if (isNumber) return NUMBER_FAULT;
  if (isIdentityCard(cell)) return cell;
  const digits = cell.replace(SPACES, '');
  if (SCIENTIFIC.test(digits)) return NUMBER_FAULT;
  return isIdentityCard(digits) ? digits : IDENTITY_CARD_ERROR;
}

export interface ImportColumn {
  readonly name: string;
  readonly kind: ValueKind['kind'];
  /** True if the file must have the column, without an empty cell. */
  readonly isRequired: boolean;
  /** The only values that the column accepts, if it is one of choices. */
  readonly choices?: readonly string[];
  /** Format of a column of decimals, which are staged and stored in minor units or grams. */
  readonly decimal?: DecimalKind;
  /** Parses a trimmed cell that is not empty. */
  readonly parse: (cell: string, context: CellContext) => string | number | FieldError;
}

type Parse = ImportColumn['parse'];

const DATES: readonly ImportColumn['kind'][] = ['past_date', 'instant', 'past_instant'];

/** True for a column of dates, with or without a time of day. */
export const isOfDates = ({ kind }: Pick<ImportColumn, 'kind'>): boolean => DATES.includes(kind);

/** Words in use for the values of a choice, in addition to the values themselves. */
const WORDS: { readonly [kind in ImportKind]?: { readonly [column: string]: Words<string> } } = {
  cooperatives: { sector: SECTOR_WORDS, status: COOPERATIVE_STATUS_WORDS },
  members: { role: ROLE_WORDS, status: MEMBER_STATUS_WORDS },
  loans: { status: LOAN_STATUS_WORDS },
  payments: { method: PAYMENT_METHOD_WORDS, status: PAYMENT_STATUS_WORDS },
  savings: { kind: TRANSACTION_KIND_WORDS },
};

function parserOf(kind: ImportKind, { field, role }: FileColumn): Parse {
  switch (field.kind) {
    case 'text': {
      const { maxLength } = field;
      return (cell) => parseText(cell, maxLength);
    }
    case 'cooperative_code':
      return role === 'owner' ? parseNamedCode : parseCooperativeCode;
    case 'identity_card':
      return readIdentityCard;
    case 'mobile':
      return readMobile;
    case 'choice':
      return field.property === 'gender' ? readGender : readChoice(field.choices, WORDS[kind]?.[field.name]);
    case 'past_date':
      return readPastDate;
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

const toImportColumn = (kind: ImportKind, column: FileColumn): ImportColumn => ({
  name: column.name,
  kind: column.field.kind,
  isRequired: column.isRequired,
  ...(column.field.kind === 'choice' ? { choices: column.field.choices } : {}),
  ...(column.field.kind === 'decimal' ? { decimal: column.field.decimal } : {}),
  parse: parserOf(kind, column),
});

export const IMPORT_COLUMNS = byKind((kind) =>
  FILE_COLUMNS[kind].map((column) => toImportColumn(kind, column)),
);

/** Columns of which a file, and each of its rows, needs the first or all of the others. */
interface Alternatives {
  readonly column: string;
  readonly others: readonly string[];
  /** Message for a file that has none of them. */
  readonly missing: string;
}

const MEMBER_OF_ENTRY: Alternatives = {
  column: 'member_code',
  others: ['identity_card'],
  missing: 'The column is missing: member_code, or identity_card.',
};

export const ALTERNATIVES: { readonly [kind in ImportKind]: Alternatives | undefined } = {
  cooperatives: undefined,
  members: {
    column: 'full_name',
    others: ['first_name', 'last_name'],
    missing: 'The column is missing: full_name, or first_name and last_name.',
  },
  production: MEMBER_OF_ENTRY,
  loans: MEMBER_OF_ENTRY,
  payments: undefined,
  savings: MEMBER_OF_ENTRY,
};

/** Lists the columns of a kind for people, with `*` after those that every file and row needs. */
export function describeColumns(kind: ImportKind): string {
  const alternatives = ALTERNATIVES[kind];
  const shown = IMPORT_COLUMNS[kind].filter(({ name }) => alternatives?.others.includes(name) !== true);
  return shown
    .map(({ name, isRequired }) => {
      if (name === alternatives?.column) return `${name} (or ${alternatives.others.join(' and ')})*`;
      return name + (isRequired ? '*' : '');
    })
    .join(', ');
}
