/** The sequence of changes of an open registry: read, and waited for. */
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Visible } from '../../../domain/access/visible.ts';
import type { EventType } from '../../../domain/events.ts';
import type { EventStore } from '../../contract/events.ts';
import type { Connection } from '../engine/connection.ts';
import type { ReadSnapshot } from '../engine/read-snapshot.ts';
import { openFeed } from './feed.ts';
import { openImportEvents } from './import-events.ts';
import { WaitingFollowers } from './waiting.ts';

/** Counted in one iteration of the event loop: about 2 ms. */
const COUNTED_AT_ONCE = 5_000;

/** Also notified of each commit of its own process. */
export interface SqliteEvents {
  narrowedTo(visible: Visible): EventStore;
  onCommit(): void;
  endWaits(): void;
}

export function openEvents(db: Connection, snapshot: ReadSnapshot): SqliteEvents {
  const feed = openFeed(db);
  const imports = openImportEvents(db);
  const followers = new WaitingFollowers({
    feed,
    read(work) {
      try {
        return snapshot.read(work);
      } finally {
        // Requests that arrive later must see what was committed until then.
        snapshot.end();
      }
    },
  });
  let isEnded = false;
  const endWaits = (): void => {
    isEnded = true;
    followers.end();
  };
  return {
    narrowedTo: (visible) => ({
      read: (request) => snapshot.read(() => feed.read({ ...request, visible })),
      wait(given, waitMs, whenLeft) {
        const request = { ...given, visible };
        const page = snapshot.read(() => feed.read(request));
        if (page.events.length > 0 || waitMs <= 0 || isEnded) return page;
        return followers.add({ ...request, after: page.lastSequence }, page, waitMs, whenLeft);
      },
      findImport: (event) => snapshot.read(() => imports.findImport(event)),
      async countByType(first, last) {
        const counts = new Map<EventType, number>();
        for (let from = first; from <= last; from += COUNTED_AT_ONCE) {
          const to = Math.min(last, from + COUNTED_AT_ONCE - 1);
          snapshot.read(() => imports.addCounts(counts, from, to, visible));
          await nextIteration();
        }
        return counts;
      },
      endWaits,
    }),
    endWaits,
    onCommit: followers.wake,
  };
}
