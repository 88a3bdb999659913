/** Delivers messages to one endpoint in order, and retries each message until the receiver accepts it. */
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { ApiKeyStore } from '../access/api-key-store.ts';
import type { Visible } from '../access/api-keys.ts';
import type { ServedRows } from '../open-registry.ts';
import type { NarrowableStore } from '../registry/registry-store.ts';
import { type Clock, nowSeconds } from '../runtime/scheduler.ts';
import type { TimeZone } from '../values/date-time.ts';
import { RegistryError } from '../values/errors.ts';
import { FAILURES_TO_REPORT, findPause, MessageReader, type Next, readEnd, wants } from './next-message.ts';
import type {
  WebhookAttempt,
  WebhookEndpoint,
  WebhookOutcome,
  WebhookProgress,
  WebhookStore,
} from './open-webhook-store.ts';
import { type Connections, type PostResult, post } from './post.ts';
import type { Resolve } from './target.ts';
import { restartMessage, signedHeaders, toAttempt, type WebhookMessage } from './webhook-message.ts';

/** Settings that only tests change. */
export interface WebhookSettings {
  /** Returns a number from 0 to below 1, like `Math.random`. */
  readonly random: () => number;
  readonly resolve?: Resolve | undefined;
  readonly timeoutMs?: number | undefined;
  readonly lookMs: number;
}

export interface DeliveryContext extends Omit<WebhookSettings, 'lookMs'> {
  readonly stores: NarrowableStore<ServedRows>;
  readonly keys: Pick<ApiKeyStore, 'find'>;
  readonly store: WebhookStore;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly zone: TimeZone;
  readonly signal: AbortSignal;
  note(message: string): void;
  /** False while delivery results cannot be stored. */
  mayDeliver(): boolean;
  /** Called after a change of progress, which has to be stored soon. */
  onChange(): void;
}

// Retries of failed deliveries (docs/webhooks.md#order-and-retries)

const HOUR_MS = 3_600_000;

/** Milliseconds between attempts, from Standard Webhooks 1.0.0. The last wait is repeated. */
const WAITS_MS = [5_000, 300_000, HOUR_MS / 2, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS)];
const LONGEST_ASKED_MS = 24 * HOUR_MS;
/** Largest random change of a wait, as a fraction. Spreads the retries of messages that failed together. */
const JITTER = 0.1;
const LONGEST_WAIT_MS = LONGEST_ASKED_MS * (1 + JITTER);

/**
 * @param failures at least 1
 * @param askedMs wait requested by the receiver, which replaces the schedule
 */
export function retryWaitMs(failures: number, askedMs: number | undefined, random: number): number {
  // The attempt is never made earlier than requested.
  if (askedMs !== undefined) return Math.min(askedMs, LONGEST_ASKED_MS) * (1 + JITTER * random);
  const wait = WAITS_MS[Math.min(failures, WAITS_MS.length) - 1] as number;
  return wait * (1 - JITTER + 2 * JITTER * random);
}

/** Maximum wait for events, after which the endpoint's key is checked again. */
const WAIT_MS = 10_000;

const NOTHING_FAILS = { failures: 0, failingSequence: null, nextAttemptAtMs: 0 };

export class EndpointDelivery {
  private readonly context: DeliveryContext;
  private readonly reader: MessageReader;
  private endpoint: WebhookEndpoint;
  private progress: WebhookProgress;
  /** Monotonic time of the next attempt. */
  private dueMs: number;
  private attempts: WebhookAttempt[] = [];
  private isChanged = false;
  private isStopped = false;
  private lastFault = '';
  private running: Promise<void> | undefined;
  private leave: () => void = () => undefined;
  /** Cooperatives of the key. An equal array never replaces this one: caches compare arrays by identity. */
  private visible: Visible = null;

  constructor(endpoint: WebhookEndpoint, context: DeliveryContext) {
    this.context = context;
    this.endpoint = endpoint;
    this.progress = endpoint;
    this.dueMs = this.dueAt(endpoint.nextAttemptAtMs);
    this.reader = new MessageReader(context.stores, context.zone);
  }

  get unstoredCount(): number {
    return this.attempts.length;
  }

  /** Removes and returns the results to store; undefined if nothing has changed. */
  takeOutcome(): WebhookOutcome | undefined {
    if (!this.isChanged) return undefined;
    const { endpoint, progress, attempts } = this;
    this.attempts = [];
    this.isChanged = false;
    return { id: endpoint.id, revision: endpoint.revision, progress, attempts };
  }

  /** Restores results that could not be stored. */
  giveBack({ attempts }: WebhookOutcome): void {
    this.attempts.unshift(...attempts);
    this.isChanged = true;
  }

  /**
   * Takes over the stored endpoint. If a command has changed the progress, also takes over the values that
   * commands change; all other progress is newer in memory.
   */
  update(endpoint: WebhookEndpoint): void {
    if (endpoint.revision !== this.endpoint.revision) {
      const { nextAttemptAtMs, disabledAt } = endpoint;
      this.take({ ...this.progress, nextAttemptAtMs, disabledAt });
    }
    this.endpoint = endpoint;
  }

  /** Starts the delivery unless it is running. */
  wake(): void {
    this.running ??= this.runAndReport();
  }

  /** Prevents further attempts, and waits until the current attempt has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.leave();
    await this.running;
  }

  private async runAndReport(): Promise<void> {
    let fault = '';
    try {
      await this.run();
    } catch (error) {
      fault = String(error);
      if (fault !== this.lastFault) this.context.note(`${this.name} could not go on: ${fault}`);
    }
    this.lastFault = fault;
    this.running = undefined;
  }

  /** Name in the log, without the URL's path: the path may contain a secret. */
  private get name(): string {
    return `webhook endpoint ${this.endpoint.id} (${URL.parse(this.endpoint.url)?.origin})`;
  }

