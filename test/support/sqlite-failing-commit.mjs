/** Loaded into a process before its program: commits of writes fail while the file FAILS_WHILE_EXISTS exists. */
import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';

const { prepare } = Database.prototype;
const writing = new WeakSet();

Database.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  const run = statement.run.bind(statement);
  if (sql === 'BEGIN IMMEDIATE') {
    statement.run = () => {
      run();
      writing.add(this);
    };
  }
  if (sql === 'COMMIT') {
    statement.run = () => {
      if (writing.delete(this) && existsSync(process.env.FAILS_WHILE_EXISTS ?? ''))
        throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
      run();
    };
  }
  return statement;
};
