/** The undo of a typed row that has given one membership of a person another national ID. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openImportSession } from '../../../src/import/staging/import-session.ts';
import { openJournal } from '../../../src/journal/undo.ts';
import { temporaryFolder } from '../../support/app.ts';
import { createEmptyRegistry } from '../../support/empty-registry.ts';
import { nid } from '../../support/importing.ts';
import { storageAt } from '../../support/storage.ts';
import { check, NOW, RECORD, SKIPPING } from '../conformance/import-rows.ts';

test('it is undone as that of a file is, though the person has the old number in another cooperative', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  createEmptyRegistry(file);
  const storage = storageAt(file);
  let now = NOW;
  const enter = async (
    kind: 'cooperatives' | 'members',
    rows: Parameters<typeof check>[2],
    isTyped = false,
  ) => {
    const session = openImportSession(storage);
    const checked = await check(session, kind, rows, { ...SKIPPING, overwritesCorrections: true });
    assert.ok(!checked.isRefused, kind);
    const record = isTyped ? { ...RECORD, isEntered: true as const } : RECORD;
    const { importId } = await checked.apply(++now, record);
    await session.close();
    return importId;
  };
  const cooperative = (code: string) => ({ code, name: code });
  await enter('cooperatives', [cooperative('A-1'), cooperative('B-2')]);
  const member = (cooperative_code: string, identity_card: string) => ({
    ...{ cooperative_code, identity_card, member_code: 'M-1', full_name: 'Keza Aline', status: 'active' },
    registration_date: NOW,
  });
  await enter('members', [member('A-1', nid(1)), member('B-2', nid(1))]);
  for (const isTyped of [false, true]) {
    const id = await enter('members', [member('A-1', nid(5))], isTyped);
    const journal = openJournal(storage);
    const result = await journal.undo(id, 20, { systemUser: 'tester', nowSeconds: ++now });
    await journal.close();
    assert.equal(result.outcome, 'undone', JSON.stringify(result));
  }
});
