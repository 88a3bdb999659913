/** Delivers webhooks while the service runs: reads the endpoints, and stores the results. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AddToService, ComposedService } from '../module.ts';
import { type DeliveryContext, EndpointDelivery, type WebhookSettings } from './deliver-and-retry.ts';
import { hasWebhooks, openWebhooks, type WebhookEndpoint, type WebhookStore } from './open-webhook-store.ts';
import { Connections } from './post.ts';
import { WEBHOOKS_DESCRIBED } from './webhook-reference.ts';

/** Interval of the check for new endpoints, changes by commands, and due retries. */
const LOOK_MS = 1_000;
// Results are stored after this time or number of attempts. Attempts without results are repeated later.
const STORE_MS = 50;
const STORE_ATTEMPTS = 100;
/** Time for attempts in progress at shutdown. Aborted attempts are repeated after the next start. */
const GRACE_MS = 3_000;

/** Without endpoints, only checks every second whether a webhooks file exists. */
class WebhookService {
  private readonly service: ComposedService;
  private readonly settings: Partial<WebhookSettings>;
  private readonly deliveries = new Map<number, EndpointDelivery>();
  private readonly connections = new Connections();
  private readonly ending = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private context: DeliveryContext | undefined;
  private storing: NodeJS.Timeout | undefined;
  private isStuck = false;
  private isClosed = false;
  private lastFault = '';

  constructor(service: ComposedService, settings: Partial<WebhookSettings>) {
    this.service = service;
    this.settings = settings;
    this.timer = setInterval(() => this.look(), settings.lookMs ?? LOOK_MS).unref();
    setImmediate(() => this.look());
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    const stopped = Promise.all(this.deliveries.values().map((delivery) => delivery.stop()));
    await Promise.race([stopped, sleep(GRACE_MS, undefined, { ref: false })]);
    this.ending.abort();
    await stopped;
    this.connections.close();
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
    if (!store.claim()) return;
    const endpoints = store.listIfChanged();
    if (endpoints !== undefined) this.takeOver(endpoints);
    if (this.isStuck) this.store();
    for (const delivery of this.deliveries.values()) delivery.wake();
  }

  private open(): DeliveryContext | undefined {
    const { storage, store: stores, keys, clock, log } = this.service;
    if (!hasWebhooks(storage.location)) return undefined;
    return {
      random: Math.random,
      ...this.settings,
      stores,
      keys,
      clock,
      zone: storage.zone,
      note: (message) => log.note(message),
      store: openWebhooks(storage, 'serve'),
      connections: this.connections,
      signal: this.ending.signal,
      mayDeliver: () => !this.isStuck,
      onChange: () => this.storeSoon(),
    };
  }

  private takeOver(endpoints: readonly WebhookEndpoint[]): void {
    const ids = new Set(endpoints.map(({ id }) => id));
    for (const [id, delivery] of this.deliveries) {
      if (ids.has(id)) continue;
      this.deliveries.delete(id);
      void delivery.stop();
    }
    for (const endpoint of endpoints) {
      const delivery = this.deliveries.get(endpoint.id);
      if (delivery !== undefined) delivery.update(endpoint);
      else this.deliveries.set(endpoint.id, new EndpointDelivery(endpoint, this.context as DeliveryContext));
    }
  }

  private storeSoon(): void {
    if (this.isClosed) return;
    this.storing ??= setTimeout(() => this.store(), STORE_MS);
    const unstored = this.deliveries.values().reduce((sum, delivery) => sum + delivery.unstoredCount, 0);
    if (unstored >= STORE_ATTEMPTS) this.store();
  }

  /** Stores results. After a failure, deliveries stop until results can be stored again. */
  private store(): void {
    clearTimeout(this.storing);
    this.storing = undefined;
    if (this.context === undefined) return;
    const { store } = this.context;
    const results = [...this.deliveries.values()].flatMap((delivery) => {
      const outcome = delivery.takeOutcome();
      return outcome === undefined ? [] : [{ delivery, outcome }];
    });
    if (results.length === 0) {
      // Any results that could not be stored before belonged to endpoints that have since been removed.
      this.isStuck = false;
      return;
    }
    try {
      const changed = store.store(results.map(({ outcome }) => outcome));
      this.isStuck = false;
      for (const { delivery, outcome } of results)
        if (changed.includes(outcome.id)) delivery.giveBack(outcome);
      if (changed.length === 0) return;
      // A command has changed endpoints. Their results are stored once the endpoints have been read again.
      this.isStuck = true;
      setImmediate(() => this.look());
    } catch (error) {
      for (const { delivery, outcome } of results) delivery.giveBack(outcome);
      this.isStuck = true;
      this.report(error);
    }
  }

  private report(error: unknown): void {
    const fault = error instanceof Error ? error.message : String(error);
    if (fault === this.lastFault) return;
    this.lastFault = fault;
    this.service.log.note(`webhooks: ${fault}`);
  }
}

export const deliverWebhooks =
  (settings: Partial<WebhookSettings> = {}): AddToService =>
  () => {
    let service: WebhookService | undefined;
    return {
      outgoing: WEBHOOKS_DESCRIBED,
      async listen(composed) {
        service = new WebhookService(composed, settings);
        return [];
      },
      close: () => service?.close(),
    };
  };
