/** Formats the values of a `StoredRow` for pages, and translates the names of stored words and fields. */

import type { Writing } from '../../desk/localized-formats.ts';
import type { Visit } from '../../desk/screen.ts';
import { CHOICE_LABELS } from '../../values/choice-labels.ts';
import { type DecimalKind, RATE, WEIGHT } from '../../values/decimal.ts';
import { listFields, type StagedValue } from '../../values/declared-fields.ts';
import { type Html, html } from '../../values/html.ts';
import { asMessage, type Message, say } from '../../values/message.ts';
import { ACCOUNT_FIELDS, DERIVED_REFERENCE } from '../entries.ts';
import { ADDED_LABELS, FILE_COLUMNS, FILE_FIELDS, type ImportKind, kindOf } from '../file-columns.ts';
import { MEMBER_FIELDS } from '../members.ts';
import type { FoundMember, StoredRow } from '../stored/stored-data-types.ts';

/** Columns and fields. If several have the same name, the label of the last one counts. */
const LABELLED = [
  ...Object.values(FILE_COLUMNS).flat(),
  ...[...FILE_FIELDS, ACCOUNT_FIELDS, MEMBER_FIELDS].flatMap(listFields),
];

const NAMES: { readonly [stored: string]: Message } = {
  ...Object.fromEntries(LABELLED.map(({ name, label }) => [name, label])),
  ...CHOICE_LABELS,
  // Kinds of imports and corrections
  cooperatives: say('Cooperatives'),
  members: say('Members'),
  production: say('Deliveries'),
  savings: say('Savings'),
  loans: say('Loans'),
  payments: say('Payments'),
  nid_replace: say('Number corrected'),
  nid_release: say('Former number released'),
  members_merge: say('Members merged'),
  members_move: say('Member moved'),
  members_transfer: say('Member transferred'),
  cooperatives_merge: say('Cooperatives merged'),
  persons_deceased: say('Death recorded'),
  duplicates_dismiss: say('Pair set aside'),
  duplicates_same_person: say('One person, checked'),
  entries_remove: say('Entries removed'),
  persons_erase: say('Person erased'),
  row_enter: say('Entered by hand'),
  // Subjects of issues that need action
  clock: say('Clock'),
  disk: say('Disk'),
  events: say('Events'),
  backup: say('Backup'),
  webhooks: say('Webhooks'),
  'read model': say('Read model'),
  keys: say('Keys'),
  unknown: say('unknown'),
  // States of keys
  key_active: say('active key'),
  key_disabled: say('disabled key'),
  key_expired: say('expired key'),
  ...ADDED_LABELS,
  // Columns of rows and files that are not declared fields
  created: say('created'),
  removed: say('removed'),
  cooperative: say('Cooperative'),
  id: say('Number in the registry'),
  created_at: say('Recorded on'),
  updated_at: say('Last changed on'),
};

/** Unknown words are shown as stored, in English. */
export const nameOf = (stored: string): Message =>
  Object.hasOwn(NAMES, stored) ? (NAMES[stored] as Message) : asMessage(stored.replaceAll('_', ' '));

/**
 * Rows that a clerk can enter for a cooperative. After a row is saved, the next form begins with the values
 * of its `carriedOver` fields, because the rows on one sheet of paper often share these values.
 */
export const ENTERED: {
  readonly [kind in Exclude<ImportKind, 'cooperatives'>]: {
    readonly heading: Message;
    readonly carriedOver: readonly string[];
  };
} = {
  members: { heading: say('New member'), carriedOver: [] },
  production: { heading: say('New delivery'), carriedOver: ['delivered_at', 'product'] },
  savings: { heading: say('New savings transaction'), carriedOver: ['transacted_at', 'kind'] },
  loans: { heading: say('New loan'), carriedOver: [] },
  payments: { heading: say('New payment'), carriedOver: ['paid_at', 'method'] },
};

export type EnteredKind = keyof typeof ENTERED;

export const isEnteredKind = (kind: string | undefined): kind is EnteredKind =>
  kind !== undefined && Object.hasOwn(ENTERED, kind);

/** @param owner id of the membership; for a payment, id of the loan */
export const enterLink = ({ translate }: Visit, person: string, kind: EnteredKind, owner: string): Html =>
  html`<a href="${enterPath(person, kind, owner)}">${translate(ENTERED[kind].heading)}</a>`;

/** @param list address of the list to show after the change */
export const changeLink = (
  { say }: Visit,
  person: string,
  kind: EnteredKind,
  id: string,
  list?: string,
): Html => html`<a href="${changePath(person, kind, id, list)}">${say('Change…')}</a>`;

/** @param person path of the person's page */
export const changePath = (person: string, kind: EnteredKind, id: string, list?: string): string =>
  `${person}/change/${kind}/${id}${list === undefined ? '' : `?list=${encodeURIComponent(list)}`}`;

/** Returns the parameter `list` if it is the address of a cooperative's list. */
export function listIn(query: URLSearchParams): string | undefined {
  const list = query.get('list') ?? '';
  return /^\/cooperative\/[\w-]+\/[a-z-]+(?:\?[\w=&-]*)?$/.test(list) ? list : undefined;
}

/** @param owner id of the membership; for a payment, id of the loan */
export const enterPath = (person: string, kind: EnteredKind, owner: string): string =>
  `${person}/enter/${kind}/${owner}`;

const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;

/** @returns undefined for a missing value */
export function writeStored(
  { write, translate }: Visit,
  field: string,
  value: StagedValue | undefined,
): string | undefined {
  if (value === null || value === undefined) return undefined;
  const declared = kindOf(field);
  if (typeof value === 'string') {
    if (declared?.kind === 'choice') return translate(nameOf(value));
    return ISO_DAY.test(value) && declared?.kind !== 'text' ? write.date(value) : value;
  }
  if (declared?.kind === 'decimal') return writeDecimal(write, declared.decimal, value);
  const isInstant = declared?.kind === 'instant' || declared?.kind === 'past_instant';
  return isInstant ? write.moment(value) : String(value);
}

function writeDecimal(write: Writing, kind: DecimalKind, value: number): string {
  if (kind === RATE) return `${write.number(value / 100)} %`;
  return kind === WEIGHT ? write.weight(value) : write.money(value);
}

export const textOf = (row: StoredRow, field: string): string => String(row[field] ?? '');

export const numberOf = (row: StoredRow, field: string): number => Number(row[field] ?? 0);

/** Returns an empty string for a derived reference. */
export const referenceOf = (row: StoredRow): string =>
  textOf(row, 'reference').startsWith(DERIVED_REFERENCE) ? '' : textOf(row, 'reference');

export const describeMember = ({ cooperativeCode, memberCode, fullName }: FoundMember): string =>
  `${cooperativeCode} · ${memberCode} · ${fullName}`;
