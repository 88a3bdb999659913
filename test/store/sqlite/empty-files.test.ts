/** A power cut while a database is created leaves it empty: to whoever reads, it is not there yet. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { temporaryFolder } from '../../support/app.ts';
import { command } from '../../support/command.ts';
import { copyRegistry } from '../../support/sample-registry.ts';

/** As SQLite leaves a file whose log was lost: a header, and no table. */
function leaveEmpty(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.close();
}

const COMMANDS: readonly (readonly [status: number, ...line: string[]])[] = [
  [0, 'check'],
  [0, 'backup', 'BACKUP'],
  [0, 'ledger', 'verify'],
  [0, 'ledger', 'person', '1198079244288038'],
  [0, 'webhooks', 'list'],
  [0, 'persons', 'show', '1198079244288038'],
];

test('a database that a power cut left empty is not there yet', async (context) => {
  const folder = temporaryFolder(context);
  const db = await copyRegistry(folder);
  for (const [status, ...line] of COMMANDS) {
    for (const name of ['ledger', 'webhooks', 'erasures']) leaveEmpty(db.replace(/\.db$/, `.${name}.db`));
    const args = line.map((each) => (each === 'BACKUP' ? join(folder, 'backup') : each));
    const done = await command([...args, '--db', db]);
    assert.equal(done.status, status, `${line.join(' ')}: ${done.out}${done.err}`);
    if (line[1] === 'verify') assert.equal(done.out, 'Nothing has been recorded yet.\n');
  }
  const restored = await command(['restore', join(folder, 'backup'), '--db', join(folder, 'restored.db')]);
  assert.equal(restored.status, 0, restored.err);
  assert.equal((await command(['check', '--db', join(folder, 'restored.db')])).status, 0);
});
