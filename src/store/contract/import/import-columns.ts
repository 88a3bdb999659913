/**
 * The columns of each kind of file, in the order in which they are staged: those that name the row and what
 * it belongs to, then the values, which are declared fields.
 */
import { ACCOUNT_FIELDS, PRODUCTION_FIELDS, SAVINGS_FIELDS } from '../../../domain/entries/entries.ts';
import { LOAN_FIELDS } from '../../../domain/lending/loans.ts';
import { PAYMENT_FIELDS } from '../../../domain/lending/payments.ts';
import { COOPERATIVE_FIELDS } from '../../../domain/membership/cooperatives.ts';
import { MEMBER_FIELDS } from '../../../domain/membership/members.ts';
import {
  type Field,
  type Fields,
  listFields,
  type NamedField,
} from '../../../domain/values/declared-fields.ts';
import { type Message, say } from '../../../domain/values/message.ts';
import { IMPORT_KINDS, type ImportKind } from './import-session.ts';

export interface FileColumn {
  readonly name: string;
  /** Whether the file must have it and no cell of it may be empty. */
  readonly isRequired: boolean;
  /** What people call it, and may head it with. */
  readonly label: Message;
  readonly field: NamedField;
  /**
   * What it is for a stored row: it names what the row belongs to, finds the row, may change it, or is only
   * compared with what the row belongs to.
   */
  readonly role: 'owner' | 'key' | 'value' | 'compared';
}

interface Owner {
  readonly name: string;
  readonly field: Field;
  /** Where the field alone does not say whose it is. */
  readonly label?: Message;
  readonly isRequired: boolean;
  /** It names nothing: a warning compares it with what the row belongs to. */
  readonly isCompared?: true;
}

const COOPERATIVE: Owner = {
  name: 'cooperative_code',
  field: COOPERATIVE_FIELDS.code,
  label: say('Code of the cooperative'),
  isRequired: true,
};
/** Either names the member of an entry. */
const MEMBER: readonly Owner[] = [
  { name: 'member_code', field: MEMBER_FIELDS.memberCode, isRequired: false },
  { name: 'identity_card', field: MEMBER_FIELDS.identityCard, isRequired: false },
];
/** Of the member, as the ledger has it. */
const NAME: Owner = {
  name: 'full_name',
  field: MEMBER_FIELDS.fullName,
  isRequired: false,
  isCompared: true,
};
const LOAN: Owner = {
  name: 'loan_reference',
  field: LOAN_FIELDS.reference,
  label: say('Reference of the loan'),
  isRequired: true,
};
const ACCOUNT: Owner = {
  name: 'account_number',
  field: ACCOUNT_FIELDS.accountNumber,
  isRequired: true,
};

const FILES: {
  readonly [kind in ImportKind]: { readonly owners: readonly Owner[]; readonly fields: Fields };
} = {
  cooperatives: { owners: [], fields: COOPERATIVE_FIELDS },
  members: { owners: [COOPERATIVE], fields: MEMBER_FIELDS },
  production: { owners: [COOPERATIVE, ...MEMBER, NAME], fields: PRODUCTION_FIELDS },
  loans: { owners: [COOPERATIVE, ...MEMBER, NAME], fields: LOAN_FIELDS },
  payments: { owners: [COOPERATIVE, LOAN, NAME], fields: PAYMENT_FIELDS },
  savings: { owners: [COOPERATIVE, ...MEMBER, ACCOUNT, NAME], fields: SAVINGS_FIELDS },
};

/** The declared fields of every kind. */
export const FILE_FIELDS: readonly Fields[] = Object.values(FILES).map(({ fields }) => fields);

/** Files name other rows by what people call them, and do not set what payments and corrections do. */
const isInFiles = ({ kind, setBy }: Field): boolean =>
  kind !== 'reference' && setBy !== 'payments' && setBy !== 'corrections';

const isRequired = ({ isNullable, initial, isComposed, isRequiredInFiles }: Field): boolean =>
  isRequiredInFiles === true || (isNullable !== true && initial === undefined && isComposed !== true);

function columnsOf(kind: ImportKind): FileColumn[] {
  const { owners, fields } = FILES[kind];
  const own = listFields(fields)
    .filter(isInFiles)
    .map((field): FileColumn => {
      const role = field.isKey === true ? 'key' : 'value';
      const { label } = field;
      return { name: field.nameInFiles ?? field.name, isRequired: isRequired(field), label, field, role };
    });
  const others = owners.map(({ name, isRequired, field, label = field.label, isCompared }): FileColumn => {
    const [named] = listFields({ [name]: field });
    const role = isCompared === true ? 'compared' : 'owner';
    return { name, isRequired, label, field: named as NamedField, role };
  });
  const all = [...others, ...own];
  return (['owner', 'key', 'value', 'compared'] as const).flatMap((role) =>
    all.filter((column) => column.role === role),
  );
}

/** What there is of each kind of file. */
export const byKind = <T>(of: (kind: ImportKind) => T): { readonly [kind in ImportKind]: T } =>
  Object.fromEntries(IMPORT_KINDS.map((kind) => [kind, of(kind)])) as { [kind in ImportKind]: T };

export const FILE_COLUMNS = byKind(columnsOf);
