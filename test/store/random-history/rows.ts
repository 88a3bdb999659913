/** All rows of a registry as they are stored: what the checks of a random history compare. */
import type { Connection } from '../../support/sqlite.ts';

export const TABLES = {
  cooperative: 'cooperatives',
  member: 'members',
  delivery: 'production_entries',
  loan: 'loans',
  payment: 'payments',
  account: 'savings_accounts',
  transaction: 'savings_transactions',
} as const;
export type Entity = keyof typeof TABLES;
export type Row = { readonly [column: string]: string | number | null };
/** By `entity id`, as in `member 3`. */
export type Rows = ReadonlyMap<string, Row>;

/** The time of the last change, and what is computed from other rows at any time. */
const LEFT_OUT: readonly string[] = ['updated_at', 'production', 'loans', 'savings'];

export function readRows(db: Connection): Rows {
  const rows = new Map<string, Row>();
  for (const [entity, table] of Object.entries(TABLES))
    for (const row of db.raw.prepare(`SELECT * FROM ${table} ORDER BY id`).all() as Row[]) {
      const kept = Object.entries(row).filter(([column]) => !LEFT_OUT.includes(column));
      rows.set(`${entity} ${row.id}`, Object.fromEntries(kept));
    }
  return rows;
}

/** Every row of every table: nothing of it may differ where nothing was done. */
export function readEverything(db: Connection): { [table: string]: unknown[] } {
  const tables = db.raw
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .pluck()
    .all() as string[];
  return Object.fromEntries(tables.map((table) => [table, db.raw.prepare(`SELECT * FROM "${table}"`).all()]));
}

export const rowsOf = (rows: Rows, entity: Entity): Row[] =>
  [...rows].filter(([key]) => key.startsWith(`${entity} `)).map(([, row]) => row);

/** Of an erased person: the row stays for the sums of its cooperative, and no list or lookup shows it. */
export const isErased = (row: Row | undefined): boolean => row?.status === 'erased';

/** What is paid on a loan follows from its payments: whoever compares loans computes it again. */
export const PAID = 'paid_amount_minor';

/** What each loan's opening balance and recorded payments add up to, by the id of the loan. */
export function paidOf(rows: Rows): Map<number, number> {
  const paid = new Map(
    rowsOf(rows, 'loan').map(({ id, opening_balance_minor }) => [
      id as number,
      opening_balance_minor as number,
    ]),
  );
  for (const { loan_id, status, amount_minor } of rowsOf(rows, 'payment'))
    if (status === 'recorded')
      paid.set(loan_id as number, (paid.get(loan_id as number) ?? 0) + (amount_minor as number));
  return paid;
}

const withoutPaid = ({ [PAID]: _, ...row }: Row): Row => row;
export const isSame = (one: Row | undefined, other: Row | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  JSON.stringify(withoutPaid(one)) === JSON.stringify(withoutPaid(other));

/** The keys of rows that a step has written, whatever follows for what is paid on loans. */
export interface Written {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export function writtenBetween(before: Rows, after: Rows): Written {
  const stayed = [...after.keys()].filter((key) => before.has(key));
  return {
    created: [...after.keys()].filter((key) => !before.has(key)),
    changed: stayed.filter((key) => !isSame(before.get(key), after.get(key))),
    removed: [...before.keys()].filter((key) => !after.has(key)),
  };
}
