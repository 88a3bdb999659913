/** Transactions: all or nothing, savepoints undone by themselves, and no work that outlasts them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../support/app.ts';
import { type Connection, failStatement, openFile } from '../../support/sqlite.ts';

function open(context: TestContext): Connection {
  const db = openFile(join(temporaryFolder(context), 'notes.db'), { create: true });
  context.after(() => db.close());
  db.exec('CREATE TABLE notes (text)');
  return db;
}

const note = (db: Connection, text: string) => db.raw.prepare('INSERT INTO notes VALUES (?)').run(text);
const notes = (db: Connection) => db.raw.prepare('SELECT text FROM notes').pluck().all();

test('a transaction keeps everything of its work or nothing', (context) => {
  const db = open(context);
  assert.equal(
    db.transaction.immediate(() => note(db, 'kept').changes),
    1,
  );
  assert.throws(
    () =>
      db.transaction.immediate(() => {
        note(db, 'undone');
        throw new Error('otherwise');
      }),
    /otherwise/,
  );
  assert.deepEqual(notes(db), ['kept']);
  assert.equal(db.raw.inTransaction, false);
});

test('a savepoint undoes only its own part', (context) => {
  const db = open(context);
  db.transaction.immediate(() => {
    note(db, 'before');
    assert.throws(
      () =>
        db.transaction.savepoint(() => {
          note(db, 'undone');
          throw new Error('otherwise');
        }),
      /otherwise/,
    );
    db.transaction.savepoint(() => note(db, 'after'));
  });
  assert.deepEqual(notes(db), ['before', 'after']);
});

test('work that returns a promise, or anything with a then, is refused and undone', (context) => {
  const db = open(context);
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what is refused
  for (const later of [Promise.resolve(1), { then: () => {} }]) {
    for (const kind of ['immediate', 'deferred', 'savepoint'] as const) {
      const run = () =>
        db.transaction[kind](() => {
          if (kind !== 'deferred') note(db, 'undone');
          return later;
        });
      assert.throws(
        kind === 'savepoint' ? () => db.transaction.immediate(run) : run,
        /must not return a promise/,
      );
      assert.equal(db.raw.inTransaction, false);
    }
  }
  assert.deepEqual(notes(db), []);
});

test('when a part cannot be undone, nothing of the transaction is kept', (context) => {
  const db = open(context);
  failStatement(db, 'ROLLBACK TO part', () => {
    throw new Error('cannot undo');
  });
  const whole = () =>
    db.transaction.immediate(() => {
      note(db, 'before');
      try {
        db.transaction.savepoint(() => {
          note(db, 'undone');
          throw new Error('otherwise');
        });
      } catch {
        // As the group commit does: the other writes of the transaction go on.
      }
    });
  assert.throws(whole, /could not be undone/);
  assert.deepEqual(notes(db), []);
});

test('a rollback that fails hides nothing, and no later transaction begins inside the open one', (context) => {
  const db = open(context);
  failStatement(db, 'ROLLBACK', () => {
    throw new Error('cannot roll back');
  });
  const failing = () =>
    db.transaction.immediate(() => {
      note(db, 'undone');
      throw new Error('otherwise');
    });
  assert.throws(failing, /otherwise/);
  assert.throws(() => db.transaction.immediate(() => note(db, 'later')), /within a transaction/);
  db.exec('ROLLBACK');
  assert.deepEqual(notes(db), []);
});
