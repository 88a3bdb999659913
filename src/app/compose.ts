/** The composition root: configuration → store → middleware → routes → handler. */

import type { AddressInfo } from 'node:net';
import type { Config } from '../config.ts';
import { REFUSALS } from '../domain/access/refusal-reasons.ts';
import { createExporter } from '../export/exporter.ts';
import type { Route } from '../http/declare/route.ts';
import { createMiddleware, type MiddlewareDependencies } from '../http/middleware/chain.ts';
import { InProcessRateLimiter } from '../http/middleware/in-process-rate-limiter.ts';
import { openOverloadGuard } from '../http/middleware/refuse-overload.ts';
import { OFTEN } from '../http/middleware/refused-addresses.ts';
import { createRoutes } from '../http/routes.ts';
import { type AccessLog, createAccessLog } from '../http/server/access-log.ts';
import type { ConnectionLog } from '../http/server/connection.ts';
import { createHandler, type Handler, type HandlerDependencies } from '../http/server/request-lifecycle.ts';
import { createSender, type SenderDependencies } from '../http/server/send.ts';
import { listen, type RunningServer } from '../http/server/server.ts';
import type { ServerTimeouts } from '../http/server/timeouts.ts';
import { openCreate } from '../http/writes/idempotency.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { Scheduler } from '../runtime/scheduler.ts';
import type { AccessLedger } from '../store/contract/access-ledger.ts';
import type { ApiKeyStore } from '../store/contract/api-keys.ts';
import type { IdempotentResponses } from '../store/contract/entity-store.ts';
import type { RegistryStore } from '../store/contract/registry.ts';
import type { Storage } from '../store/contract/storage.ts';
import type { StorageError } from '../store/contract/storage-error.ts';
import type { WebhookSettings } from '../webhooks/context.ts';
import { WebhookService } from '../webhooks/service.ts';
import { createEmbedded, type Embedded } from './embedding/embedded.ts';
import { ServiceMetrics } from './metrics.ts';
import { openConfiguredStorage } from './storage.ts';

export interface RegistryDependencies {
  readonly config: Config;
  readonly clock?: Clock | undefined;
  /** Receives complete log lines; standard output when not given. */
  readonly writeLog?: ((lines: string) => void) | undefined;
  readonly timeouts?: Partial<ServerTimeouts> | undefined;
  readonly webhooks?: Partial<WebhookSettings> | undefined;
  /** Where readings are recorded; as configured when not given. */
  readonly ledger?: AccessLedger | undefined;
}

/** What serves, and the end of it. */
interface Service {
  /**
   * A listener for node:http's `request` event; also mountable in other frameworks, before any body parser.
   */
  readonly handler: Handler;
  /** Serves on the configured host and port, with limits on slow clients, and delivers webhooks. */
  listen(): Promise<RunningServer>;
  /**
   * Resolves when writing has failed in a way that leaves the disk in doubt, with the error to report.
   * The registry takes no writes then and is not ready: close it, look at the disk, run `check`, and open it
   * again.
   */
  readonly failed: Promise<StorageError>;
  /** Ends in order: refuses readiness, answers what was received, then closes the files. */
  close(): Promise<void>;
}

export interface Registry extends Service, Embedded {}

/** What only this program may call: everything in the public API keeps every invariant. */
export interface ComposedRegistry extends Service {
  readonly embedded: Embedded;
  readonly routes: readonly Route[];
  readonly storage: Storage;
  readonly store: RegistryStore;
  /** Where metrics are served, once the service listens; undefined when they are off. */
  metricsAddress(): AddressInfo | undefined;
  /** False while the disk of the access ledger does not answer: the process cannot end by itself then. */
  isRecording(): boolean;
  /** Logs what an operator should know. */
  note(message: string): void;
}

/**
 * Opens the databases, creating missing ones, and composes the service. Nothing else is touched: no port, no
 * signal, no global state.
 * @throws StorageError when the storage location cannot be used
 */
