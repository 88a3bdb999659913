/** The tables: their columns, what each means, and where an object of the API has its value. */
import type { Row } from './registry.ts';

/** Type as PostgreSQL itself calls it, meaning, and where the value is if not in the field of that name. */
type Column = readonly [type: string, meaning: string, ...place: string[]];

export const KIND_NAMES = [
  'cooperatives',
  'members',
  'loans',
  'payments',
  'savings_transactions',
  'deliveries',
] as const;
export type KindName = (typeof KIND_NAMES)[number];

/** What the kind is called in paths of the API. */
export const pathOf = (kind: KindName): string => kind.replace('_', '-');

export interface Table {
  readonly name: string;
  /** Whose objects its rows are made of. */
  readonly kind: KindName;
  readonly meaning: string;
  /** The first is its key. */
  readonly columns: { readonly [name: string]: Column };
}

const ID: Column = ['bigint', 'Number in the registry.'];
const COOPERATIVE: Column = ['bigint', 'Its cooperative.', 'cooperative', 'id'];
const MEMBER: Column = [
  'bigint',
  'Its member; of an erased person a number that members does not have.',
  ...['member', 'id'],
];
const MONEY = 'numeric(18,2)';

const time = (meaning: string): Column => ['timestamp with time zone', meaning];
const text = (meaning: string): Column => ['text', meaning];
const CREATED = time('When the row was created in the registry.');

export const TABLES: readonly Table[] = [
  {
    name: 'registry.cooperatives',
    kind: 'cooperatives',
    meaning: 'Cooperatives of every status.',
    columns: {
      id: ID,
      code: text('Unique code.'),
      name: text('Name.'),
      sector: text('What it does, such as agriculture.'),
      province: text('Province of its seat.'),
      district: text('District of its seat.'),
      registration_date: ['date', 'Day on which it was registered.'],
      status: text('active, inactive or dissolved.'),
      created_at: CREATED,
    },
  },
  {
    name: 'registry.members',
    kind: 'members',
    meaning: 'One person in one cooperative, of every status; national IDs are in registry_private.',
    columns: {
      id: ID,
      cooperative_id: COOPERATIVE,
      member_code: text("The cooperative's own code for the member."),
      full_name: text('Name as registered in the cooperative.'),
      first_name: text('Never guessed from the full name.'),
      last_name: text('Never guessed from the full name.'),
      gender: text('MALE, FEMALE, OTHER or null.'),
      date_of_birth: ['date', 'As registered.'],
      mobile: text('E.164.'),
      role: text('Role in the cooperative, such as MEMBER.'),
      status: text('active, inactive, suspended, withdrawn or deceased.'),
      registration_date: time('When the person joined the cooperative.'),
      created_at: CREATED,
    },
  },
  {
    name: 'registry_private.national_ids',
    kind: 'members',
    meaning: 'National IDs, apart from everything else about members.',
    columns: {
      member_id: ['bigint', 'The member.', 'id'],
      identity_card: text('National ID, 16 digits.'),
    },
  },
  {
    name: 'registry.loans',
    kind: 'loans',
    meaning: 'Loans of every status.',
    columns: {
      id: ID,
      cooperative_id: COOPERATIVE,
      member_id: MEMBER,
      reference: text("The cooperative's own number of the loan."),
      amount: [MONEY, 'Rwandan francs.'],
      interest_rate: ['numeric(5,2)', 'Per cent a year.'],
      status: text('pending, approved, rejected, cancelled, paid or defaulted.'),
      paid_amount: [MONEY, 'Rwandan francs paid back, with what was paid before payments were recorded.'],
      loan_start_date: time('When it starts or started.'),
      loan_end_date: time('When it is to end or ended.'),
      approved_at: time('When it was approved.'),
      created_at: CREATED,
    },
  },
  {
    name: 'registry.payments',
    kind: 'payments',
    meaning: 'Payments on loans; those that are void do not count.',
    columns: {
      id: ID,
      cooperative_id: COOPERATIVE,
      loan_id: ['bigint', 'The loan that is paid back, which has the member.'],
      reference: text("The cooperative's own number of the payment."),
      amount: [MONEY, 'Rwandan francs.'],
      method: text('cash, bank, mobile_money or deduction.'),
      status: text('recorded or void.'),
      paid_at: time('When it was paid.'),
      created_at: CREATED,
    },
  },
  {
    name: 'registry.deliveries',
    kind: 'deliveries',
    meaning: 'Deliveries of members to their cooperatives.',
    columns: {
      id: ID,
      cooperative_id: COOPERATIVE,
      member_id: MEMBER,
      reference: text("The cooperative's own number of the delivery."),
      delivered_at: time('When it was delivered.'),
      kg: ['numeric(18,3)', 'Kilograms.'],
      product: text('What was delivered.'),
    },
  },
  {
    name: 'registry.savings_transactions',
    kind: 'savings_transactions',
    meaning: 'What members paid into their savings accounts and took out.',
    columns: {
      id: ID,
      cooperative_id: COOPERATIVE,
      member_id: MEMBER,
      account_number: text('The account, unique in the cooperative.'),
      reference: text("The cooperative's own number of the transaction."),
      kind: text('contribution or withdrawal.'),
      amount: [MONEY, 'Rwandan francs.'],
      transacted_at: time('When it was made.'),
    },
  },
];

