/** The epoch of the sequence of changes (docs/api.md#events). */
import type { Connection } from '../engine/connection.ts';

/**
 * Gives a copy of a registry a new epoch. What was committed after the copy is lost, and its numbers are used
 * again for other changes: a follower must not continue. Does nothing to a file without a sequence.
 */
export function renewEpoch(db: Connection): void {
  const hasFeed = db.row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'feed'");
  if (hasFeed !== undefined) db.exec('UPDATE feed SET epoch = lower(hex(randomblob(8)))');
}
