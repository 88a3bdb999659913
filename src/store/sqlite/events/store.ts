/** The sequence of changes of an open registry: read, and waited for. */
import type { Visible } from '../../../domain/access/visible.ts';
import type { EventStore } from '../../ports/events.ts';
import type { Connection } from '../engine/connection.ts';
import type { ReadSnapshot } from '../engine/read-snapshot.ts';
import { openFeed } from './feed.ts';
import { WaitingFollowers } from './waiting.ts';

/** Also notified of each commit of its own process. */
export interface SqliteEvents {
  narrowedTo(visible: Visible): EventStore;
  onCommit(): void;
  endWaits(): void;
}

export function openEvents(db: Connection, snapshot: ReadSnapshot, monotonicMs: () => number): SqliteEvents {
  const feed = openFeed(db);
  const followers = new WaitingFollowers({
    feed,
    monotonicMs,
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
      endWaits,
    }),
    endWaits,
    onCommit: followers.wake,
  };
}
