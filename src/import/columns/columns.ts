/** The columns of each kind of file, in the order in which they are staged, and how their cells are read. */
import type { DecimalKind } from '../../domain/values/decimal.ts';
import type { ValueKind } from '../../domain/values/declared-fields.ts';
import type { FieldError } from '../../domain/values/errors.ts';
import { parseCooperativeCode, parseNamedCode, parseText } from '../../domain/values/text.ts';
import { byKind, FILE_COLUMNS, type FileColumn } from '../../store/contract/import/import-columns.ts';
import type { ImportKind } from '../../store/contract/import/import-session.ts';
import type { CellContext } from '../cells/context.ts';
import { readDateTime, readPastDate, readPastDateTime } from '../cells/dates.ts';
import { readDecimal } from '../cells/decimals.ts';
import { readIdentityCard } from '../cells/identity-card.ts';
import { readMobile } from '../cells/mobiles.ts';
import { readChoice, readGender } from '../cells/words.ts';
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
} from '../dictionary/words.ts';

export interface ImportColumn {
  readonly name: string;
  /** What its cells are. */
  readonly kind: ValueKind['kind'];
  /** Whether the file must have it and no cell of it may be empty. */
  readonly isRequired: boolean;
  /** The only values that it takes, where they are few words. */
  readonly choices?: readonly string[];
  /** Of a column of decimals, which are staged and stored in minor units or grams. */
  readonly decimal?: DecimalKind;
  /** Of a cell that is not empty, trimmed. */
  readonly parse: (cell: string, context: CellContext) => string | number | FieldError;
}

type Parse = ImportColumn['parse'];

const DATES: readonly ImportColumn['kind'][] = ['past_date', 'instant', 'past_instant'];

/** Whether its cells are dates, with a time of day or without. */
export const isOfDates = ({ kind }: Pick<ImportColumn, 'kind'>): boolean => DATES.includes(kind);

/** What people write for the values of a choice, beside the values. */
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

/** Of these columns a file needs the first or all of the others, and so does each of its rows. */
export interface Alternatives {
  readonly column: string;
  readonly others: readonly string[];
  /** For a file that has none of them. */
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

/** The columns of a kind for people, `*` after what every file and row needs. */
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
