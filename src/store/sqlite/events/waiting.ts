/**
 * Followers that wait for the next event. However many there are, they cost one timer, one query when
 * something may have happened, and one page for all that have read equally far: the timer looks for commits
 * of other processes, and for those whose time is over.
 */
import type { FeedPage, FeedRequest } from '../../ports/events.ts';
import type { Feed } from './feed.ts';

/** How late an event of another process may be, and the end of a wait. */
const LOOK_MS = 100;

interface Follower {
  readonly request: FeedRequest;
  /** What it gets when nothing happens. */
  readonly empty: FeedPage;
  readonly deadlineMs: number;
  readonly resolve: (page: FeedPage) => void;
  readonly reject: (error: unknown) => void;
}

export interface WaitingOptions {
  readonly feed: Feed;
  /** Runs reads in a snapshot of this moment, which ends with them. */
  readonly read: <T>(work: () => T) => T;
  readonly monotonicMs: () => number;
}

export class WaitingFollowers {
  /** By the length of the wait, each in the order of deadlines: the longest queue is never searched. */
  private readonly queues = new Map<number, Set<Follower>>();
  private count = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly options: WaitingOptions;

  constructor(options: WaitingOptions) {
    this.options = options;
  }

  get size(): number {
    return this.count;
  }

  /** @param empty the page of a follower that has read everything */
  add(
    request: FeedRequest,
    empty: FeedPage,
    waitMs: number,
    whenLeft: (leave: () => void) => void,
  ): Promise<FeedPage> {
    return new Promise((resolve, reject) => {
      const deadlineMs = this.options.monotonicMs() + waitMs;
      const follower: Follower = { request, empty, deadlineMs, resolve, reject };
      let queue = this.queues.get(waitMs);
      if (queue === undefined) {
        queue = new Set();
        this.queues.set(waitMs, queue);
      }
      queue.add(follower);
      this.count++;
      this.timer ??= setInterval(this.look, LOOK_MS).unref();
      whenLeft(() => {
        if (queue.delete(follower)) this.dismiss(follower);
      });
    });
  }

  /** Answers those for whom there are events; called after each commit of this process. Never throws. */
  readonly wake = (): void => {
    if (this.count === 0) return;
    try {
      this.options.read(() => this.answerNews());
    } catch (error) {
      for (const follower of this.take(() => true)) follower.reject(error);
    }
  };

  /** Answers everybody with what there is. */
  end(): void {
    this.wake();
    for (const follower of this.take(() => true)) follower.resolve(follower.empty);
  }

  private readonly look = (): void => {
    this.wake();
    const nowMs = this.options.monotonicMs();
    for (const queue of this.queues.values()) {
      for (const follower of queue) {
        if (follower.deadlineMs > nowMs) break;
        queue.delete(follower);
        this.dismiss(follower);
      }
    }
  };

  private dismiss(follower: Follower): void {
    this.removed(1);
    follower.resolve(follower.empty);
  }

  private answerNews(): void {
    const last = this.options.feed.lastSequence();
    const pages = new Map<string, FeedPage>();
    for (const follower of this.take(({ request }) => request.after < last)) {
      const { after, limit } = follower.request;
      const key = `${after} ${limit}`;
      try {
        const page = pages.get(key) ?? this.options.feed.read(follower.request);
        pages.set(key, page);
        follower.resolve(page);
      } catch (error) {
        follower.reject(error);
      }
    }
  }

  /** Removes those that fulfil a condition. */
  private take(isTaken: (follower: Follower) => boolean): Follower[] {
    const taken: Follower[] = [];
    for (const queue of this.queues.values()) {
      for (const follower of queue) {
        if (!isTaken(follower)) continue;
        queue.delete(follower);
        taken.push(follower);
      }
    }
    this.removed(taken.length);
    return taken;
  }

  private removed(followers: number): void {
    this.count -= followers;
    if (this.count > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
