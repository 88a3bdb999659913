/** Columns of each kind of import file, in the order of the staging tables. */

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

/** In this order, the rows of each kind refer only to rows of earlier kinds. */
export const IMPORT_KINDS = [
  'cooperatives',
  'members',
  'production',
  'loans',
  'payments',
  'savings',
] as const;

export type ImportKind = (typeof IMPORT_KINDS)[number];

export interface FileColumn {
  readonly name: string;
  /** True if every file must have the column, with a value in every row. */
  readonly isRequired: boolean;
  /** Translatable text that files may have as the heading, instead of `name`. */
  readonly label: Message;
  readonly field: NamedField;
  /**
   * An `owner` column names the owner of the row, and a `key` column identifies the row. A `compared` column
   * repeats a value of the owner; if the two values differ, the import only warns.
   */
  readonly role: 'owner' | 'key' | 'value' | 'compared';
}

/** @param field a field of the owner */
const ownerColumn = (name: string, field: Field, differences: Partial<FileColumn> = {}): FileColumn => ({
  name,
  isRequired: true,
  label: field.label,
  field: listFields({ [name]: field })[0] as NamedField,
  role: 'owner',
  ...differences,
});

// Labels of fields, such as `Code`, do not name the entity. The labels of these two columns do.
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

/** Files have no ids of rows, and no values that only payments or corrections set. */
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

export const byKind = <T>(of: (kind: ImportKind) => T): { readonly [kind in ImportKind]: T } =>
  Object.fromEntries(IMPORT_KINDS.map((kind) => [kind, of(kind)])) as { [kind in ImportKind]: T };

export const FILE_COLUMNS = byKind(columnsOf);

/** Column of a rejects file that lists the faults of the row. Imports ignore its texts. */
export const FAULTS_COLUMN = 'registry_faults';

/** Column of a rejects file: hashes of the files that had the refused row, for derived references. */
export const FILE_COLUMN = 'registry_file';

/** Column of a rejects file. It marks a row that was refused because its file contained the row twice. */
export const REPEATS_COLUMN = 'registry_repeats';

export const ADDED_LABELS = {
  [FAULTS_COLUMN]: say('Registry: what is wrong'),
  [FILE_COLUMN]: say('Registry: from which file'),
  [REPEATS_COLUMN]: say('Registry: twice in the file'),
} as const;

// Stored values, formatted as in the API (docs/api.md#formats)

const TIMESTAMP: ValueKind = { kind: 'instant' };
const KINDS = new Map<string, ValueKind>([
  ['created_at', TIMESTAMP],
  ['updated_at', TIMESTAMP],
  ...FILE_FIELDS.flatMap(listFields).flatMap((field): [string, ValueKind][] => [
    [field.name, field],
    [field.nameInFiles ?? field.name, field],
  ]),
]);

/**
 * Columns with the same name have the same kind in every table.
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
