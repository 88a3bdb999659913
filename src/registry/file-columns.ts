/**
 * Columns of each kind of import file, in the order of the staging tables: first the identifiers of the row
 * and its owner, then the declared fields.
 */

import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { formatDecimal } from '../values/decimal.ts';
import {
  type Field,
  type Fields,
  listFields,
  type NamedField,
  type StagedValue,
  type ValueKind,
} from '../values/declared-fields.ts';
import { type Message, say } from '../values/message.ts';
import { COOPERATIVE_FIELDS } from './cooperatives.ts';
import { ACCOUNT_FIELDS, PRODUCTION_FIELDS, SAVINGS_FIELDS } from './entries.ts';
import { LOAN_FIELDS } from './loans.ts';
import { MEMBER_FIELDS } from './members.ts';
import { PAYMENT_FIELDS } from './payments.ts';

export const IMPORT_KINDS = [
  'cooperatives',
  'members',
  'production',
  'loans',
  'payments',
  'savings',
] as const;

/** Kinds of import files, ordered so that each kind refers only to earlier kinds. */
export type ImportKind = (typeof IMPORT_KINDS)[number];

export interface FileColumn {
  readonly name: string;
  /** True if every file must have the column, with a value in every row. */
  readonly isRequired: boolean;
  /** Display name, also accepted as a column heading. */
  readonly label: Message;
  readonly field: NamedField;
  /**
   * Use of the column: `owner` names the owner of the row, `key` identifies the row, and `value` sets a value
   * of the row. A `compared` column identifies nothing: a difference from the owner only causes a warning.
   */
  readonly role: 'owner' | 'key' | 'value' | 'compared';
}

/** Returns a column that names the owner of a row by a field of the owner. */
const ownerColumn = (name: string, field: Field, differences: Partial<FileColumn> = {}): FileColumn => ({
  name,
  isRequired: true,
  label: field.label,
  field: listFields({ [name]: field })[0] as NamedField,
  role: 'owner',
  ...differences,
});

// The labels of these two fields do not name the entity, so the columns have labels of their own.
const COOPERATIVE = ownerColumn('cooperative_code', COOPERATIVE_FIELDS.code, {
  label: say('Code of the cooperative'),
});
const LOAN = ownerColumn('loan_reference', LOAN_FIELDS.reference, { label: say('Reference of the loan') });
const MEMBER = [
  COOPERATIVE,
  ownerColumn('member_code', MEMBER_FIELDS.memberCode, { isRequired: false }),
  ownerColumn('identity_card', MEMBER_FIELDS.identityCard, { isRequired: false }),
];
const NAME = ownerColumn('full_name', MEMBER_FIELDS.fullName, { isRequired: false, role: 'compared' });
const ACCOUNT = ownerColumn('account_number', ACCOUNT_FIELDS.accountNumber);

const FILES: {
  readonly [kind in ImportKind]: { readonly owners: readonly FileColumn[]; readonly fields: Fields };
} = {
  cooperatives: { owners: [], fields: COOPERATIVE_FIELDS },
  members: { owners: [COOPERATIVE], fields: MEMBER_FIELDS },
  production: { owners: [...MEMBER, NAME], fields: PRODUCTION_FIELDS },
  loans: { owners: [...MEMBER, NAME], fields: LOAN_FIELDS },
  payments: { owners: [COOPERATIVE, LOAN, NAME], fields: PAYMENT_FIELDS },
  savings: { owners: [...MEMBER, ACCOUNT, NAME], fields: SAVINGS_FIELDS },
};

export const FILE_FIELDS: readonly Fields[] = Object.values(FILES).map(({ fields }) => fields);

/**
 * True for fields that have a column in files. Files contain labels instead of the ids of other rows. Files
 * cannot set values that payments and corrections set.
 */
const isInFiles = ({ kind, setBy }: Field): boolean =>
  kind !== 'reference' && setBy !== 'payments' && setBy !== 'corrections';

const isRequired = ({ isNullable, initial, isComposed, isRequiredInFiles }: Field): boolean =>
  isRequiredInFiles === true || (isNullable !== true && initial === undefined && isComposed !== true);

function columnsOf(kind: ImportKind): FileColumn[] {
  const { owners, fields } = FILES[kind];
  const fieldColumns = listFields(fields)
    .filter(isInFiles)
    .map((field): FileColumn => {
      const role = field.isKey === true ? 'key' : 'value';
      const { label } = field;
      return { name: field.nameInFiles ?? field.name, isRequired: isRequired(field), label, field, role };
    });
  const columns = [...owners, ...fieldColumns];
  return (['owner', 'key', 'value', 'compared'] as const).flatMap((role) =>
    columns.filter((column) => column.role === role),
  );
}

/** Builds an object with one value for each kind of file. */
export const byKind = <T>(of: (kind: ImportKind) => T): { readonly [kind in ImportKind]: T } =>
  Object.fromEntries(IMPORT_KINDS.map((kind) => [kind, of(kind)])) as { [kind in ImportKind]: T };

export const FILE_COLUMNS = byKind(columnsOf);

/** Column of a rejects file that lists the faults of the row. Imports ignore its texts. */
export const FAULTS_COLUMN = 'registry_faults';

/** Column of a rejects file: hashes of the files in which the row was refused, for derived references. */
export const FILE_COLUMN = 'registry_file';

/** Column of a rejects file. It marks a row that was refused because its file contained the row twice. */
export const REPEATS_COLUMN = 'registry_repeats';

/** Display names of the three columns above, for rejects files with translated headings. */
export const ADDED_LABELS = {
  [FAULTS_COLUMN]: say('Registry: what is wrong'),
  [FILE_COLUMN]: say('Registry: from which file'),
  [REPEATS_COLUMN]: say('Registry: twice in the file'),
} as const;

// Formats stored values as in the API (docs/api.md#formats), for lists of changes

/** Timestamps of rows, which are not declared fields. */
const TIMESTAMPS = ['created_at', 'updated_at'].map((name): [string, ValueKind] => [
  name,
  { kind: 'instant' },
]);

const KINDS: ReadonlyMap<string, ValueKind> = new Map([
  ...TIMESTAMPS,
  ...FILE_FIELDS.flatMap(listFields).flatMap((field) =>
    [field.name, field.nameInFiles ?? field.name].map((name): [string, ValueKind] => [name, field]),
  ),
]);

/**
 * Returns the kind of a column's values. Columns with the same name have the same kind in every table.
 * @returns undefined for values shown as stored, such as ids
 */
export const kindOf = (column: string): ValueKind | undefined => KINDS.get(column);

/**
 * @param column column of an import file, or field of the history
 * @param value a number is in minor units, grams or epoch seconds
 */
export function formatStored(column: string, value: StagedValue, zone: TimeZone): string | null {
  if (typeof value !== 'number') return value;
  const field = kindOf(column);
  if (field?.kind === 'decimal') return formatDecimal(value, field.decimal.fractionDigits);
  const isInstant = field?.kind === 'instant' || field?.kind === 'past_instant';
  return isInstant ? formatDateTime(value, zone) : String(value);
}
