/** The sequence of changes, for those who follow it (docs/api.md#events). */
import type { RegistryEvent } from '../../domain/events.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';

export interface FeedRequest {
  /**
   * The last sequence number that the follower has read, 0 for all that are kept; undefined for what is still
   * to come.
   */
  readonly after: number | undefined;
  /** How many events at most, from 1. */
  readonly limit: number;
  /** The epoch that the follower expects; undefined for any. */
  readonly epoch: string | undefined;
}

export interface FeedPage {
  /** Fixed when a registry is created, and new after a restore: it names the sequence. */
  readonly epoch: string;
  readonly events: readonly RegistryEvent[];
  /** Of the last of the events; when there are none, that after which the next will come. */
  readonly lastSequence: number;
}

export interface EventStore {
  /**
   * The next events in the order of commits.
   * @throws RegistryError `gone` for another epoch, and for an `after` that is older than what is kept or
   * newer than the last event
   */
  read(request: FeedRequest): Awaitable<FeedPage>;
  /**
   * The same, as soon as there is an event: of this process at once, of another one soon after. When the time
   * ends without one, or the client leaves, the page is empty.
   * @param waitMs milliseconds
   * @param whenLeft registers what is to be called when the client has left
   * @throws RegistryError (also as a rejection) as `read`
   */
  wait(request: FeedRequest, waitMs: number, whenLeft: (leave: () => void) => void): Awaitable<FeedPage>;
  /** Answers all who wait with what there is. From then on nobody waits. */
  endWaits(): void;
}
