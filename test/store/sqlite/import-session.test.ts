/** Import sessions of SQLite, and what they import, do what those of every engine must do. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openImportSession } from '../../../src/import/staging/import-session.ts';
import { openHistory } from '../../../src/journal/history-commands.ts';
import { openJournal } from '../../../src/journal/undo.ts';
import { openRegistry } from '../../../src/open-registry.ts';
import { temporaryFolder } from '../../support/app.ts';
import { storageAt } from '../../support/storage.ts';
import { testEntries } from '../conformance/entries.ts';
import type { ImportPlace } from '../conformance/import-rows.ts';
import { testImportSession } from '../conformance/import-session.ts';

function open(context: TestContext): ImportPlace {
  const storage = storageAt(join(temporaryFolder(context), 'registry.db'));
  const registry = openRegistry(storage);
  context.after(() => registry.close());
  return {
    registry,
    openSession: () => openImportSession(storage),
    openJournal: () => openJournal(storage),
    openHistory: () => openHistory(storage),
  };
}

testImportSession('SQLite', open);
testEntries('SQLite', open);
