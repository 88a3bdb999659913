/**
 * Requests that wait for the next event. After a commit, one query checks for new events on behalf of all
 * followers. Followers with equal requests share one page.
 */

import type { Feed, FeedPage, NarrowedFeedRequest } from './feed.ts';

/** Interval of the checks for commits of other processes. */
const LOOK_MS = 100;
/** Maximum number of answers in an event-loop iteration: thousands of answers would delay other requests. */
const ANSWERS_AT_ONCE = 100;

type WaitingRequest = NarrowedFeedRequest & { readonly after: number };

interface Follower {
  request: WaitingRequest;
  /** The answer if no event for the follower arrives in time. */
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