export const tablesOf = (kind: KindName): Table[] => TABLES.filter((table) => table.kind === kind);
export const keyOf = ({ columns }: Table): string => Object.keys(columns)[0] as string;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
export const COMMENTS = TABLES.flatMap(({ name, meaning, columns }) => [
  `COMMENT ON TABLE ${name} IS ${quoted(meaning)};`,
  ...Object.entries(columns).map(
    ([column, [, comment]]) => `COMMENT ON COLUMN ${name}.${column} IS ${quoted(comment)};`,
  ),
]).join('\n');

/** Where a column has its value in an object of the API, and in an object inside that one. */
interface Place {
  readonly column: string;
  readonly type: string;
  readonly outer: string;
  readonly inner: string | undefined;
}

const placesOf = (kind: KindName): Place[] =>
  tablesOf(kind).flatMap(({ columns }) =>
    Object.entries(columns).map(([column, [type, , outer = column, inner]]) => ({
      ...{ column, type, outer, inner },
    })),
  );
/** Of all tables of each kind. */
const PLACES = Object.fromEntries(KIND_NAMES.map((kind) => [kind, placesOf(kind)])) as unknown as {
  readonly [kind in KindName]: readonly Place[];
};

/** Rows wait there to be exchanged. It is the session's own: a mirror that is killed leaves nothing. */
export const incomingOf = (kind: KindName): string => `pg_temp.incoming_${kind}`;
export const CREATE_INCOMING = KIND_NAMES.map((kind) => {
  const columns = PLACES[kind].map(({ column, type }) => `${column} ${type}`);
  return `CREATE TEMPORARY TABLE incoming_${kind} (${columns.join(', ')})`;
}).join('; ');

const ESCAPED: { readonly [character: string]: string } = {
  ...{ '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' },
};

/** An object of the API as a line of COPY. @param isPlain whether no text of it has what is to be escaped */
export function lineOf(kind: KindName, object: Row, isPlain = false): string {
  let line = '';
  for (const { outer, inner } of PLACES[kind]) {
    const outerValue = object[outer];
    const value = inner === undefined ? outerValue : (outerValue as Row | null)?.[inner];
    if (line !== '') line += '\t';
    if (value === null || value === undefined) line += '\\N';
    else if (isPlain) line += value;
    else line += String(value).replace(/[\\\t\n\r]/g, (character) => ESCAPED[character] as string);
  }
  return `${line}\n`;
}
