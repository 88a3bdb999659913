/** The order of the events of one import, however it writes, and where others wrote since its check. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openImportSession } from '../../../src/import/staging/import-session.ts';
import type { ImportKind } from '../../../src/registry/file-columns.ts';
import { temporaryFolder } from '../../support/app.ts';
import { lastSequence, readEvents } from '../../support/event-feed.ts';
import { openFile, openStore } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import { accepted, type Cells, NOW, nid, RECORD, start } from '../conformance/import-rows.ts';
import { memberOf } from '../conformance/sample.ts';

const member = (n: number, more: Cells = {}): Cells => ({
  ...{ cooperative_code: 'B-2', identity_card: nid(n), member_code: `M-${n}`, full_name: 'Mugabo' },
  ...more,
});

/** Has two cooperatives and three members of the first. */
async function openPlace(context: TestContext) {
  const file = join(temporaryFolder(context), 'registry.db');
  const storage = storageAt(file);
  await start({ openSession: () => openImportSession(storage) });
  const session = openImportSession(storage);
  const db = openFile(file);
  context.after(async () => {
    db.close();
    await session.close();
  });
  /** @returns its events */
  const load = async (kind: ImportKind, rows: readonly Cells[], beside?: () => Promise<unknown>) => {
    const last = lastSequence(db);
    const checked = await accepted(session, kind, rows);
    await beside?.();
    await checked.apply(NOW, RECORD);
    return readEvents(db, last);
  };
  return { file, load };
}

test('an import that was checked before others wrote appends what it changed in the end', async (context) => {
  const { file, load } = await openPlace(context);
  const registry = openStore(file);
  context.after(() => registry.close());
  const named = (n: number): Cells => member(n, { cooperative_code: 'A-1' });
  const events = await load('members', [named(1), named(21), named(2), named(22)], async () => {
    await registry.members.create(memberOf(40), NOW, 'key:7');
    // As the file will have it.
    await registry.members.update(1, (stored) => ({ ...stored, fullName: 'Mugabo' }), NOW, 'key:7');
  });
  assert.deepEqual(events, [
    'member.created 4 of 1 [] by key:7',
    'member.updated 1 of 1 [full_name] by key:7',
    'member.created 5 of 1 [] by import:3',
    'member.created 6 of 1 [] by import:3',
    'member.updated 2 of 1 [full_name] by import:3',
  ]);
});

test('an import that rebuilds indexes appends each row once, new ones first, in order of id', {
  timeout: 120_000,
}, async (context) => {
  const { load } = await openPlace(context);
  const many = 10_500;
  const members = Array.from({ length: many }, (_, n) => member(n));
  assert.deepEqual(
    await load('members', members),
    members.map((_, n) => `member.created ${4 + n} of 2 [] by import:3`),
  );
  // Each member has several deliveries, the last members first.
  const deliveries = Array.from({ length: many }, (_, n) => ({
    ...{ cooperative_code: 'B-2', member_code: `M-${(many - 1 - n) % 4_000}`, reference: `P-${n}` },
    ...{ delivered_at: NOW - 86_400, kg: 1 },
  }));
  assert.deepEqual(
    await load('production', deliveries),
    Array.from({ length: 4_000 }, (_, n) => `member.updated ${4 + n} of 2 [production_summary] by import:4`),
  );
  const again = [
    member(7, { full_name: 'Keza' }),
    ...members.slice(20, 22),
    member(3, { gender: 'MALE' }),
    member(0, { identity_card: nid(many), member_code: 'M-new' }),
    member(1, { full_name: 'Keza' }),
  ];
  assert.deepEqual(await load('members', again), [
    `member.created ${4 + many} of 2 [] by import:5`,
    'member.updated 5 of 2 [full_name] by import:5',
    'member.updated 7 of 2 [gender] by import:5',
    'member.updated 11 of 2 [full_name] by import:5',
  ]);
});
