/** Reads the sequence of changes (docs/api.md#events). */

import { isVisible, type Visible } from '../../../domain/access/visible.ts';
import {
  actorOfCode,
  entityOfType,
  fieldsOfBits,
  type RegistryEvent,
  typeOfCode,
} from '../../../domain/events.ts';
import { RegistryError } from '../../../domain/values/errors.ts';
import type { FeedPage, FeedRequest } from '../../contract/events.ts';
import type { Connection } from '../engine/connection.ts';

type Row = readonly [
  ...[sequence: number, type: number, rowId: number, cooperativeId: number],
  ...[fields: number, at: number, actor: number],
];

interface Extent {
  readonly epoch: string;
  /** Of the oldest event that is kept; null when nothing has happened yet. */
  readonly first: number | null;
  readonly last: number;
}

export interface NarrowedFeedRequest extends FeedRequest {
  readonly visible: Visible;
}

export interface Feed {
  /** The number of the newest event; 0 when nothing has happened yet. */
  lastSequence(): number;
  /** @throws RegistryError `gone` */
  read(request: NarrowedFeedRequest): FeedPage;
}

const gone = (): RegistryError => new RegistryError('gone', 'Start again from an export.');

/** The full pages that were read last are kept: thousands of followers of one import want the same ones. */
const KEPT_PAGES = 64;
/** Events that are read at most for a page of those that are wanted; the next page goes on after them. */
const MOST_READ = 10_000;
const READ_AT_ONCE = 1_000;

/** Both are called inside a read snapshot. */
export function openFeed(db: Connection): Feed {
  const selectLast = db.prepare<[], { last: number }>(
    'SELECT coalesce(max(sequence), 0) AS last FROM events',
    'the end of the key',
  );
  const selectExtent = db.prepare<[], Extent>(
    `SELECT epoch, (SELECT min(sequence) FROM events) AS first,
       (SELECT coalesce(max(sequence), 0) FROM events) AS last FROM feed WHERE id = 1`,
    'both ends of the key',
  );
  const selectPage = db.prepareTuples<[after: number, limit: number], Row>(
    `SELECT sequence, type, row_id, cooperative_id, fields, at, actor FROM events
     WHERE sequence > ? ORDER BY sequence LIMIT ?`,
  );

  const kept = new Map<string, FeedPage>();

  function readPage(epoch: string, after: number, limit: number): FeedPage {
    const key = `${after} ${limit}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const events = selectPage.all(after, limit).map(toEvent);
    const page = { epoch, events, lastSequence: events.at(-1)?.sequence ?? after };
    // Nothing is ever added to a full one, and an event never changes.
    if (events.length === limit) {
      kept.set(key, page);
      if (kept.size > KEPT_PAGES) kept.delete(kept.keys().next().value as string);
    }
    return page;
  }

  /** Also the last sequence number of a page says how far was read, not what is wanted. */
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
    lastSequence: () => selectLast.get()?.last ?? 0,
    read({ after: given, limit, epoch: expected, visible, types }) {
      const { epoch, first, last } = selectExtent.get() as Extent;
      const after = given ?? last;
      if (expected !== undefined && expected !== epoch) throw gone();
      if (after > last || (first !== null && after < first - 1)) throw gone();
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
  fieldsChanged: fields === 0 ? NO_FIELDS : fieldsOfBits(entityOfType(type), fields),
  actor: actorOfCode(actor),
});

const NO_FIELDS: readonly string[] = [];
