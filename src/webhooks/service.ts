/** Delivers webhooks while the registry is served: which endpoints there are, and what is stored of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TimeZone } from '../domain/values/date-time.ts';
import type { Clock } from '../runtime/clock.ts';
import { packageVersion } from '../runtime/version.ts';
import type { ApiKeyStore } from '../store/contract/api-keys.ts';
import type { NarrowableStore } from '../store/contract/registry.ts';
import type { Storage } from '../store/contract/storage.ts';
import type { WebhookStore } from '../store/contract/webhooks.ts';
import { Connections } from './connections.ts';
import type { DeliveryContext, WebhookSettings } from './context.ts';
import { EndpointDelivery } from './delivery.ts';

/** How often it looks for endpoints, changes by commands, and retries that are due. */
const LOOK_MS = 1_000;
/** What was delivered is stored after this time, or after so many attempts: a kill repeats at most these. */
const STORE_MS = 50;
const STORE_ATTEMPTS = 100;
/** At the end, attempts that are under way have so long; those broken off are made again later. */
const GRACE_MS = 3_000;

export interface WebhookDependencies {
  readonly storage: Pick<Storage, 'hasWebhooks' | 'openWebhooks'>;
  readonly stores: NarrowableStore;
  readonly keys: Pick<ApiKeyStore, 'find'>;
  readonly clock: Clock;
  readonly zone: TimeZone;
  readonly note: (message: string) => void;
  readonly settings?: Partial<WebhookSettings> | undefined;
}

/** Of every request to a receiver. */
export const requestHeaders = () => ({
  'content-type': 'application/json',
  'user-agent': `cooperative-registry/${packageVersion()}`,
});

/** Until an endpoint is added, it costs a look for a file each second. */
export class WebhookService {
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

  /** Ends in order: what is under way gets a little time, then what was delivered is stored. */
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
    if (!storage.hasWebhooks()) return undefined;
    return {
      random: Math.random,
      ...settings,
      ...given,
      store: storage.openWebhooks('serve'),
      connections: this.connections,
      headers: requestHeaders(),
      signal: this.ending.signal,
      mayDeliver: () => !this.isStuck,
      onChange: () => this.storeSoon(),
    };
  }

  /** Takes over what there is: new endpoints, changed ones, and those that are gone. */
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

  /** What cannot be stored now is stored later; until then nothing more is delivered. */
  private store(): void {
    if (this.context === undefined) return;
    const { store } = this.context;
    const taken = [...this.deliveries.values()].flatMap((delivery) => {
      const outcome = delivery.takeOutcome();
      return outcome === undefined ? [] : [{ delivery, outcome }];
    });
    if (taken.length === 0) {
      // What could not be stored was of an endpoint that is gone.
      this.isStuck = false;
      return;
    }
    try {
      const changed = store.store(taken.map(({ outcome }) => outcome));
      this.isStuck = false;
      for (const { delivery, outcome } of taken) if (changed.includes(outcome.id)) delivery.giveBack(outcome);
      if (changed.length === 0) return;
      // Stored again after the endpoints are read again.
      this.isStuck = true;
      setImmediate(() => this.look());
    } catch (error) {
      for (const { delivery, outcome } of taken) delivery.giveBack(outcome);
      this.isStuck = true;
      this.report(error);
    }
  }

  /** Once, until something else is wrong. */
  private report(error: unknown): void {
    const fault = error instanceof Error ? error.message : String(error);
    if (fault === this.lastFault) return;
    this.lastFault = fault;
    this.dependencies.note(`webhooks: ${fault}`);
  }
}
