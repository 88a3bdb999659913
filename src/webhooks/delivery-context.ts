/** Context shared by the deliveries of all endpoints. */

import type { ApiKeyStore } from '../access/api-key-store.ts';
import type { ServedRows } from '../open-registry.ts';
import type { NarrowableStore } from '../registry/registry-store.ts';
import type { Clock } from '../runtime/scheduler.ts';
import type { TimeZone } from '../values/date-time.ts';
import type { WebhookStore } from './open-webhook-store.ts';
import type { Connections } from './post.ts';
import type { Resolve } from './target.ts';

/** Settings that tests may replace. */
export interface WebhookSettings {
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly resolve?: Resolve | undefined;
  /** Limit for one attempt. */
  readonly timeoutMs?: number | undefined;
  /** Interval of the check for command changes and due retries. */
  readonly lookMs: number;
}

export interface DeliveryContext extends Omit<WebhookSettings, 'lookMs'> {
  readonly stores: NarrowableStore<ServedRows>;
  readonly keys: Pick<ApiKeyStore, 'find'>;
  readonly store: WebhookStore;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly zone: TimeZone;
  /** Sent with every request. */
  readonly headers: { readonly [name: string]: string };
  /** Aborts running attempts. */
  readonly signal: AbortSignal;
  /** Logs a message for the operator. */
  note(message: string): void;
  /** False while delivery results cannot be stored. */
  mayDeliver(): boolean;
  /** Announces a result that has to be stored soon. */
  onChange(): void;
}
