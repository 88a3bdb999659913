/** What the deliveries of all endpoints share. */
import type { TimeZone } from '../domain/values/date-time.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ApiKeyStore } from '../store/contract/api-keys.ts';
import type { NarrowableStore } from '../store/contract/registry.ts';
import type { WebhookStore } from '../store/contract/webhooks.ts';
import type { Connections } from './connections.ts';
import type { Resolve } from './public-lookup.ts';

/** What tests may replace. */
export interface WebhookSettings {
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly resolve?: Resolve | undefined;
  /** Of one attempt. */
  readonly timeoutMs?: number | undefined;
  /** How often commands and due retries are looked for. */
  readonly lookMs: number;
}

export interface DeliveryContext extends Omit<WebhookSettings, 'lookMs'> {
  readonly stores: NarrowableStore;
  readonly keys: Pick<ApiKeyStore, 'find'>;
  readonly store: WebhookStore;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly zone: TimeZone;
  /** Of every request. */
  readonly headers: { readonly [name: string]: string };
  /** Breaks off what is under way. */
  readonly signal: AbortSignal;
  /** Logs what an operator should know. */
  note(message: string): void;
  /** Whether what was delivered can be stored. */
  mayDeliver(): boolean;
  /** Something is to be stored soon. */
  onChange(): void;
}
