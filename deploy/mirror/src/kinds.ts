/** The tables: their columns, what each means, and where an object of the API has its value. */

/** Type, meaning, and the place of the value where it is not the field of the same name. */
type Column = readonly [type: string, meaning: string, place?: string];

interface Table {
  readonly meaning: string;
  readonly columns: { readonly [name: string]: Column };
}

export interface Kind {
  /** Of its export. */
  readonly path: string;
  /** The first column of each is its key; the first table has the name of the kind. */
  readonly tables: { readonly [name: string]: Table };
}

const ID: Column = ['bigint', 'Number in the registry.'];
const COOPERATIVE: Column = ['bigint', 'Its cooperative.', 'cooperative,id'];
const MEMBER: Column = [
  'bigint',
  'Its member; of an erased person a number that members does not have.',
  'member,id',
];
const CREATED: Column = ['timestamptz', 'When the row was created in the registry.'];
const MONEY = 'numeric(18,2)';

const time = (meaning: string): Column => ['timestamptz', meaning];
const text = (meaning: string): Column => ['text', meaning];

export const KINDS = {
  cooperatives: {
    path: '/cooperatives/export',
    tables: {
      'registry.cooperatives': {
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
    },
  },
  members: {
    path: '/members/export',
    tables: {
      'registry.members': {
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
      'registry_private.national_ids': {
        meaning: 'National IDs, apart from everything else about members.',
        columns: {
          member_id: ['bigint', 'The member.', 'id'],
          identity_card: text('National ID, 16 digits.'),
        },
      },
    },
  },
  loans: {
    path: '/loans/export',
    tables: {
      'registry.loans': {
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
    },
  },
  payments: {
    path: '/payments/export',
    tables: {
      'registry.payments': {
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
    },
  },
  deliveries: {
    path: '/deliveries/export',
    tables: {
      'registry.deliveries': {
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
    },
  },
  savings_transactions: {
    path: '/savings-transactions/export',
    tables: {
      'registry.savings_transactions': {
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
    },
  },
} as const satisfies { readonly [kind: string]: Kind };

export type KindName = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

const tablesOf = (kind: KindName): [string, Table][] => Object.entries(KINDS[kind].tables);
export const keyOf = ({ columns }: Table): string => Object.keys(columns)[0] as string;
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
export const incomingOf = (kind: KindName): string => `registry_private.incoming_${kind}`;

/** The rows of a parameter, as many as a JSON array has. */
const GIVEN = '(SELECT value AS row FROM jsonb_array_elements($1::jsonb)) AS given';

/** SQL of all tables. */
export const CREATE_TABLES = KIND_NAMES.flatMap((kind) =>
  tablesOf(kind).flatMap(([name, table]) => {
    const { columns, meaning } = table;
    const listed = Object.entries(columns).map(([column, [type]]) => `${column} ${type}`);
    return [
      `CREATE TABLE IF NOT EXISTS ${name} (${listed.join(', ')}, PRIMARY KEY (${keyOf(table)}));`,
      `COMMENT ON TABLE ${name} IS ${quoted(meaning)};`,
      ...Object.entries(columns).map(
        ([column, [, comment]]) => `COMMENT ON COLUMN ${name}.${column} IS ${quoted(comment)};`,
      ),
    ];
  }),
).join('\n');

function partsOf([name, table]: [string, Table]) {
  const columns = Object.keys(table.columns);
  const [key = '', ...others] = columns;
  const values = Object.entries(table.columns).map(
    ([column, [type, , place = column]]) => `(row #>> '{${place}}')::${type}`,
  );
  const excluded = others.map((column) => `excluded.${column}`).join(', ');
  return {
    insert: `INSERT INTO ${name} AS old (${columns.join(', ')}) SELECT ${values.join(', ')}`,
    columns: columns.join(', '),
    onConflict: `ON CONFLICT (${key}) DO UPDATE SET (${others.join(', ')}) = ROW(${excluded})`,
  };
}

/** Statements that insert or change rows: those of the objects given as $1. */
export const upsertStatements = (kind: KindName): string[] =>
  tablesOf(kind).map((table) => {
    const { insert, onConflict } = partsOf(table);
    return `${insert} FROM ${GIVEN} ${onConflict}`;
  });

/** The same for those of an export, without touching rows that are as they should be. */
export const mergeStatements = (kind: KindName): string[] =>
  tablesOf(kind).map((table) => {
    const { insert, columns, onConflict } = partsOf(table);
    return `${insert} FROM ${incomingOf(kind)} EXCEPT SELECT ${columns} FROM ${table[0]} ${onConflict}`;
  });

/** The same for tables without rows: the key is made afterwards, which takes a fraction of the time. */
export const fillStatements = (kind: KindName): string[] =>
  tablesOf(kind).flatMap((table) => [
    `ALTER TABLE ${table[0]} DROP CONSTRAINT ${table[0].split('.')[1]}_pkey`,
    `${partsOf(table).insert} FROM ${incomingOf(kind)}`,
    `ALTER TABLE ${table[0]} ADD PRIMARY KEY (${keyOf(table[1])})`,
  ]);

/** Statements that delete rows by their numbers, given as $1. */
export const deleteStatements = (kind: KindName): string[] =>
  tablesOf(kind).map(([name, table]) => `DELETE FROM ${name} WHERE ${keyOf(table)} = ANY ($1::bigint[])`);

/**
 * Statements that delete the rows that an export does not have.
 * @param isPartial whether it has the rows of some cooperatives only, which are given as $1
 */
export const pruneStatements = (kind: KindName, isPartial: boolean): string[] =>
  tablesOf(kind).map(
    ([name, table]) => `DELETE FROM ${name} AS old
      WHERE ${isPartial ? 'old.cooperative_id = ANY ($1::bigint[]) AND' : ''}
      NOT EXISTS (SELECT FROM ${incomingOf(kind)} WHERE (row ->> 'id')::bigint = old.${keyOf(table)})`,
  );
