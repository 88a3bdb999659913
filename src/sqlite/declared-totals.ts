/**
 * Declarations of the totals for statistics. Triggers update totals on each write
 * (docs/decisions/0029-stored-totals.md). Existing files contain these triggers, so a change of a declaration
 * needs a new version of the rules, and a migration that creates the triggers again.
 */

/** Version of the rules. Totals that were stored under another version are not used (./stored-totals.ts). */
export const RULES_VERSION = '1';

export const TOTALS_VERSION = 'SELECT version FROM main.totals_zone';

/** SQL of a value in a row. @param row alias of the row */
type Sql = (row: string) => string;

export interface Totals {
  readonly table: string;
  /** Table whose rows are added up. */
  readonly rows: string;
  /** Columns of `rows` on which keys and sums depend. */
  readonly columns: readonly string[];
  /** Values by which rows are grouped; never NULL. In totals for statistics, the cooperative is first. */
  readonly key: { readonly [name: string]: Sql };
  readonly sums: { readonly [name: string]: Sql };
}

const MILLION = 1_000_000;
/** Splits a sum into two columns, because a single column would overflow with the largest amounts. */
const exact = (name: string, value: Sql) => ({
  [`${name}_millions`]: (row: string) => `${value(row)} / ${MILLION}`,
  [`${name}_rest`]: (row: string) => `${value(row)} % ${MILLION}`,
});

export const one: Sql = () => '1';
export const column =
  (name: string): Sql =>
  (row) =>
    `${row}.${name}`;
/** SQL of a part of an instant, in the time zone of the totals. @param format format of `strftime` */
const local =
  (format: string, name: string): Sql =>
  (row) =>
    `strftime('${format}', ${row}.${name} + (SELECT offset_seconds FROM totals_zone), 'unixepoch')`;

export const TOTALS = [
  {
    table: 'member_totals',
    rows: 'members',
    columns: ['cooperative_id', 'status', 'gender', 'role', 'registration_date'],
    key: {
      cooperative_id: column('cooperative_id'),
      status: column('status'),
      gender: (row) => `coalesce(${row}.gender, '')`,
      role: column('role'),
      joining_year: local('%Y', 'registration_date'),
    },
    sums: { members: one },
  },
  {
    table: 'production_totals',
    rows: 'production_entries',
    columns: ['cooperative_id', 'delivered_at', 'product', 'grams'],
    key: {
      cooperative_id: column('cooperative_id'),
      month: local('%Y-%m', 'delivered_at'),
      product: (row) => `coalesce(${row}.product, '')`,
    },
    sums: { deliveries: one, ...exact('grams', column('grams')) },
  },
  {
    table: 'loan_totals',
    rows: 'loans',
    columns: ['cooperative_id', 'status', 'amount_minor', 'paid_amount_minor'],
    key: { cooperative_id: column('cooperative_id'), status: column('status') },
    sums: {
      loans: one,
      ...exact('amount', column('amount_minor')),
      ...exact('paid', column('paid_amount_minor')),
      ...exact('outstanding', (row) => `max(0, ${row}.amount_minor - ${row}.paid_amount_minor)`),
    },
  },
  {
    table: 'account_totals',
    rows: 'savings_accounts',
    columns: ['cooperative_id'],
    key: { cooperative_id: column('cooperative_id') },
    sums: { accounts: one },
  },
  {
    table: 'savings_totals',
    rows: 'savings_transactions',
    columns: ['cooperative_id', 'kind', 'amount_minor'],
    key: { cooperative_id: column('cooperative_id'), kind: column('kind') },
    sums: exact('amount', column('amount_minor')),
  },
] as const satisfies readonly Totals[];

const names = ({ key, sums }: Totals): string => [...Object.keys(key), ...Object.keys(sums)].join(', ');
const upsert = ({ sums }: Totals): string =>
  `ON CONFLICT DO UPDATE SET ${Object.keys(sums).map((sum) => `${sum} = ${sum} + excluded.${sum}`)}`;

/** SELECT of totals computed from rows `r`. */
export function sumsSql({ rows, key, sums }: Totals, where = 'true'): string {
  const keys = Object.entries(key).map(([name, sql]) => `${sql('r')} AS ${name}`);
  const added = Object.entries(sums).map(([name, sql]) => `sum(${sql('r')}) AS ${name}`);
  return `SELECT ${[...keys, ...added].join(', ')} FROM main.${rows} r WHERE ${where}
    GROUP BY ${keys.map((_, i) => i + 1).join(', ')}`;
}

/** INSERT that adds rows `r` to the totals, which must not include them yet. */
export const addRowsSql = (totals: Totals, where?: string): string =>
  `INSERT INTO main.${totals.table} (${names(totals)})
   ${sumsSql(totals, where)} ${upsert(totals)}`;

/**
 * SQL of the lowest id in the batch that is not yet complete. Totals and the index of names do not include
 * rows from this id on (docs/decisions/0034-pages-of-a-commit.md).
 */
export const nextSql = (rows: string): string =>
  `(SELECT next_id FROM main.batches WHERE table_name = '${rows}')`;

/** SELECT of totals, and of each row that the totals do not yet include. @param where condition on keys */
export function currentSql(totals: Totals, where: string): string {
  const { table, rows, key, sums } = totals;
  const values = Object.entries({ ...key, ...sums }).map(([name, sql]) => `${sql('r')} AS ${name}`);
  return `SELECT ${names(totals)} FROM main.${table} WHERE ${where}
    UNION ALL SELECT * FROM (SELECT ${values.join(', ')} FROM main.${rows} r NOT INDEXED
      WHERE r.id >= ${nextSql(rows)}) WHERE ${where}`;
}

/** SELECT of the stored totals that have a sum other than 0. */
export const storedSql = (totals: Totals): string =>
  `SELECT ${names(totals)} FROM main.${totals.table}
   WHERE ${Object.keys(totals.sums)
     .map((sum) => `${sum} <> 0`)
     .join(' OR ')}`;
