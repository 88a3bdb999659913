/** What stored words and fields are called on the screen. */
import { ACCOUNT_FIELDS } from '../../domain/entries/entries.ts';
import { MEMBER_FIELDS } from '../../domain/membership/members.ts';
import { CHOICE_LABELS } from '../../domain/values/choice-labels.ts';
import { listFields } from '../../domain/values/declared-fields.ts';
import { asMessage, type Message, say } from '../../domain/values/message.ts';
import { ADDED_LABELS } from '../../import/table/headings.ts';
import { FILE_COLUMNS, FILE_FIELDS } from '../../store/contract/import/import-columns.ts';

/** Of declared fields. A name that several entities have is called as members call it. */
const LABELS = Object.fromEntries(
  [...FILE_FIELDS, ACCOUNT_FIELDS, MEMBER_FIELDS].flatMap(listFields).map(({ name, label }) => [name, label]),
);

/** Of the columns of files that name what a row belongs to, where their fields alone do not say it. */
const OWNERS = Object.fromEntries(
  Object.values(FILE_COLUMNS)
    .flat()
    .filter(({ role, name }) => role === 'owner' && LABELS[name] === undefined)
    .map(({ name, label }) => [name, label]),
);

const NAMES: { readonly [stored: string]: Message } = {
  ...LABELS,
  ...OWNERS,
  ...CHOICE_LABELS,
  // Kinds of imports and corrections.
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
  // What attention is about.
  clock: say('Clock'),
  disk: say('Disk'),
  events: say('Events'),
  backup: say('Backup'),
  webhooks: say('Webhooks'),
  'read model': say('Read model'),
  keys: say('Keys'),
  unknown: say('unknown'),
  // States of keys.
  key_active: say('active key'),
  key_disabled: say('disabled key'),
  key_expired: say('expired key'),
  ...ADDED_LABELS,
  // What is no declared field: columns of rows and of files.
  created: say('created'),
  removed: say('removed'),
  cooperative: say('Cooperative'),
  id: say('Number in the registry'),
  created_at: say('Recorded on'),
  updated_at: say('Last changed on'),
};

/** The word itself where none is declared: what is new is shown, if only in English. */
export const nameOf = (stored: string): Message =>
  Object.hasOwn(NAMES, stored) ? (NAMES[stored] as Message) : asMessage(stored.replaceAll('_', ' '));
