/**
 * A statement that is compiled when it first runs. To compile the hundreds of a registry takes 15 ms,
 * whenever one is opened, and at the first request of each key that sees a few cooperatives only.
 */
import type Database from 'better-sqlite3';

export class LateStatement {
  private readonly compile: () => Database.Statement;
  private compiled: Database.Statement | undefined;

  /** @param compile may throw, and is then called again by the next run */
  constructor(compile: () => Database.Statement) {
    this.compile = compile;
  }

  private get statement(): Database.Statement {
    this.compiled ??= this.compile();
    return this.compiled;
  }

  get(...params: unknown[]): unknown {
    return this.statement.get(...params);
  }

  all(...params: unknown[]): unknown[] {
    return this.statement.all(...params);
  }

  iterate(...params: unknown[]): IterableIterator<unknown> {
    return this.statement.iterate(...params);
  }

  run(...params: unknown[]): Database.RunResult {
    return this.statement.run(...params);
  }
}
