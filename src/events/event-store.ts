/** Event sequence of an open registry: reading events, and waiting for new ones. */

import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Visible } from '../access/api-keys.ts';
import { actorCode, EVENT_ENTITIES, type EventType, typeOfCode } from '../registry/changes/event-types.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { ReadSnapshot } from '../sqlite/group-commit.ts';
import { isInCooperativesSql, toIdsParameter } from '../sqlite/list-pages.ts';
import { type Awaitable, FieldError } from '../values/errors.ts';
import { type FeedPage, type FeedRequest, openFeed, type RegistryEvent } from './feed.ts';
import { WaitingFollowers } from './waiting-followers.ts';

export const MAX_WAIT_SECONDS = 30;

/** Sequence numbers of the first and last event of an import or its undo. */
export interface ImportRange {
  readonly first: number;
  readonly last: number;
}

/** Number of events that one event-loop iteration counts, in about 2 ms. */
const COUNTED_AT_ONCE = 5_000;

export type EventStore = ReturnType<ReturnType<typeof openEvents>['narrowedTo']>;

export function openEvents(db: Connection, snapshot: ReadSnapshot) {
  const feed = openFeed(db);
  const followers = new WaitingFollowers(feed, (work) => {
    try {
      snapshot.read(work);
    } finally {
      // Requests after this iteration must see every earlier commit.
      snapshot.end();
    }
  });
  const selectRange = db.prepare<[actor: number], ImportRange>(
    'SELECT first_sequence AS first, last_sequence AS last FROM operation_events WHERE actor = ?',
  );
  const isImport = db.prepare<[id: number]>('SELECT 1 FROM imported_files WHERE operation_id = ?');
  const countTypes = db.prepareTuples<
    [{ first: number; last: number; cooperatives: string | null }],
    [type: number, count: number]
  >(
    `SELECT type, count(*) FROM events WHERE sequence BETWEEN @first AND @last
       AND ${isInCooperativesSql('cooperative_id')} GROUP BY type`,
    'as many events as its caller asks for',
  );
  let isEnded = false;
  /** Answers all waiting requests with the present events. Later requests do not wait. */
  const endWaits = (): void => {
    isEnded = true;
    followers.end();
  };
  const narrowedTo = (visible: Visible) => ({
    /** @throws RegistryError `gone`, like `Feed.read` */
    read: (request: FeedRequest) => snapshot.read(() => feed.read({ ...request, visible })),
    /**
     * Reads a page, and waits if there is no event yet. Events of this process arrive at once, events of
     * other processes within 100 ms. The page is empty if the time ends or the client disconnects first.
     * @param whenLeft registers a callback for the client's disconnection
     * @throws RegistryError `gone`, like `Feed.read`, thrown at once or as a rejection
     */
    wait(request: FeedRequest, waitMs: number, whenLeft: (leave: () => void) => void): Awaitable<FeedPage> {
      const narrowed = { ...request, visible };
      const page = snapshot.read(() => feed.read(narrowed));
      if (page.events.length > 0 || waitMs <= 0 || isEnded) return page;
      return followers.add({ ...narrowed, after: page.lastSequence }, page, waitMs, whenLeft);
    },
    /** @returns undefined if the cause of the event is neither an import nor the undo of an import */
    findImport({ actor }: RegistryEvent): ImportRange | undefined {
      const [kind, id] = actor.split(':');
      return snapshot.read(() =>
        kind === 'import' || (kind === 'undo' && isImport.get(Number(id)) !== undefined)
          ? selectRange.get(actorCode(actor))
          : undefined,
      );
    },
    /** Counts visible events. `first` and `last` are inclusive. */
    async countByType(first: number, last: number): Promise<ReadonlyMap<EventType, number>> {
      const cooperatives = toIdsParameter(visible ?? undefined);
      const counts = new Map<EventType, number>();
      for (let from = first; from <= last; from += COUNTED_AT_ONCE) {
        const to = Math.min(last, from + COUNTED_AT_ONCE - 1);
        const rows = snapshot.read(() => countTypes.all({ first: from, last: to, cooperatives }));
        for (const [code, count] of rows) {
          const type = typeOfCode(code);
          counts.set(type, (counts.get(type) ?? 0) + count);
        }
        await nextIteration();
      }
      return counts;
    },
    endWaits,
  });
  return {
    narrowedTo,
    endWaits,
    /** Call this after each commit of this process. */
    onCommit: followers.wake,
  };
}

/** @param names with wildcards such as `member.*` */
export function parseTypes<Type extends string>(
  names: readonly string[],
  allTypes: readonly Type[],
): readonly Type[] | FieldError {
  const types = new Set<Type>();
  for (const name of names) {
    const kind = /^([a-z]+)\.\*$/.exec(name)?.[1];
    const matches = allTypes.filter((type) => type === name || type.split('.')[0] === kind);
    if (matches.length === 0)
      return new FieldError(
        `Known types: ${[...EVENT_ENTITIES.map((entity) => `${entity}.*`), ...allTypes].join(', ')}.`,
      );
    for (const type of matches) types.add(type);
  }
  return [...types];
}
