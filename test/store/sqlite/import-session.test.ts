/** The import session on SQLite: what every engine must do, and what only this one does. */
import { join } from 'node:path';
import { openImportSession } from '../../../src/store/sqlite/import/session.ts';
import { openSqliteStore } from '../../../src/store/sqlite/storage.ts';
import { BLOCKS, temporaryFolder, testClock } from '../../support/app.ts';
import { testImportSession } from '../conformance/import-session.ts';

testImportSession('SQLite', (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  const { monotonicMs } = testClock();
  const registry = openSqliteStore({ file, blocks: BLOCKS, monotonicMs });
  context.after(() => registry.close());
  return { registry, openSession: () => openImportSession(file, BLOCKS, monotonicMs) };
});
