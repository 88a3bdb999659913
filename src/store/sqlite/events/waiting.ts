/**
 * Followers that wait for the next event. However many there are, they cost one query when something may have
 * happened, and one page for all that have read equally far.
 */
import type { FeedPage } from '../../contract/events.ts';
import type { Feed, NarrowedFeedRequest } from './feed.ts';

/** How late an event of another process may be. */
const LOOK_MS = 100;
/**
 * Answered in one event-loop iteration: each costs as much as a small response, and the write that woke them,
 * like every other request, must not wait for thousands of them.
 */
const ANSWERS_AT_ONCE = 100;

/** Of a follower that has read everything. */
type WaitingRequest = NarrowedFeedRequest & { readonly after: number };

interface Follower {
  request: WaitingRequest;
  /** What it gets when nothing happens that it wants. */
  empty: FeedPage;
  readonly resolve: (page: FeedPage) => void;
  readonly reject: (error: unknown) => void;
  /** Of the end of its wait. */
  timeout: NodeJS.Timeout | undefined;
}

export interface WaitingOptions {
  readonly feed: Feed;
  /** Runs reads in a snapshot of this moment, which ends with them. */
  readonly read: <T>(work: () => T) => T;
}

export class WaitingFollowers {
  private readonly followers = new Set<Follower>();
  /** Answers that are known and still to be given. */
  private answers: (() => void)[] = [];
  /** Looks for commits of other processes while anybody waits. */
  private timer: NodeJS.Timeout | undefined;
  private readonly options: WaitingOptions;

  constructor(options: WaitingOptions) {
    this.options = options;
  }

  get size(): number {
    return this.followers.size;
  }

  /** @param empty the page of a follower that has read everything */
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

  /** Soon answers those for whom there are events; called after each commit of this process. Never throws. */
  readonly wake = (): void => {
    if (this.followers.size === 0) return;
    try {
      this.options.read(() => this.answerNews());
    } catch (error) {
      for (const follower of this.take(() => true)) this.answer(() => follower.reject(error));
    }
  };

  /** Answers everybody with what there is. */
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
    const last = this.options.feed.lastSequence();
    const pages = new Map<string, FeedPage>();
    this.take((follower) => follower.request.after < last && this.answerNewsTo(follower, pages));
  }

  /** @returns whether the follower has its answer: not when it wants nothing of what has happened */
  private answerNewsTo(follower: Follower, pages: Map<string, FeedPage>): boolean {
    const { after, limit, visible, types } = follower.request;
    // Of none of the cooperatives is something else than of all.
    const key = `${after} ${limit} ${visible === null ? 'all' : visible.join()} ${types?.join()}`;
    try {
      const page = pages.get(key) ?? this.options.feed.read(follower.request);
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

  /** Removes those that fulfil a condition. */
  private take(isTaken: (follower: Follower) => boolean): Follower[] {
    const taken = [...this.followers].filter(isTaken);
    for (const follower of taken) this.remove(follower);
    return taken;
  }

  private remove(follower: Follower): void {
    this.followers.delete(follower);
    clearTimeout(follower.timeout);
    if (this.followers.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
