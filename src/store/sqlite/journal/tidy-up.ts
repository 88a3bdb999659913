/** What follows the commit of an operation or of its undo. */
import type { Connection } from '../engine/connection.ts';
import { isBusy, isDiskFull } from '../engine/errors.ts';
import { WAIT_MS } from '../engine/pragmas.ts';
import type { ReadModelFormat } from '../read-model/columns.ts';
import { letOthersWrite, refreshStale } from '../read-model/refresh.ts';
import { indexNames } from '../search/index-names.ts';

/**
 * Indexes new names, refreshes the read model and empties the log. All rows are committed; a busy lock or a
 * full disk from here on is not a failure.
 * @returns any other error: thrown, it would mean that nothing was written
 */
export function tidyUp(db: Connection, format: ReadModelFormat, nowSeconds: number): unknown {
  try {
    indexNames(db, { pause: letOthersWrite });
    refreshStale(db, format, { nowSeconds, pause: letOthersWrite });
    // Outside the lock: the log of a large import would stay as large as the import.
    db.emptyLog(WAIT_MS.command);
    return undefined;
  } catch (error) {
    // What is still stale is computed by lookups, searches wait for names, and the check counts both.
    return isBusy(error) || isDiskFull(error) ? undefined : error;
  }
}
