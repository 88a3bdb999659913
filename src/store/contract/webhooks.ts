/** The endpoints of webhooks: who receives what, and how far each has got (docs/webhooks.md). */
import type { WebhookType } from '../../domain/webhooks/types.ts';

/** A place in the sequence of changes. */
export interface FeedPosition {
  readonly epoch: string;
  /** Everything up to this number was delivered or passed over. */
  readonly sequence: number;
}

/** What an operator chooses. */
export interface WebhookEndpointValues {
  /** The key whose holder receives: it says what is seen. */
  readonly keyId: number;
  readonly url: string;
  /** Null: all types. */
  readonly types: readonly WebhookType[] | null;
  /** Whether plain HTTP and private addresses are allowed. */
  readonly allowsPrivate: boolean;
}

/** How far the deliveries to an endpoint have got. */
export interface WebhookProgress {
  readonly position: FeedPosition;
  /** Whether the receiver is still to be told to start again from the position. */
  readonly isRestarted: boolean;
  /** How often the message that comes next has failed. */
  readonly failures: number;
  /** The sequence number of that message; null while nothing fails. */
  readonly failingSequence: number | null;
  /** When it is tried again, in epoch milliseconds; 0: at once. */
  readonly nextAttemptAtMs: number;
  /** Epoch seconds; nothing is delivered from then on. */
  readonly disabledAt: number | null;
}

export interface WebhookEndpoint extends WebhookEndpointValues, WebhookProgress {
  readonly id: number;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** The sequence numbers that are to be passed over. */
  readonly skips: readonly number[];
  /** Rises with each change that a command makes. */
  readonly revision: number;
}

/** One attempt to deliver a message. */
export interface WebhookAttempt {
  readonly webhookId: string;
  readonly type: string;
  /** Null for a test. */
  readonly sequence: number | null;
  /** Epoch milliseconds. */
  readonly atMs: number;
  readonly durationMs: number;
  /** Of the response; null when there was none. */
  readonly status: number | null;
  /** Why it failed, without anything that the receiver has sent; null when it succeeded. */
  readonly fault: string | null;
}

/** What is stored of one endpoint after some deliveries. */
export interface WebhookOutcome {
  readonly id: number;
  /** Of the endpoint as it was read. */
  readonly revision: number;
  readonly progress: WebhookProgress;
  readonly attempts: readonly WebhookAttempt[];
}

export interface WebhookStore {
  list(): readonly WebhookEndpoint[];
  find(id: number): WebhookEndpoint | undefined;
  /** The secrets that sign now, the newest first. */
  listSecrets(id: number, nowSeconds: number): readonly Uint8Array[];
  /** The last attempts, newest first. */
  listAttempts(id: number, limit: number): readonly WebhookAttempt[];
  /** @param position where it begins */
  add(
    values: WebhookEndpointValues,
    secret: Uint8Array,
    position: FeedPosition,
    nowSeconds: number,
  ): WebhookEndpoint;
  /**
   * Adds a secret; those before it end.
   * @param overlapSeconds how long the earlier ones go on signing
   * @returns false when there is no such endpoint
   */
  rotate(id: number, secret: Uint8Array, overlapSeconds: number, nowSeconds: number): boolean;
  /** Has the message with this sequence number passed over when its turn comes. */
  skip(id: number, sequence: number): void;
  /** Has what fails tried again at once, also when the receiver has disabled the endpoint. */
  resume(id: number): void;
  /** @returns false when there is no such endpoint */
  remove(id: number): boolean;
  keepAttempt(id: number, attempt: WebhookAttempt): void;
  /**
   * Stores what has been delivered, in one transaction.
   * @returns the ids of endpoints of which nothing was stored, because a command has changed or removed them
   * @throws StorageError `failed` while another process has the lock
   */
  store(outcomes: readonly WebhookOutcome[]): readonly number[];
  /** Whether another process has changed something since the last call. */
  hasChanged(): boolean;
  /**
   * Claims the deliveries for this store, until it is closed or its process ends.
   * @returns false while another one has them
   */
  claim(): boolean;
  close(): void;
}
