/** What a registry takes on disk, and what each kind of row takes of it. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { CountryFigures } from './figures.ts';
import type { Country } from './registry.ts';

/** Tables, with their indexes, by the kind of row that they are for; the rest is small. */
const OWNERS: readonly [start: string, rows: string, kind: keyof CountryFigures][] = [
  ['member', 'members', 'size of a membership'],
  ['production', 'production_entries', 'size of a delivery'],
  ['loan', 'loans', 'size of a loan'],
  ['payment', 'payments', 'size of a payment'],
  ['savings', 'savings_transactions', 'size of a savings transaction'],
  ['events', 'events', 'size of an event'],
];

const bytesOf = (file: string): number => statSync(file).size;

/** Bytes of all files of a registry, logs included: the database, and the others. */
export function fileSizes({ folder, databaseFile }: Country): { database: number; others: number } {
  const others = readdirSync(folder)
    .filter((name) => name.startsWith('registry.') && name !== 'registry.db')
    .reduce((sum, name) => sum + bytesOf(join(folder, name)), 0);
  return { database: bytesOf(databaseFile), others };
}

/** Bytes of pages by the table that they belong to. It reads every page. */
function pagesOf(db: Database.Database): { table: string; bytes: number }[] {
  const sql = `SELECT coalesce(s.tbl_name, d.name) AS "table", sum(d.pgsize) AS bytes FROM dbstat d
    LEFT JOIN sqlite_schema s ON s.name = d.name WHERE d.aggregate = 1 GROUP BY 1`;
  return db.prepare<[], { table: string; bytes: number }>(sql).all();
}

/** Bytes of a row of each kind, with its share of indexes, totals and the read model. */
export function rowSizes({ databaseFile }: Country): CountryFigures {
  const db = new Database(databaseFile, { readonly: true });
  try {
    const pages = pagesOf(db);
    const entries = OWNERS.map(([start, rows, kind]) => {
      const bytes = pages
        .filter(({ table }) => table.startsWith(start))
        .reduce((sum, each) => sum + each.bytes, 0);
      const count = db.prepare(`SELECT count(*) FROM ${rows}`).pluck().get() as number;
      return [kind, bytes / count];
    });
    return Object.fromEntries(entries) as CountryFigures;
  } finally {
    db.close();
  }
}

/** How many people hold the memberships. */
export function countPersons({ databaseFile }: Country): number {
  const db = new Database(databaseFile, { readonly: true });
  try {
    return db.prepare('SELECT count(DISTINCT identity_card) FROM members').pluck().get() as number;
  } finally {
    db.close();
  }
}

/** What the access ledger has: bytes of its pages, and readings; nothing before the first one. */
export function ledgerSize({ databaseFile }: Country): { bytes: number; readings: number } {
  const folder = databaseFile.replace(/\.db$/, '.ledger');
  const [name] = existsSync(folder) ? readdirSync(folder).filter((each) => each.endsWith('.db')) : [];
  if (name === undefined) return { bytes: 0, readings: 0 };
  const db = new Database(join(folder, name), { readonly: true });
  try {
    const value = (sql: string) => (db.prepare(sql).pluck().get() as number | null) ?? 0;
    return {
      bytes: value("SELECT sum(pgsize) FROM dbstat WHERE name <> 'ledger_reserve'"),
      readings: value('SELECT sum(count) FROM ledger_batches'),
    };
  } finally {
    db.close();
  }
}
