/** The sequence of changes, for those who follow it (docs/api.md#events). */

import type { EventType, RegistryEvent } from '../../domain/events.ts';
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
  /** Only events of these types; undefined for all. */
  readonly types?: readonly EventType[] | undefined;
}

export interface FeedPage {
  /** Fixed when a registry is created, and new after a restore: it names the sequence. */
  readonly epoch: string;
  readonly events: readonly RegistryEvent[];
  /** Of the last of the events; when there are none, how far was read: the next will come after it. */
  readonly lastSequence: number;
}

/** The sequence numbers of the events of one import, or of its undo. */
export interface ImportRange {
  readonly first: number;
  readonly last: number;
}

export interface EventStore {
  /**
   * The next events in the order of commits.
   * @throws RegistryError `gone` for another epoch, and for an `after` that is older than what is kept or
   * newer than the last event
   */
  read(request: FeedRequest): FeedPage;
  /**
   * The same, as soon as there is an event: of this process at once, of another one soon after. When the time
   * ends without one, or the client leaves, the page is empty.
   * @param waitMs milliseconds
   * @param whenLeft registers what is to be called when the client has left
   * @throws RegistryError (also as a rejection) as `read`
   */
  wait(request: FeedRequest, waitMs: number, whenLeft: (leave: () => void) => void): Awaitable<FeedPage>;
  /**
   * All events of the import, or of the undo of an import, to which an event belongs: they follow each other.
   * @returns undefined for an event of anything else
   */
  findImport(event: RegistryEvent): ImportRange | undefined;
  /** How many events there are of each type, from one sequence number through another. */
  countByType(first: number, last: number): Promise<ReadonlyMap<EventType, number>>;
  /** Answers all who wait with what there is. From then on nobody waits. */
  endWaits(): void;
}
