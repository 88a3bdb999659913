/** An open SQLite database: statements, transactions and settings. */
import type Database from 'better-sqlite3';

/**
 * Milliseconds for which SQLite may block the thread while another process has the lock. A service must not
 * block its event loop: the group commit retries by timer. `opening` lets a migration wait for an import.
 */
export const WAIT_MS = { serving: 0, opening: 10_000, command: 10_000 } as const;

export interface ConnectionSettings {
  /** Prevents all writes, and leaves the journal mode of the file unchanged. */
  readonly readOnly?: boolean;
  /** FILE is only for commands that sort many rows, so that the sorts need no memory. */
  readonly tempStore?: 'MEMORY' | 'FILE';
  readonly cacheKiB?: number;
  /** FAST, for files without personal data, overwrites deleted data only if no extra page must be written. */
  readonly secureDelete?: 'ON' | 'FAST';
}

const CACHE_KIB = 16 * 1024;
/** Size to which SQLite truncates the file of the write-ahead log when it reuses the log from its start. */
const LOG_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Returns all pragmas except `busy_timeout`. import-session.ts has the pragmas of staging files. */
export function pragmasOf({
  readOnly = false,
  tempStore = 'MEMORY',
  cacheKiB = CACHE_KIB,
  secureDelete = 'ON',
}: ConnectionSettings) {
  const pragma = (name: string, value: string, expected: number | string) => ({ name, value, expected });
  return [
    // A read-only connection must not change the file: WAL mode would change a backup.
    ...(readOnly ? [] : [pragma('journal_mode', 'WAL', 'wal')]),
    // FULL, because with NORMAL a power cut loses acknowledged writes.
    pragma('synchronous', 'FULL', 2),
    pragma('foreign_keys', 'ON', 1),
    pragma('trusted_schema', 'OFF', 0),
    pragma('cell_size_check', 'ON', 1),
    pragma('temp_store', tempStore, tempStore === 'FILE' ? 1 : 2),
    pragma('secure_delete', secureDelete, secureDelete === 'FAST' ? 2 : 1),
    pragma('journal_size_limit', String(LOG_SIZE_LIMIT_BYTES), LOG_SIZE_LIMIT_BYTES),
    pragma('cache_size', String(-cacheKiB), -cacheKiB),
    pragma('query_only', readOnly ? 'ON' : 'OFF', readOnly ? 1 : 0),
  ];
}

// Statement that is compiled on its first run. Compiling all statements of a registry would take 15 ms, at
// each opening and at the first request of each API key that is limited to some cooperatives.

export class Statement<Params extends unknown[], Row> {
  private readonly compile: () => Database.Statement;
  private compiled: Database.Statement | undefined;

  constructor(compile: () => Database.Statement) {
    this.compile = compile;
  }

  private get statement(): Database.Statement {
    this.compiled ??= this.compile();
    return this.compiled;
  }

  get(...params: Params): Row | undefined {
    return this.statement.get(...params) as Row | undefined;
  }

  all(...params: Params): Row[] {
    return this.statement.all(...params) as Row[];
  }

  iterate(...params: Params): IterableIterator<Row> {
    return this.statement.iterate(...params) as IterableIterator<Row>;
  }

  run(...params: Params): Database.RunResult {
    return this.statement.run(...params);
  }
}

// The work of a transaction is synchronous: during an await, another request's write would run inside the
// transaction, and be undone with it.

export class Transactions {
  private readonly raw: Database.Database;
  private readonly statements = new Map<string, Database.Statement>();
  /** Error of a failed rollback to the savepoint, after which the transaction must not be committed. */
  private fault: unknown;

  constructor(raw: Database.Database) {
    this.raw = raw;
  }

