/** Import sessions of SQLite, and what they import, do what those of every engine must do. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../../support/app.ts';
import { storageAt } from '../../support/storage.ts';
import { testEntries } from '../conformance/entries.ts';
import type { ImportPlace } from '../conformance/import-rows.ts';
import { testImportSession } from '../conformance/import-session.ts';

function open(context: TestContext): ImportPlace {
  const storage = storageAt(join(temporaryFolder(context), 'registry.db'));
  const registry = storage.openRegistry();
  context.after(() => registry.close());
  return {
    registry,
    openSession: () => storage.openImportSession(),
    openJournal: () => storage.openJournal(),
    openHistory: () => storage.openHistory(),
  };
}

testImportSession('SQLite', open);
testEntries('SQLite', open);
