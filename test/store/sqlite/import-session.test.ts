/** The import session of SQLite does what that of every engine must do. */
import { join } from 'node:path';
import { temporaryFolder } from '../../support/app.ts';
import { storageAt } from '../../support/storage.ts';
import { testImportSession } from '../conformance/import-session.ts';

testImportSession('SQLite', (context) => {
  const storage = storageAt(join(temporaryFolder(context), 'registry.db'));
  const registry = storage.openRegistry();
  context.after(() => registry.close());
  return {
    registry,
    openSession: () => storage.openImportSession(),
    openImportLog: () => storage.openImportLog(),
    openHistory: () => storage.openHistory(),
  };
});
