/**
 * Event sequence of an open registry: reading events, and waiting for new ones. After a commit, one query
 * checks for new events on behalf of all followers. Followers with equal requests share one page.
 */

import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Visible } from '../access/api-keys.ts';
import {
  actorCode,
  EVENT_ENTITIES,
  type EventType,
  typeOfCode,
} from '../registry/changes/append-and-expire-events.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { ReadSnapshot } from '../sqlite/group-commit.ts';
import { isInCooperativesSql, toIdsParameter } from '../sqlite/list-pages.ts';
import { type Awaitable, FieldError } from '../values/errors.ts';
import {
  type Feed,
  type FeedPage,
  type FeedRequest,
  type NarrowedFeedRequest,
  openFeed,
  type RegistryEvent,
} from './feed.ts';

export const MAX_WAIT_SECONDS = 30;
/** Interval of the checks for commits of other processes. */
const LOOK_MS = 100;
/** Maximum number of answers in an event-loop iteration, so that thousands do not delay other requests. */
const ANSWERS_AT_ONCE = 100;

type WaitingRequest = NarrowedFeedRequest & { readonly after: number };

interface Follower {
  request: WaitingRequest;
  /** Answer if no event that the follower wants arrives in time. */
  empty: FeedPage;
  readonly resolve: (page: FeedPage) => void;
  readonly reject: (error: unknown) => void;
  timeout: NodeJS.Timeout | undefined;
}

export class WaitingFollowers {
  private readonly followers = new Set<Follower>();
  private answers: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly feed: Feed;
  private readonly read: (work: () => void) => void;

  /** @param read runs `work` in a new snapshot, which ends with `work` */
  constructor(feed: Feed, read: (work: () => void) => void) {
    this.feed = feed;
    this.read = read;
  }

  get size(): number {
    return this.followers.size;
  }

  /**
   * @param empty answer if no event arrives in time
   * @param whenLeft registers a callback for the client's disconnection
   */
  add(
    request: WaitingRequest,
    empty: FeedPage,
    waitMs: number,
    whenLeft: (leave: () => void) => void,
  ): Promise<FeedPage> {
    return new Promise((resolve, reject) => {
      const follower: Follower = { request, empty, resolve, reject, timeout: undefined };
      this.followers.add(follower);
      follower.timeout = setTimeout(() => {
        this.remove(follower);
        this.answer(() => resolve(follower.empty));
      }, waitMs).unref();
      this.timer ??= setInterval(this.wake, LOOK_MS).unref();
      whenLeft(() => {
        if (!this.followers.has(follower)) return;
        this.remove(follower);
        resolve(follower.empty);
      });
    });
  }

  /** Answers followers that have new events. Never throws. */
  readonly wake = (): void => {
    if (this.followers.size === 0) return;
    try {
      this.read(() => this.answerNews());
    } catch (error) {
      for (const follower of this.take(() => true)) this.answer(() => follower.reject(error));
    }
  };

  end(): void {
    this.wake();
    for (const follower of this.take(() => true)) this.answer(() => follower.resolve(follower.empty));
  }

  private answer(work: () => void): void {
    if (this.answers.push(work) === 1) setImmediate(this.answerSome);
  }

  private readonly answerSome = (): void => {
    for (const answer of this.answers.slice(0, ANSWERS_AT_ONCE)) answer();
    this.answers = this.answers.slice(ANSWERS_AT_ONCE);
    if (this.answers.length > 0) setImmediate(this.answerSome);
  };

  private answerNews(): void {
    const last = this.feed.lastSequence();
    const pages = new Map<string, FeedPage>();
    this.take((follower) => follower.request.after < last && this.answerNewsTo(follower, pages));
  }

  /** @returns false if the follower wants none of the new events */
  private answerNewsTo(follower: Follower, pages: Map<string, FeedPage>): boolean {
    const { after, limit, visible, types } = follower.request;
    // `all` distinguishes an API key for all cooperatives from an API key for none.
    const key = `${after} ${limit} ${visible === null ? 'all' : visible.join()} ${types?.join()}`;
    try {
      const page = pages.get(key) ?? this.feed.read(follower.request);
      pages.set(key, page);
      if (page.events.length === 0) {
        follower.request = { ...follower.request, after: page.lastSequence };
        follower.empty = page;
        return false;
      }
      this.answer(() => follower.resolve(page));
    } catch (error) {
      this.answer(() => follower.reject(error));
    }
    return true;
  }

  private take(isTaken: (follower: Follower) => boolean): Follower[] {
    const followers = [...this.followers].filter(isTaken);
    for (const follower of followers) this.remove(follower);
    return followers;
  }

  private remove(follower: Follower): void {
    this.followers.delete(follower);
    clearTimeout(follower.timeout);
    if (this.followers.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

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
