/** How events leave the registry: from the beginning, when they are too old, a bounded number at a time. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { openImportSession } from '../../../src/import/staging/import-session.ts';
import { openJournal } from '../../../src/journal/undo.ts';
import { EVENT_RETENTION_DAYS } from '../../../src/registry/changes/record-changes.ts';
import { temporaryFolder } from '../../support/app.ts';
import { openFile, openStore } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import { accepted, NOW, person, RECORD } from '../conformance/import-rows.ts';
import { COOPERATIVE } from '../conformance/sample.ts';

const RETENTION = EVENT_RETENTION_DAYS * 86_400;

interface Stored {
  readonly sequence: number;
  readonly at: number;
}

function open(context: TestContext) {
  const file = join(temporaryFolder(context), 'registry.db');
  const store = openStore(file);
  const db = openFile(file);
  context.after(() => {
    db.close();
    return store.close();
  });
  const events = () => db.raw.prepare('SELECT sequence, at FROM events ORDER BY sequence').all() as Stored[];
  /** Events of before, as a registry in use has them. */
  const add = (count: number, at: number) =>
    db.exec(`INSERT INTO events (type, row_id, cooperative_id, fields, at, actor)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      SELECT 1, 1, 1, 1, ${at}, 4 FROM n`);
  return { file, store, events, add };
}

test('a write removes at most four events that are too old', async (context) => {
  const { store, events, add } = open(context);
  add(10, NOW - RETENTION);
  add(3, NOW - RETENTION + 1);
  await store.cooperatives.create(COOPERATIVE, NOW, 'key:1');
  const sequences = () => events().map(({ sequence }) => sequence);
  assert.deepEqual(sequences(), [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  for (const name of ['One', 'Two', 'Three'])
    await store.cooperatives.update(1, (stored) => ({ ...stored, name }), NOW, 'key:1');
  assert.deepEqual(sequences(), [11, 12, 13, 14, 15, 16, 17]);
});

test('an import and its undo remove at most as many as they append', async (context) => {
  const { file, store, events, add } = open(context);
  await store.cooperatives.create(COOPERATIVE, NOW - RETENTION, 'key:1');
  add(30, NOW - RETENTION);
  const session = openImportSession(storageAt(file));
  const rows = Array.from({ length: 12 }, (_, n) => person(n));
  const { importId } = await (await accepted(session, 'members', rows)).apply(NOW, RECORD);
  await session.close();
  assert.deepEqual([events()[0]?.sequence, events().length], [13, 31]);
  const log = openJournal(storageAt(file));
  assert.equal((await log.undo(importId, 20, { systemUser: 'tester', nowSeconds: NOW })).outcome, 'undone');
  await log.close();
  assert.deepEqual([events()[0]?.sequence, events().length], [25, 31]);
});

test('the newest event stays however old it is, and no number is used again', async (context) => {
  const { store, events, add } = open(context);
  add(3, 1);
  await store.cooperatives.create(COOPERATIVE, 2, 'key:1');
  const later = 10 * RETENTION;
  await store.cooperatives.update(1, (stored) => ({ ...stored, name: 'New' }), later, 'key:1');
  await store.cooperatives.update(1, (stored) => ({ ...stored, name: 'Newer' }), later, 'key:1');
  assert.deepEqual(events(), [
    { sequence: 5, at: later },
    { sequence: 6, at: later },
  ]);
});

test('whatever the clock does, what stays is the end of the sequence, and nothing young is removed', async (context) => {
  const times = fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 5, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(times, async (days) => {
      const { store, events } = open(context);
      const all: Stored[] = [];
      let name = 0;
      for (const day of days) {
        const now = NOW + day * 86_400;
        const before = events();
        if (all.length === 0) await store.cooperatives.create(COOPERATIVE, now, 'key:1');
        else
          await store.cooperatives.update(1, (stored) => ({ ...stored, name: `N${++name}` }), now, 'key:1');
        all.push({ sequence: all.length + 1, at: now });
        const after = events();
        assert.deepEqual(after, all.slice(-after.length));
        const removed = before.filter(({ sequence }) => sequence < (after[0] as Stored).sequence);
        assert.ok(removed.length <= 4);
        assert.ok(removed.every(({ at }) => at <= now - RETENTION));
        const isStuck = removed.length < 4 && (after[0] as Stored).at <= now - RETENTION;
        assert.ok(!isStuck, 'Something too old stayed.');
      }
    }),
    { numRuns: 20 },
  );
});