  private run(sql: string): void {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.raw.prepare(sql);
      this.statements.set(sql, statement);
    }
    statement.run();
  }

  /**
   * Takes the write lock first, because a deferred transaction that has read may fail at its first write.
   * @throws errors of the work and of COMMIT, after which nothing of the work is stored
   */
  immediate<T>(work: () => T): T {
    this.run('BEGIN IMMEDIATE');
    return this.finish(work);
  }

  /** Runs reads in one snapshot, or runs writes to an attached file, without locking the database. */
  deferred<T>(work: () => T): T {
    this.run('BEGIN');
    return this.finish(work);
  }

  /** Runs a part of a transaction. @throws errors of the work; the caller must then undo the transaction */
  part<T>(work: () => T): T {
    return refusePromise(work());
  }

  /** Runs a part of a transaction. If the work throws, only its own changes are undone. */
  savepoint<T>(work: () => T): T {
    this.run('SAVEPOINT part');
    try {
      const value = refusePromise(work());
      this.run('RELEASE part');
      return value;
    } catch (error) {
      // SQLite itself ends the transaction after some errors, such as a full disk.
      if (this.raw.inTransaction) this.undo();
      throw error;
    }
  }

  private undo(): void {
    try {
      this.run('ROLLBACK TO part');
      this.run('RELEASE part');
    } catch (error) {
      this.fault ??= new Error('A part of the transaction could not be undone.', { cause: error });
    }
  }

  /** Begins a snapshot that remains after the call, until `endRead`. */
  beginRead(): void {
    this.run('BEGIN');
  }

  /** Ends the snapshot of `beginRead`. Never throws, because a failed read loses nothing. */
  endRead(): void {
    if (!this.raw.open || !this.raw.inTransaction) return;
    try {
      this.run('COMMIT');
    } catch {
      this.rollBack();
    }
  }

  private finish<T>(work: () => T): T {
    this.fault = undefined;
    try {
      const value = refusePromise(work());
      if (this.fault !== undefined) throw this.fault;
      this.run('COMMIT');
      return value;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  private rollBack(): void {
    if (!this.raw.inTransaction) return;
    try {
      this.run('ROLLBACK');
    } catch {
      // The caller's error matters more. If this transaction stays open, SQLite refuses to begin another.
    }
  }
}

function refusePromise<T>(value: T): T {
  if (typeof (value as { then?: unknown } | null | undefined)?.then === 'function')
    throw new TypeError('The work of a transaction must not return a promise.');
  return value;
}

type Parameters = readonly unknown[] | { readonly [name: string]: unknown };

export interface PreparedStatement {
  readonly sql: string;
  readonly bound: string | undefined;
}

/**
 * Replaces each parameter `@x` of a SELECT by the expression `+@x`. Otherwise SQLite would plan the statement
 * again for each value of the parameter, which takes 10 to 60 µs.
 */
const withFixedPlan = (sql: string): string =>
  /^\s*(?:SELECT|WITH)\b/i.test(sql)
    ? sql.replace(/'[^']*'|\?|@\w+/g, (part) => (part.startsWith("'") ? part : `+${part}`))
    : sql;

export class Connection {
  readonly raw: Database.Database;
  readonly transaction: Transactions;
  /** For a test, which inspects the plans of the statements. */
  readonly prepared: PreparedStatement[] = [];
  private readonly settings: ConnectionSettings;

  constructor(raw: Database.Database, settings: ConnectionSettings) {
    this.raw = raw;
    this.settings = settings;
    this.transaction = new Transactions(raw);
  }

  /** @param bound reason why the statement reads few rows; required for a sort, aggregate, OFFSET or scan */
  prepare<Params extends unknown[], Row = unknown>(sql: string, bound?: string): Statement<Params, Row> {
    const planned = this.planned(sql, bound);
    return new Statement(() => this.raw.prepare(planned));
  }

  /** Prepares a statement whose rows are arrays in column order, which is faster for many rows. */
  prepareTuples<Params extends unknown[], Row extends readonly unknown[]>(
    sql: string,
    bound?: string,
  ): Statement<Params, Row> {
    const planned = this.planned(sql, bound);
    return new Statement(() => this.raw.prepare(planned).raw());
  }

  private planned(text: string, bound: string | undefined): string {
    const sql = withFixedPlan(text);
    this.prepared.push({ sql, bound });
    return sql;
  }

  exec(sql: string): void {
    this.raw.exec(sql);
  }

  /** Compiles and runs a statement, like the methods below. Use `prepare` for statements that run often. */
  run(sql: string, params: Parameters = []): Database.RunResult {
    return this.raw.prepare(sql).run(params);
  }

  row<Row>(sql: string, params: Parameters = []): Row | undefined {
    return this.raw.prepare(sql).get(params) as Row | undefined;
  }

  rows<Row>(sql: string, params: Parameters = []): Row[] {
    return this.raw.prepare(sql).all(params) as Row[];
  }

  /** Yields one row at a time. The caller must read the last row before the connection writes anything. */
  iterate<Row>(sql: string, params: Parameters = []): IterableIterator<Row> {
    return this.raw.prepare(sql).iterate(params) as IterableIterator<Row>;
  }

  /** Returns a function that reads rows, for repeated use within one operation. */
  prepareOnce<Row>(sql: string): (params: Parameters) => Row[] {
    const statement = this.raw.prepare(sql);
    return (params) => statement.all(params) as Row[];
  }

  /** Returns the first column of the first row. If there may be no row, `T` must include undefined. */
  value<T>(sql: string, params: Parameters = []): T {
    return this.raw.prepare(sql).pluck().get(params) as T;
  }

  /** Returns the first column of every row. */
  values<T>(sql: string, params: Parameters = []): T[] {
    return this.raw.prepare(sql).pluck().all(params) as T[];
  }

  /** @param rows SQL after FROM */
  count(rows: string, params: Parameters = []): number {
    return this.value(`SELECT count(*) FROM ${rows}`, params);
  }

  /** @param rows SQL after FROM */
  has(rows: string): boolean {
    return this.row(`SELECT 1 FROM ${rows} LIMIT 1`) !== undefined;
  }

  setLockTimeout(waitMs: number): void {
    this.raw.pragma(`busy_timeout = ${waitMs}`);
  }

  /** Lists the settings that SQLite did not accept, as `name: value in SQLite`. */
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
