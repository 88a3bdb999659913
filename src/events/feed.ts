/** Reads the event sequence (docs/api.md#events). */

import { isVisible, type Visible } from '../access/api-keys.ts';
import {
  actorOfCode,
  EVENT_TYPES,
  type EventType,
  entityOfType,
  fieldsOfBits,
  typeOfCode,
} from '../registry/changes/event-types.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { Actor } from '../sqlite/entity-store.ts';
import { RegistryError } from '../values/errors.ts';
import { array, choiceOf, integer, object, type Static, string } from '../values/schema.ts';
import { instant, plain, serializeObject } from '../values/serializer.ts';

export interface FeedRequest {
  /** Last sequence number that the follower has read: 0 for all events, undefined for future events only. */
  readonly after: number | undefined;
  readonly limit: number;
  readonly epoch: string | undefined;
  /** Types to include; undefined for all. */
  readonly types?: readonly EventType[] | undefined;
}

export interface FeedPage {
  /** Id of the sequence. A new registry gets an epoch; a restore of a backup replaces the epoch. */
  readonly epoch: string;
  readonly events: readonly RegistryEvent[];
  /** Sequence number up to which events were read, including events that the filters left out. */
  readonly lastSequence: number;
}

type Row = readonly [
  ...[sequence: number, type: number, rowId: number, cooperativeId: number],
  ...[fields: number, at: number, actor: number],
];

interface Extent {
  readonly epoch: string;
  /** Sequence number of the oldest stored event; null if there are no events. */
  readonly first: number | null;
  readonly last: number;
}

export interface NarrowedFeedRequest extends FeedRequest {
  readonly visible: Visible;
}

export type Feed = ReturnType<typeof openFeed>;

/** After an import, many followers request the same pages. */
const CACHED_PAGES = 64;
/** Maximum number of events that are read for a filtered page. The next page continues after them. */
const MOST_READ = 10_000;
const READ_AT_ONCE = 1_000;

/** Call the methods inside a read snapshot. */
export function openFeed(db: Connection) {
  const selectExtent = db.prepare<[], Extent>(
    `SELECT epoch, (SELECT min(sequence) FROM events) AS first,
       (SELECT coalesce(max(sequence), 0) FROM events) AS last FROM feed WHERE id = 1`,
    'both ends of the key',
  );
  const selectPage = db.prepareTuples<[after: number, limit: number], Row>(
    `SELECT sequence, type, row_id, cooperative_id, fields, at, actor FROM events
     WHERE sequence > ? ORDER BY sequence LIMIT ?`,
  );

  const fullPages = new Map<string, FeedPage>();

  function readPage(epoch: string, after: number, limit: number): FeedPage {
    const key = `${after} ${limit}`;
    const cached = fullPages.get(key);
    if (cached !== undefined) return cached;
    const events = selectPage.all(after, limit).map(toEvent);
    const page = { epoch, events, lastSequence: events.at(-1)?.sequence ?? after };
    // A full page never changes, because events are immutable and no event can be added to the page.
    if (events.length === limit) {
      fullPages.set(key, page);
      if (fullPages.size > CACHED_PAGES) fullPages.delete(fullPages.keys().next().value as string);
    }
    return page;
  }

  function readWanted(
    epoch: string,
    first: number,
    limit: number,
    isWanted: (event: RegistryEvent) => boolean,
  ): FeedPage {
    const events: RegistryEvent[] = [];
    let after = first;
    while (after < first + MOST_READ) {
      const read = readPage(epoch, after, READ_AT_ONCE);
      for (const event of read.events) {
        if (!isWanted(event)) continue;
        events.push(event);
        if (events.length === limit) return { epoch, events, lastSequence: event.sequence };
      }
      after = read.lastSequence;
      if (read.events.length < READ_AT_ONCE) break;
    }
    return { epoch, events, lastSequence: after };
  }

  return {
    /** Returns 0 if there are no events. */
    lastSequence: () => (selectExtent.get() as Extent).last,
    /**
     * Reads the next events in commit order.
     * @throws RegistryError `gone` if the registry has a different epoch, if the event that follows `after`
     *   has expired, or if `after` is higher than the number of the newest event
     */
    read(request: NarrowedFeedRequest): FeedPage {
      const { limit, epoch: expected, visible, types } = request;
      const { epoch, first, last } = selectExtent.get() as Extent;
      const { after = last } = request;
      const isGone = after > last || (first !== null && after < first - 1);
      if (isGone || (expected !== undefined && expected !== epoch))
        throw new RegistryError('gone', 'Start again from an export.');
      if (after === last) return { epoch, events: [], lastSequence: after };
      if (visible === null && types === undefined) return readPage(epoch, after, limit);
      return readWanted(
        epoch,
        after,
        limit,
        ({ cooperativeId, type }) => isVisible(visible, cooperativeId) && (types?.includes(type) ?? true),
      );
    },
  };
}

const toEvent = ([sequence, type, id, cooperativeId, fields, at, actor]: Row): RegistryEvent => ({
  sequence,
  at,
  id,
  cooperativeId,
  type: typeOfCode(type),
  fieldsChanged: fields === 0 ? [] : fieldsOfBits(entityOfType(type), fields),
  actor: actorOfCode(actor),
});

// JSON of an event, for followers and receivers of webhooks (docs/api.md#events)

const EVENT_DATA = object({
  id: string({ description: 'Id of the cooperative, member, loan or payment.' }),
  cooperative_id: string({ description: 'Id of the cooperative of the row; for a cooperative, its own id.' }),
  fields_changed: array(string(), { description: 'Empty if the entity was created or deleted.' }),
});

export const EVENT = object(
  {
    type: choiceOf(EVENT_TYPES),
    timestamp: string({ format: 'date-time', description: 'When it was changed.' }),
    sequence: integer({ minimum: 1, description: 'Rises by one from event to event.' }),
    actor: string({
      pattern: '^(key|import|undo|correction):[0-9]+$',
      description: 'Origin of the change: the key, import, undo of an import or correction, with its id.',
    }),
    data: EVENT_DATA,
  },
  { title: 'Event' },
);

const serializeData = serializeObject<Static<typeof EVENT_DATA>, RegistryEvent>({
  id: plain(({ id }) => String(id)),
  cooperative_id: plain(({ cooperativeId }) => String(cooperativeId)),
  fields_changed: ({ fieldsChanged }) => (fieldsChanged.length === 0 ? '[]' : JSON.stringify(fieldsChanged)),
});

export const serializeEvent = serializeObject<Static<typeof EVENT>, RegistryEvent>({
  type: plain(({ type }) => type),
  timestamp: instant(({ at }) => at),
  sequence: ({ sequence }) => String(sequence),
  actor: plain(({ actor }) => actor),
  data: serializeData,
});

export interface RegistryEvent {
  readonly sequence: number;
  readonly type: EventType;
  /** Epoch seconds. */
  readonly at: number;
  readonly id: number;
  /** Id of the row's cooperative; for a cooperative, its own id. */
  readonly cooperativeId: number;
  /** Empty unless the action is `updated`. */
  readonly fieldsChanged: readonly string[];
  readonly actor: Actor;
}