  private async run(): Promise<void> {
    if (!this.maySee()) return;
    while (!this.isStopped && this.progress.disabledAt === null && this.context.mayDeliver()) {
      const next = await this.next();
      if (next === undefined) await this.waitForNews();
      else if (next.message === undefined || this.isSkipped(next.message)) {
        this.pass(next);
        await nextIteration();
      } else if (this.context.clock.monotonicMs() < this.dueMs) return;
      else if (!(await this.attempt(next, next.message))) return;
    }
  }

  /** Reads the key, and takes over its cooperatives. @returns false if the key may not receive messages */
  private maySee(): boolean {
    const now = nowSeconds(this.context.clock);
    const key = this.context.keys.find(this.endpoint.keyId, now);
    if (key === undefined || findPause(key, now) !== undefined) return false;
    if (JSON.stringify(key.cooperatives) !== JSON.stringify(this.visible)) {
      this.visible = key.cooperatives;
      this.reader.forget();
    }
    return true;
  }

  private async next(): Promise<Next | undefined> {
    const { position, isRestarted } = this.progress;
    if (isRestarted) return this.restartNotice();
    try {
      return await this.reader.next(this.endpoint, position, this.visible);
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code !== 'gone') throw error;
      this.restart();
      return this.restartNotice();
    }
  }

  private restartNotice(): Next {
    const { position } = this.progress;
    if (!wants(this.endpoint, 'feed.restarted')) return { message: undefined, position };
    const { clock, zone } = this.context;
    const to = { endpointId: this.endpoint.id, epoch: position.epoch };
    return { message: restartMessage(to, position.sequence, nowSeconds(clock), zone), position };
  }

  /** Continues at the end of the sequence, after the epoch has changed or the next events were deleted. */
  private restart(): void {
    const position = readEnd(this.context.stores.narrowedTo(null));
    this.change({ ...NOTHING_FAILS, position, isRestarted: true });
    this.reader.forget();
    this.context.note(
      `${this.name} begins again after event ${position.sequence}: the sequence of changes does not go on ` +
        'from where it was',
    );
  }

  private async waitForNews(): Promise<void> {
    if (this.isStopped) return;
    const { epoch, sequence: after } = this.progress.position;
    await this.context.stores
      .narrowedTo(this.visible)
      .events.wait({ after, limit: 1, epoch }, WAIT_MS, (leave) => {
        this.leave = leave;
      });
  }

  private isSkipped({ events }: WebhookMessage): boolean {
    if (events === undefined) return false;
    return this.endpoint.skips.some((skipped) => events.first <= skipped && skipped <= events.last);
  }

  private pass({ position }: Next): void {
    this.change({ ...NOTHING_FAILS, position, isRestarted: false });
  }

  private take(progress: WebhookProgress): void {
    const { nextAttemptAtMs } = progress;
    if (nextAttemptAtMs !== this.progress.nextAttemptAtMs) this.dueMs = this.dueAt(nextAttemptAtMs);
    this.progress = progress;
  }

  /** Returns a stored time as monotonic time. Limits the wait, because the stored time may be wrong. */
  private dueAt(nextAttemptAtMs: number): number {
    const { clock } = this.context;
    return clock.monotonicMs() + Math.min(nextAttemptAtMs - clock.now(), LONGEST_WAIT_MS);
  }

  private change(changes: Partial<WebhookProgress>): void {
    this.take({ ...this.progress, ...changes });
    this.isChanged = true;
    this.context.onChange();
  }

  /** @returns false if the delivery cannot continue now */
  private attempt(next: Next, message: WebhookMessage): Promise<boolean> {
    const { context, endpoint } = this;
    return context.connections.use(endpoint.id, endpoint.url.startsWith('https:'), async (agent) => {
      // The key may have been disabled or restricted while the message waited for a connection.
      const { visible } = this;
      if (this.isStopped || !this.maySee()) return false;
      if (visible !== this.visible) return true;
      const atMs = context.clock.now();
      const now = Math.floor(atMs / 1000);
      const secrets = context.store.listSecrets(endpoint.id, now);
      // If there is no secret, a command has removed the endpoint since the last check.
      if (secrets.length === 0) return false;
      const headers = signedHeaders(message, secrets, now);
      const { url, allowsPrivate } = endpoint;
      const result = await post({ url, allowsPrivate, headers, body: message.body }, { ...context, agent });
      if (result.fault !== null && this.isStopped) return false;
      this.attempts.push(toAttempt(message, atMs, result));
      this.settle(next, message, result);
      return true;
    });
  }

  private settle(next: Next, { id, events }: WebhookMessage, { status, fault, retryAfterMs }: PostResult) {
    const { context, progress } = this;
    if (fault === null) {
      if (progress.failures >= FAILURES_TO_REPORT) context.note(`${this.name} takes deliveries again`);
      this.pass(next);
      return;
    }
    const now = context.clock.now();
    const failures = progress.failures + 1;
    const failing = { failures, failingSequence: progress.isRestarted ? null : (events?.last ?? null) };
    if (status === 410) {
      context.note(`${this.name} has answered 410 and is disabled`);
      this.change({ ...failing, disabledAt: Math.floor(now / 1000) });
      return;
    }
    if (failures === FAILURES_TO_REPORT)
      context.note(`${this.name} has failed ${failures} times to take ${id}: ${fault}`);
    const waitMs = retryWaitMs(failures, retryAfterMs, context.random());
    this.change({ ...failing, nextAttemptAtMs: Math.ceil(now + waitMs) });
  }
}