export function composeRegistry(dependencies: RegistryDependencies): ComposedRegistry {
  const { config, clock = systemClock, timeouts } = dependencies;
  const { writeLog = (lines) => process.stdout.write(lines) } = dependencies;
  let draining = false;
  const scheduler = new Scheduler();
  const metrics = config.metrics === undefined ? undefined : new ServiceMetrics();
  const storage = openConfiguredStorage(config, clock, scheduler, metrics?.measureCommit);
  const written = createAccessLog({ level: config.logLevel, write: writeLog, now: clock.now, scheduler });
  const { keys, ledger, store } = openStores(
    storage,
    () => dependencies.ledger ?? openLedger(config, storage, clock, written, metrics),
  );
  const log = countingUses(keys, metrics?.counting(written) ?? written);
  const noteAddress = (address: string) => noteRefused(address, log, metrics);
  const limiter = new InProcessRateLimiter(clock);
  const { host, port, trustedProxies } = config;
  const overload = openOverloadGuard(clock, trustedProxies);
  const exporter = createExporter(storage, config.zone);
  const isRecording = () => ledger?.isRecording() ?? true;
  const findUnready = async () => (draining ? 'stopping' : findFailing(store, isRecording));
  const routes = createRoutes({ exporter, store, limiter, clock, zone: config.zone, findUnready });
  const shared = { ...config, storage, keys, clock, routes, isDraining: () => draining, ledger };
  const checking = { scheduler, limiter, overload, noteAddress };
  const handler = composeHandler({ ...shared, ...checking, log, responses: store.responses });
  const embedding = createEmbedded(shared);
  const running: RunningServer[] = [];
  let metricsServer: RunningServer | undefined;
  let webhooks: WebhookService | undefined;
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    draining = true;
    overload.stop();
    const delivered = webhooks?.close();
    store.events.endWaits();
    await Promise.all([delivered, exporter.close(), ...running.map((server) => server.close())]);
    metrics?.close();
    await ledger?.close();
    await embedding.close();
    await store.close();
    keys.close();
    log.flush();
  }

  return {
    handler,
    routes,
    storage,
    store,
    failed: store.failed,
    embedded: embedding.embedded,
    isRecording,
    note: (message) => log.note(message),
    metricsAddress: () => metricsServer?.address,
    async listen() {
      if (config.metrics !== undefined && metrics !== undefined && metricsServer === undefined) {
        const onError = (error: unknown) => log.unexpected('metrics', error);
        const measured = { clock, exporter, findUnready, ledger, limiter, storage, store };
        metricsServer = await metrics.listen(config.metrics, measured, onError);
        running.push(metricsServer);
      }
      const connections = connectionLog(log, clock);
      const server = await listen({ handler, host, port, log: connections, timeouts });
      running.push(server);
      overload.start();
      const note = (message: string) => log.note(message);
      const [stores, settings] = [store, dependencies.webhooks];
      webhooks ??= new WebhookService({ storage, stores, keys, clock, zone: config.zone, note, settings });
      return server;
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

interface HandlerParts
  extends Omit<HandlerDependencies, 'middleware' | 'create' | 'send' | 'keys'>,
    Omit<MiddlewareDependencies, 'keys'>,
    Pick<SenderDependencies, 'isDraining'> {
  readonly keys: ApiKeyStore;
  readonly ledger: AccessLedger | undefined;
  readonly responses: IdempotentResponses;
}

function composeHandler(parts: HandlerParts): Handler {
  const { ledger, trustedProxies } = parts;
  return createHandler({
    ...parts,
    middleware: createMiddleware(parts),
    create: openCreate(parts.responses, parts.clock),
    send: createSender({ ...parts, recording: ledger && { ledger, trustedProxies } }),
  });
}

/** The log, with each request of a key counted: it is called once a response was sent. */
function countingUses(keys: Pick<ApiKeyStore, 'countUse'>, log: AccessLog): AccessLog {
  return {
    ...log,
    request(entry) {
      const { keyId, reason, time } = entry;
      const at = Math.floor(time / 1000);
      // The service being unavailable says nothing of the key.
      if (keyId !== undefined && reason !== undefined && reason in REFUSALS)
        keys.countUse(keyId, 'refused', reason, at);
      else if (keyId !== undefined) keys.countUse(keyId, 'admitted', '', at);
      log.request(entry);
    },
  };
}

/** Logs what never became a request. */
const connectionLog = (log: AccessLog, clock: Clock): ConnectionLog => ({
  refused(requestId, status) {
    const unknown = { keyId: undefined, method: 'OTHER', route: '' };
    log.request({ ...unknown, time: clock.now(), requestId, status, durationMs: 0 });
  },
  closed: (what) => log.connectionClosed(what),
});

function noteRefused(address: string, log: AccessLog, metrics: ServiceMetrics | undefined): void {
  metrics?.countRefusedAddress();
  log.note(`Keys were refused ${OFTEN} times in a minute from ${address}.`);
}

/** @throws StorageError */
function openLedger(
  { accessLedger, accessLedgerDays }: Config,
  storage: Storage,
  clock: Clock,
  log: AccessLog,
  metrics: ServiceMetrics | undefined,
): AccessLedger | undefined {
  if (!accessLedger) return undefined;
  const note = (message: string) => log.note(message);
  const measure = metrics?.measureReadings;
  return storage.serveLedger({ clock, days: accessLedgerDays, note, measure });
}

function findFailing(store: RegistryStore, isRecording: () => boolean) {
  if (!store.isReady()) return 'not_ready';
  return isRecording() ? undefined : 'ledger';
}

function openStores(storage: Storage, openLedger: () => AccessLedger | undefined) {
  // The registry first: the keys' file is not created beside a file that is not a registry.
  const store = storage.openRegistry();
  try {
    const keys = storage.openKeys('serve');
    try {
      return { keys, ledger: openLedger(), store };
    } catch (error) {
      void keys.close();
      throw error;
    }
  } catch (error) {
    void store.close();
    throw error;
  }
}
