/** The checks of a file once more, when the registry was changed since. */
import { isDeepStrictEqual } from 'node:util';
import { RegistryError } from '../../../domain/values/errors.ts';
import { resolveAndCheck } from './checks/run-checks.ts';
import { countChanges } from './staged/changes.ts';
import type { FileScope } from './staged/file-scope.ts';
import { hasNewStops, lastWarning } from './warnings/find-warnings.ts';

const CHANGED_VALUES = 'SELECT line, row_id, field, old, new FROM staging.changes';

/** What was checked without the lock is still right unless another writer committed: then it is repeated. */
export function checkAgain(scope: FileScope, compare: () => void, onlyAsShown: boolean): void {
  const { db } = scope;
  const shown = { ...countChanges(scope), values: db.count('staging.changes') };
  if (onlyAsShown)
    db.exec(`DROP TABLE IF EXISTS staging.shown; CREATE TABLE staging.shown AS ${CHANGED_VALUES}`);
  const before = db.value('SELECT coalesce(max(rowid), 0) FROM staging.faults');
  resolveAndCheck(scope);
  db.exec('DELETE FROM staging.resolved_references WHERE line NOT IN (SELECT line FROM staging.rows)');
  const isNewFault = `rowid > ${before} AND
    (refuses = 'file' OR line IN (SELECT line FROM staging.rows))`;
  if (db.count(`staging.faults WHERE ${isNewFault}`) === 0) {
    const lastSeen = lastWarning(db);
    compare();
    const found = { ...countChanges(scope), values: db.count('staging.changes') };
    const isAsShown = () =>
      isDeepStrictEqual(found, shown) && !db.has(`(${CHANGED_VALUES} EXCEPT SELECT * FROM staging.shown)`);
    // Nobody has seen a new one, and so nobody has accepted it.
    if (!hasNewStops(db, lastSeen) && (!onlyAsShown || isAsShown())) return;
  }
  throw new RegistryError(
    'unavailable',
    'The registry was changed while the file was checked and no longer agrees with it. Import it again.',
  );
}
