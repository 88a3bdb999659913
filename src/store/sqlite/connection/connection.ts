/** Opens a SQLite file with the settings every connection must have, and reads them back. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';

/** SQLite before this can corrupt a WAL database that two processes use. */
const OLDEST_SQLITE = [3, 51, 3] as const;

export interface Statement<Params extends unknown[], Row> {
  get(...params: Params): Row | undefined;
  all(...params: Params): Row[];
  iterate(...params: Params): IterableIterator<Row>;
  run(...params: Params): { changes: number; lastInsertRowid: number | bigint };
}

export interface OpenOptions {
  /**
   * How long SQLite may block the thread while another process holds the lock. 0 in the server, whose event
   * loop must not stop: its group commit tries again by timer.
   */
  readonly busyTimeoutMs: number;
  /** FILE only for an import's connection, so that its sorts take no memory. */
  readonly tempStore?: 'MEMORY' | 'FILE';
  readonly cacheKiB?: number;
  readonly create?: boolean;
}

/** How many rows a statement may touch at most, when its plan alone does not say so. */
export interface PreparedStatement {
  readonly sql: string;
  /** Why a sort, an aggregate, an OFFSET or a scan in it is bounded; undefined when there is none. */
  readonly bound: string | undefined;
}

const SETTINGS_KIB = 16 * 1024;
const JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024;

/** The settings of every connection, and what reading them back must give. */
function settings(options: OpenOptions): [name: string, set: string, readBack: number | string][] {
  return [
    ['busy_timeout', String(options.busyTimeoutMs), options.busyTimeoutMs],
    ['journal_mode', 'WAL', 'wal'],
    // FULL: with NORMAL a power cut takes back writes that were acknowledged.
    ['synchronous', 'FULL', 2],
    ['foreign_keys', 'ON', 1],
    ['trusted_schema', 'OFF', 0],
    ['cell_size_check', 'ON', 1],
    ['temp_store', options.tempStore ?? 'MEMORY', options.tempStore === 'FILE' ? 1 : 2],
    ['secure_delete', 'ON', 1],
    ['journal_size_limit', String(JOURNAL_SIZE_LIMIT), JOURNAL_SIZE_LIMIT],
    ['cache_size', String(-(options.cacheKiB ?? SETTINGS_KIB)), -(options.cacheKiB ?? SETTINGS_KIB)],
  ];
}

/** A connection that knows every statement prepared on it, so that a test can look at their plans. */
export class Connection {
  readonly raw: Database.Database;
  readonly prepared: PreparedStatement[] = [];
  private readonly options: OpenOptions;

  constructor(raw: Database.Database, options: OpenOptions) {
    this.raw = raw;
    this.options = options;
  }

  /**
   * @param bound why the statement touches few rows, when it sorts, aggregates, skips or scans
   */
  prepare<Params extends unknown[], Row = unknown>(sql: string, bound?: string): Statement<Params, Row> {
    this.prepared.push({ sql, bound });
    return this.raw.prepare(sql) as unknown as Statement<Params, Row>;
  }

  /** A statement whose rows are arrays, in the order of its columns: half the time of objects where rows are many. */
  prepareTuples<Params extends unknown[], Row extends readonly unknown[]>(
    sql: string,
    bound?: string,
  ): Statement<Params, Row> {
    this.prepared.push({ sql, bound });
    return this.raw.prepare(sql).raw() as unknown as Statement<Params, Row>;
  }

  exec(sql: string): void {
    this.raw.exec(sql);
  }

  /** Runs the work in one IMMEDIATE transaction: a deferred one that reads first may fail when it writes. */
  immediately<T>(work: () => T): T {
    return this.raw.transaction(work).immediate();
  }

  /** Settings that do not read back as they were set, as `name: value`. Empty when all hold. */
  wrongSettings(): string[] {
    return settings(this.options)
      .map(([name, , expected]) => ({ name, expected, actual: this.raw.pragma(name, { simple: true }) }))
      .filter(({ expected, actual }) => actual !== expected)
      .map(({ name, actual }) => `${name}: ${actual}`);
  }

  close(): void {
    this.raw.close();
  }
}

/** The file does not exist, is no database, or cannot be used; the message says what to do. */
export class DatabaseFileError extends Error {}

/**
 * Opens a database file; with `create` a missing one is made, readable by its owner alone: it holds national IDs.
 * @throws DatabaseFileError
 */
export function openDatabase(file: string, options: OpenOptions): Connection {
  if (!existsSync(file)) {
    if (options.create !== true) throw new DatabaseFileError(`There is no database at ${file}.`);
    createEmpty(file);
  }
  let raw: Database.Database;
  try {
    raw = new Database(file, { timeout: options.busyTimeoutMs });
  } catch (error) {
    throw new DatabaseFileError(`${file} cannot be opened: ${(error as Error).message}.`);
  }
  try {
    assertVersion(raw);
    for (const [name, value] of settings(options)) raw.pragma(`${name} = ${value}`);
    const connection = new Connection(raw, options);
    const wrong = connection.wrongSettings();
    if (wrong.length > 0) throw new Error(`settings do not hold (${wrong.join(', ')})`);
    return connection;
  } catch (error) {
    raw.close();
    if (error instanceof DatabaseFileError || isBusy(error)) throw error;
    throw new DatabaseFileError(`${file} cannot be used as a database: ${(error as Error).message}.`);
  }
}

function createEmpty(file: string): void {
  try {
    createFolder(dirname(file));
    // SQLite gives the -wal and -shm files the mode of the database.
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw new DatabaseFileError(`${file} cannot be created: ${(error as Error).message}.`);
  }
}

/** Creates what is missing of a path, one folder after the other: mkdir of Node does not return from some that cannot be. */
function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  mkdirSync(folder);
}

function assertVersion(raw: Database.Database): void {
  const version = raw.prepare('SELECT sqlite_version()').pluck().get() as string;
  const parts = version.split('.').map(Number);
  const firstDifferent = OLDEST_SQLITE.findIndex((part, i) => parts[i] !== part);
  if (firstDifferent >= 0 && (parts[firstDifferent] as number) < (OLDEST_SQLITE[firstDifferent] as number)) {
    throw new DatabaseFileError(
      `SQLite ${version} is older than ${OLDEST_SQLITE.join('.')} and can corrupt the file.`,
    );
  }
}

const codeOf = (error: unknown): string => (error instanceof Database.SqliteError ? error.code : '');

/** Another process holds the lock. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

/** The disk took no more: nothing of the transaction was kept. */
export const isDiskFull = (error: unknown): boolean =>
  codeOf(error) === 'SQLITE_FULL' || codeOf(error).startsWith('SQLITE_IOERR_WRITE');

/** @returns what to tell the operator of a fault of the file or the disk; undefined for any other error */
export function describeFileFault(error: unknown): string | undefined {
  const code = codeOf(error);
  if (isDiskFull(error)) return 'The disk is full. Nothing was written.';
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') {
    return `The database file is damaged: ${(error as Error).message}. Bring back a copy.`;
  }
  return code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_READONLY') || isBusy(error)
    ? `The database file cannot be used: ${(error as Error).message}.`
    : undefined;
}
