/**
 * The columns of each kind of file, in the order in which they are staged. To add one: declare it here and
 * name its place in the table in `store/sqlite/schema/targets.ts`; a test compares both.
 */

import { TRANSACTION_KINDS } from '../../domain/entries/savings.ts';
import { LOAN_STATUSES } from '../../domain/lending/loans.ts';
import { PAYMENT_METHODS, PAYMENT_STATUSES } from '../../domain/lending/payments.ts';
import { COOPERATIVE_STATUSES, SECTORS } from '../../domain/membership/cooperatives.ts';
import { GENDERS, MEMBER_STATUSES, ROLES } from '../../domain/membership/members.ts';
import { type DecimalKind, MONEY, MONEY_OR_ZERO, RATE, WEIGHT } from '../../domain/values/decimal.ts';
import type { FieldError } from '../../domain/values/errors.ts';
import { MAX_LENGTH, parseCooperativeCode, parseText } from '../../domain/values/text.ts';
import type { ImportKind } from '../../store/ports/import-session.ts';
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
} from '../dictionary/words.ts';

export interface ImportColumn {
  readonly name: string;
  /** Whether the file must have it and no cell of it may be empty. */
  readonly isRequired: boolean;
  /** The only values that it takes, where they are few words. */
  readonly choices?: readonly string[];
  /** Of a column of decimals, which are staged and stored in minor units or grams. */
  readonly decimal?: DecimalKind;
  /** Of a cell that is not empty, trimmed. */
  readonly parse: (cell: string, context: CellContext) => string | number | FieldError;
}

const required = (name: string, parse: ImportColumn['parse']): ImportColumn => ({
  name,
  isRequired: true,
  parse,
});
const optional = (name: string, parse: ImportColumn['parse']): ImportColumn => ({
  name,
  isRequired: false,
  parse,
});
const decimal = (column: typeof required, name: string, kind: DecimalKind): ImportColumn => ({
  ...column(name, readDecimal(kind)),
  decimal: kind,
});
/** An optional column of one of these words. */
const choice = (name: string, choices: readonly string[], parse: ImportColumn['parse']): ImportColumn => ({
  ...optional(name, parse),
  choices,
});
const requiredChoice = (...column: Parameters<typeof choice>): ImportColumn => ({
  ...choice(...column),
  isRequired: true,
});
const upTo = (length: number) => (cell: string) => parseText(cell, length);

const COOPERATIVE_CODE = required('cooperative_code', parseCooperativeCode);
const MEMBER_CODE = required('member_code', upTo(MAX_LENGTH.memberCode));
const REFERENCE = required('reference', upTo(MAX_LENGTH.reference));
/** Where a file names its members by either: see `ALTERNATIVES`. */
const NAMED_MEMBER = [
  optional('member_code', upTo(MAX_LENGTH.memberCode)),
  optional('identity_card', readIdentityCard),
];
/** Derived from the row where it is empty, so that the same file imported again changes nothing. */
const DERIVABLE_REFERENCE = optional('reference', upTo(MAX_LENGTH.reference));

export const IMPORT_COLUMNS: { readonly [kind in ImportKind]: readonly ImportColumn[] } = {
  cooperatives: [
    required('code', parseCooperativeCode),
    required('name', upTo(MAX_LENGTH.name)),
    choice('sector', SECTORS, readChoice(SECTORS, SECTOR_WORDS)),
    optional('province', upTo(MAX_LENGTH.place)),
    optional('district', upTo(MAX_LENGTH.place)),
    optional('registration_date', readPastDate),
    choice('status', COOPERATIVE_STATUSES, readChoice(COOPERATIVE_STATUSES, COOPERATIVE_STATUS_WORDS)),
  ],
  members: [
    COOPERATIVE_CODE,
    required('identity_card', readIdentityCard),
    MEMBER_CODE,
    // Required unless first and last name are both given: rows.ts sees to that, and needs the three adjacent.
    optional('full_name', upTo(MAX_LENGTH.name)),
    optional('first_name', upTo(MAX_LENGTH.name)),
    optional('last_name', upTo(MAX_LENGTH.name)),
    choice('gender', GENDERS, readGender),
    optional('date_of_birth', readPastDate),
    optional('mobile', readMobile),
    choice('role', ROLES, readChoice(ROLES, ROLE_WORDS)),
    choice('status', MEMBER_STATUSES, readChoice(MEMBER_STATUSES, MEMBER_STATUS_WORDS)),
    optional('registration_date', readPastDateTime),
  ],
  production: [
    COOPERATIVE_CODE,
    ...NAMED_MEMBER,
    DERIVABLE_REFERENCE,
    required('delivered_at', readPastDateTime),
    decimal(required, 'kg', WEIGHT),
    optional('product', upTo(MAX_LENGTH.product)),
  ],
  loans: [
    COOPERATIVE_CODE,
    ...NAMED_MEMBER,
    REFERENCE,
    decimal(required, 'amount', MONEY),
    decimal(required, 'interest_rate', RATE),
    choice('status', LOAN_STATUSES, readChoice(LOAN_STATUSES, LOAN_STATUS_WORDS)),
    decimal(optional, 'paid_amount', MONEY_OR_ZERO),
    // Filled in from the time of the import: opening-balance.ts sees to that, and needs the two adjacent.
    optional('paid_until', readPastDateTime),
    optional('loan_start_date', readDateTime),
    optional('loan_end_date', readDateTime),
    optional('approved_at', readPastDateTime),
  ],
  payments: [
    COOPERATIVE_CODE,
    required('loan_reference', upTo(MAX_LENGTH.reference)),
    REFERENCE,
    decimal(required, 'amount', MONEY),
    requiredChoice('method', PAYMENT_METHODS, readChoice(PAYMENT_METHODS, PAYMENT_METHOD_WORDS)),
    required('paid_at', readPastDateTime),
    choice('status', PAYMENT_STATUSES, readChoice(PAYMENT_STATUSES, PAYMENT_STATUS_WORDS)),
  ],
  savings: [
    COOPERATIVE_CODE,
    ...NAMED_MEMBER,
    required('account_number', upTo(MAX_LENGTH.accountNumber)),
    DERIVABLE_REFERENCE,
    requiredChoice('kind', TRANSACTION_KINDS, readChoice(TRANSACTION_KINDS, TRANSACTION_KIND_WORDS)),
    decimal(required, 'amount', MONEY),
    required('transacted_at', readPastDateTime),
  ],
};

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
