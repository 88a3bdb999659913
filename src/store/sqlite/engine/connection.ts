/** One open SQLite file: its statements, transactions and settings. */
import type Database from 'better-sqlite3';
import { LateStatement } from './late-statement.ts';
import { type ConnectionSettings, pragmasOf } from './pragmas.ts';
import { Transactions } from './transaction.ts';

export interface Statement<Params extends unknown[], Row> {
  get(...params: Params): Row | undefined;
  all(...params: Params): Row[];
  iterate(...params: Params): IterableIterator<Row>;
  run(...params: Params): { changes: number; lastInsertRowid: number | bigint };
}

/** In the order of their signs, or by name. */
type Parameters = readonly unknown[] | { readonly [name: string]: unknown };

/** How many rows a statement may touch at most, when its plan does not show it. */
export interface PreparedStatement {
  readonly sql: string;
  /** Why a sort, an aggregate, an OFFSET or a scan in it is bounded; undefined when it has none of these. */
  readonly bound: string | undefined;
}

/**
 * Of a SELECT, with a sign before each parameter. Where SQLite plans by the value of a parameter, as it may
 * with an ORDER BY or a LIMIT, it plans again for every execution, for 10 to 60 µs; by an expression it does
 * not, and the sign changes no value.
 */
const withFixedPlan = (sql: string): string =>
  /^\s*(?:SELECT|WITH)\b/i.test(sql)
    ? sql.replace(/'[^']*'|\?|@\w+/g, (part) => (part.startsWith("'") ? part : `+${part}`))
    : sql;

/** A connection that knows every statement prepared on it, so that a test can look at their plans. */
export class Connection {
  readonly raw: Database.Database;
  readonly transaction: Transactions;
  readonly prepared: PreparedStatement[] = [];
  private readonly settings: ConnectionSettings;

  constructor(raw: Database.Database, settings: ConnectionSettings) {
    this.raw = raw;
    this.settings = settings;
    this.transaction = new Transactions(raw);
  }

  /** @param bound why the statement touches few rows, when it sorts, aggregates, skips or scans */
  prepare<Params extends unknown[], Row = unknown>(sql: string, bound?: string): Statement<Params, Row> {
    const planned = this.planned(sql, bound);
    return new LateStatement(() => this.raw.prepare(planned)) as unknown as Statement<Params, Row>;
  }

  /** A statement whose rows are arrays in the order of its columns: faster where rows are many. */
  prepareTuples<Params extends unknown[], Row extends readonly unknown[]>(
    sql: string,
    bound?: string,
  ): Statement<Params, Row> {
    const planned = this.planned(sql, bound);
    return new LateStatement(() => this.raw.prepare(planned).raw()) as unknown as Statement<Params, Row>;
  }

  private planned(text: string, bound: string | undefined): string {
    const sql = withFixedPlan(text);
    this.prepared.push({ sql, bound });
    return sql;
  }

  exec(sql: string): void {
    this.raw.exec(sql);
  }

  /** Runs a statement once, as the following do; one that runs often is prepared. */
  run(sql: string, params: Parameters = []): Database.RunResult {
    return this.raw.prepare(sql).run(params);
  }

  row<Row>(sql: string, params: Parameters = []): Row | undefined {
    return this.raw.prepare(sql).get(params) as Row | undefined;
  }

  rows<Row>(sql: string, params: Parameters = []): Row[] {
    return this.raw.prepare(sql).all(params) as Row[];
  }

  /** One row after the other: nothing may be written until the last was read. */
  iterate<Row>(sql: string, params: Parameters = []): IterableIterator<Row> {
    return this.raw.prepare(sql).iterate(params) as IterableIterator<Row>;
  }

  /** @returns what reads the rows for the values of its parameters, in one piece of work */
  prepareOnce<Row>(sql: string): (params: Parameters) => Row[] {
    const statement = this.raw.prepare(sql);
    return (params) => statement.all(params) as Row[];
  }

  /** The first column of the first row. @returns undefined without a row: `T` says whether that can be */
  value<T>(sql: string, params: Parameters = []): T {
    return this.raw.prepare(sql).pluck().get(params) as T;
  }

  /** The first column of every row. */
  values<T>(sql: string, params: Parameters = []): T[] {
    return this.raw.prepare(sql).pluck().all(params) as T[];
  }

  /** @param rows what follows FROM */
  count(rows: string, params: Parameters = []): number {
    return this.value(`SELECT count(*) FROM ${rows}`, params);
  }

  /** Whether there is a row. @param rows what follows FROM */
  has(rows: string): boolean {
    return this.row(`SELECT 1 FROM ${rows} LIMIT 1`) !== undefined;
  }

  /** Sets how many milliseconds SQLite may block the thread while another process holds the lock. */
  waitForLock(waitMs: number): void {
    this.raw.pragma(`busy_timeout = ${waitMs}`);
  }

  /**
   * Empties the write-ahead log of the main file as far as readers allow, without making other writers wait.
   * @param waitMs for another process's lock, from then on
   */
  emptyLog(waitMs: number): void {
    // The first copies and takes no lock; the second then has only the file to cut, or gives up at once.
    this.raw.pragma('main.wal_checkpoint(PASSIVE)');
    this.waitForLock(0);
    try {
      this.raw.pragma('main.wal_checkpoint(TRUNCATE)');
    } finally {
      this.waitForLock(waitMs);
    }
  }

  /** Settings that do not read back as they were set, as `name: value`. Empty when all are right. */
  wrongSettings(): string[] {
    return pragmasOf(this.settings)
      .map(({ name, expected }) => ({ name, expected, actual: this.raw.pragma(name, { simple: true }) }))
      .filter(({ expected, actual }) => actual !== expected)
      .map(({ name, actual }) => `${name}: ${actual}`);
  }

  close(): void {
    this.raw.close();
  }
}
