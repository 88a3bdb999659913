/** What stored words and fields are called on the screen. */
import { ACCOUNT_FIELDS } from '../../domain/entries/entries.ts';
import { MEMBER_FIELDS } from '../../domain/membership/members.ts';
import { listFields } from '../../domain/values/declared-fields.ts';
import { asMessage, type Message, say } from '../../domain/values/message.ts';
import { FILE_FIELDS } from '../../store/contract/import/import-columns.ts';

/** Of declared fields. A name that several entities have is called as members call it. */
const LABELS = Object.fromEntries(
  [...FILE_FIELDS, ACCOUNT_FIELDS, MEMBER_FIELDS].flatMap(listFields).map(({ name, label }) => [name, label]),
);

const NAMES: { readonly [stored: string]: Message } = {
  ...LABELS,
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
  // Statuses of members and loans.
  active: say('active'),
  inactive: say('inactive'),
  suspended: say('suspended'),
  withdrawn: say('withdrawn'),
  deceased: say('deceased'),
  pending: say('pending'),
  approved: say('approved'),
  rejected: say('rejected'),
  cancelled: say('cancelled'),
  paid: say('paid'),
  defaulted: say('defaulted'),
  recorded: say('recorded'),
  void: say('void'),
  // Roles and genders.
  MEMBER: say('member'),
  PRESIDENT: say('president'),
  VICE_PRESIDENT: say('vice-president'),
  SECRETARY: say('secretary'),
  TREASURER: say('treasurer'),
  ADVISOR: say('advisor'),
  AUDITOR: say('auditor'),
  MANAGER: say('manager'),
  MALE: say('man'),
  FEMALE: say('woman'),
  OTHER: say('other'),
  // Savings transactions and payments.
  contribution: say('paid in'),
  withdrawal: say('paid out'),
  cash: say('cash'),
  bank: say('bank'),
  mobile_money: say('mobile money'),
  deduction: say('deduction'),
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
  disabled: say('disabled'),
  expired: say('expired'),
  // What is no declared field: columns of rows and of files.
  created: say('created'),
  cooperative: say('Cooperative'),
  id: say('Number in the registry'),
  created_at: say('Recorded on'),
  updated_at: say('Last changed on'),
  cooperative_code: say('Code of the cooperative'),
  loan_reference: say('Reference of the loan'),
  // Statuses and sectors of cooperatives.
  dissolved: say('dissolved'),
  agriculture: say('agriculture'),
  livestock: say('livestock'),
  fishing: say('fishing'),
  trading: say('trading'),
  services: say('services'),
  transport: say('transport'),
  housing: say('housing'),
  handicraft: say('handicraft'),
  mining: say('mining'),
  savings_credit: say('savings and credit'),
  other: say('other'),
};

/** The word itself where none is declared: what is new is shown, if only in English. */
export const nameOf = (stored: string): Message =>
  Object.hasOwn(NAMES, stored) ? (NAMES[stored] as Message) : asMessage(stored.replaceAll('_', ' '));
