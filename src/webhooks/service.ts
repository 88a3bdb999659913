/** Delivers webhooks while the registry is served: tracks the endpoints and stores the results. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiKeyStore } from '../access/api-key-store.ts';
import type { AddToService } from '../module.ts';
import type { ServedRows } from '../open-registry.ts';
import type { NarrowableStore } from '../registry/registry-store.ts';
import { packageVersion } from '../runtime/process.ts';
import type { Clock } from '../runtime/scheduler.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { TimeZone } from '../values/date-time.ts';
import { type DeliveryContext, EndpointDelivery, type WebhookSettings } from './delivery.ts';
import { hasWebhooks, openWebhooks, type WebhookStore } from './open-webhook-store.ts';
import { Connections } from './post.ts';
import { WEBHOOKS_DESCRIBED } from './webhook-reference.ts';

/** Interval of the check for endpoints, changes by commands, and due retries. */
const LOOK_MS = 1_000;
/** Results are stored after this time or number of attempts: a kill repeats at most these deliveries. */
const STORE_MS = 50;
const STORE_ATTEMPTS = 100;
/** Time that running attempts get at shutdown; aborted ones are repeated later. */
const GRACE_MS = 3_000;

interface WebhookDependencies {
  readonly storage: Storage;
  readonly stores: NarrowableStore<ServedRows>;
  readonly keys: Pick<ApiKeyStore, 'find'>;
  readonly clock: Clock;
  readonly zone: TimeZone;
  readonly note: (message: string) => void;
  readonly settings?: Partial<WebhookSettings> | undefined;
}

/** Headers of every request to a receiver. */
export const requestHeaders = () => ({
  'content-type': 'application/json',
  'user-agent': `cooperative-registry/${packageVersion()}`,
});

/** Without endpoints, the service only checks for a file every second. */
class WebhookService {
  private readonly dependencies: WebhookDependencies;
  private readonly deliveries = new Map<number, EndpointDelivery>();
  private readonly connections = new Connections();
  private readonly ending = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private context: DeliveryContext | undefined;
  private storing: NodeJS.Timeout | undefined;
  private hasClaim = false;
  private isStuck = false;
  private isClosed = false;
  private lastFault = '';

  constructor(dependencies: WebhookDependencies) {
    this.dependencies = dependencies;
    const { lookMs = LOOK_MS } = dependencies.settings ?? {};
    this.timer = setInterval(() => this.look(), lookMs).unref();
    setImmediate(() => this.look());
  }

  /** Gives running attempts a little time, then aborts them and stores the results. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    const stopped = Promise.all([...this.deliveries.values()].map((delivery) => delivery.stop()));
    await Promise.race([stopped, sleep(GRACE_MS, undefined, { ref: false })]);
    this.ending.abort();
    await stopped;
    this.connections.close();
    clearTimeout(this.storing);
    this.store();
    this.context?.store.close();
  }

  private look(): void {
    if (this.isClosed) return;
    try {
      this.context ??= this.open();
      if (this.context !== undefined) this.lookAt(this.context.store);
      if (!this.isStuck) this.lastFault = '';
    } catch (error) {
      this.report(error);
    }
  }

  private lookAt(store: WebhookStore): void {
    this.hasClaim ||= store.claim();
    if (!this.hasClaim) return;
    if (store.hasChanged()) this.read(store);
    if (this.isStuck) this.store();
    if (this.isClosed) return;
    for (const delivery of this.deliveries.values()) delivery.wake();
  }

  private open(): DeliveryContext | undefined {
    const { storage, settings = {}, ...given } = this.dependencies;
    if (!hasWebhooks(storage)) return undefined;
    return {
      random: Math.random,
      ...settings,
      ...given,
      store: openWebhooks(storage, 'serve'),
      connections: this.connections,
      headers: requestHeaders(),
      signal: this.ending.signal,
      mayDeliver: () => !this.isStuck,
      onChange: () => this.storeSoon(),
    };
  }

  /** Takes over the stored endpoints: adds new ones, updates changed ones, stops removed ones. */
  private read(store: WebhookStore): void {
    const endpoints = store.list();
    const ids = new Set(endpoints.map(({ id }) => id));
    for (const [id, delivery] of this.deliveries) {
      if (ids.has(id)) continue;
      this.deliveries.delete(id);
      void delivery.stop();
    }
    for (const endpoint of endpoints) {
      const known = this.deliveries.get(endpoint.id);
      if (known !== undefined) known.update(endpoint);
      else this.deliveries.set(endpoint.id, new EndpointDelivery(endpoint, this.context as DeliveryContext));
    }
  }

  private storeSoon(): void {
    if (this.isClosed) return;
    this.storing ??= setTimeout(() => this.storeNow(), STORE_MS);
    const unstored = [...this.deliveries.values()].reduce((sum, each) => sum + each.unstored, 0);
    if (unstored >= STORE_ATTEMPTS) this.storeNow();
  }

  private storeNow(): void {
    clearTimeout(this.storing);
    this.storing = undefined;
    this.store();
  }

  /** Stores results; after a failure nothing more is delivered until a later attempt succeeds. */
  private store(): void {
    if (this.context === undefined) return;
    const { store } = this.context;
    const taken = [...this.deliveries.values()].flatMap((delivery) => {
      const outcome = delivery.takeOutcome();
      return outcome === undefined ? [] : [{ delivery, outcome }];
    });
    if (taken.length === 0) {
      // The result that could not be stored belonged to an endpoint that is now removed.
      this.isStuck = false;
      return;
    }
    try {
      const changed = store.store(taken.map(({ outcome }) => outcome));
      this.isStuck = false;
      for (const { delivery, outcome } of taken) if (changed.includes(outcome.id)) delivery.giveBack(outcome);
      if (changed.length === 0) return;
      // Stored again once the endpoints have been reread.
      this.isStuck = true;
      setImmediate(() => this.look());
    } catch (error) {
      for (const { delivery, outcome } of taken) delivery.giveBack(outcome);
      this.isStuck = true;
      this.report(error);
    }
  }

  /** Logs a fault once, until a different one occurs. */
  private report(error: unknown): void {
    const fault = error instanceof Error ? error.message : String(error);
    if (fault === this.lastFault) return;
    this.lastFault = fault;
    this.dependencies.note(`webhooks: ${fault}`);
  }
}

export const deliverWebhooks =
  (settings?: Partial<WebhookSettings>): AddToService =>
  ({ zone }) => {
    let service: WebhookService | undefined;
    return {
      outgoing: WEBHOOKS_DESCRIBED,
      async listen({ storage, store: stores, keys, clock, log }) {
        const note = (message: string) => log.note(message);
        service = new WebhookService({ storage, stores, keys, clock, zone, note, settings });
        return [];
      },
      close: () => service?.close(),
    };
  };
