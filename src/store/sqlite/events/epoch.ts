/** The epoch of the sequence of changes (docs/api.md#events). */
import type { Connection } from '../engine/connection.ts';

/**
 * Gives a copy of a registry a new epoch. What was committed after the copy is lost, and its numbers are used
 * again for other changes: a follower must not continue. Of copies of the registry, this is the newest from
 * then on. Does nothing to a file without a sequence.
 */
export function renewEpoch(db: Connection): void {
  if (!db.has("sqlite_schema WHERE name = 'feed'")) return;
  db.exec('UPDATE feed SET epoch = lower(hex(randomblob(8)))');
  if (hasGeneration(db)) db.exec('UPDATE feed SET generation = generation + 1');
}

/** An older release has none. */
export const hasGeneration = (db: Pick<Connection, 'has'>): boolean =>
  db.has("pragma_table_info('feed') WHERE name = 'generation'");
