/** The composition root: configuration → store → middleware → routes → handler. */

import type { AccessLedger } from './access/access-ledger.ts';
import { type ApiKeyStore, openKeys } from './access/api-key-store.ts';
import { RateLimiter } from './access/rate-limiter.ts';
import { openCreate } from './http/declare/idempotency-keys.ts';
import { type AccessLog, createAccessLog } from './http/server/access-log.ts';
import { createMiddleware, OFTEN } from './http/server/middleware.ts';
import { openOverloadGuard } from './http/server/overload.ts';
import { createHandler } from './http/server/request-lifecycle.ts';
import { createSender } from './http/server/send.ts';
import {
  type ConnectionLog,
  listen,
  type RunningServer,
  type ServerTimeouts,
  serveInProcess,
} from './http/server/server.ts';
import { openServiceLedger } from './ledger/service-ledger.ts';
import type { AddToService, Measures, Serving } from './module.ts';
import { loadSearch, loadStatus, MODULES } from './modules.ts';
import { openRegistry, type RegistryStore } from './open-registry.ts';
import { createRoutes } from './routes.ts';
import type { Config } from './runtime/config.ts';
import { type Clock, Scheduler, systemClock } from './runtime/scheduler.ts';
import type { Storage } from './sqlite/storage.ts';
import { openConfiguredStorage } from './terminal/settings.ts';

/** Additions of modules to the service. Loaded in advance, because `composeRegistry` is synchronous. */
export const ADDED: readonly AddToService[] = await Promise.all(
  MODULES.flatMap(({ service }) => service?.() ?? []),
);

const SEARCH = await loadSearch();

export interface RegistryDependencies {
  readonly config: Config;
  readonly clock?: Clock | undefined;
  /** Receives complete log lines; standard output by default. */
  readonly writeLog?: ((lines: string) => void) | undefined;
  readonly timeouts?: Partial<ServerTimeouts> | undefined;
  readonly added?: readonly AddToService[] | undefined;
  readonly ledger?: AccessLedger | undefined;
}

/**
 * Opens or creates the databases, and composes the service. Opens no port, handles no signal and changes no
 * global state.
 * @throws StorageError if the location cannot be used
 */
export function composeRegistry(dependencies: RegistryDependencies) {
  const { config, clock = systemClock, timeouts } = dependencies;
  const { writeLog = (lines) => process.stdout.write(lines) } = dependencies;
  let draining = false;
  const scheduler = new Scheduler();
  const parts = (dependencies.added ?? ADDED).map((add) => add(config));
  const measures = parts.find((part) => part.measures !== undefined)?.measures;
  const storage = openConfiguredStorage(config, clock, scheduler, measures?.commit);
  const written = createAccessLog({ level: config.logLevel, write: writeLog, now: clock.now, scheduler });
  const givenLedger = () => dependencies.ledger ?? openLedger(config, storage, clock, written, measures);
  const { keys, ledger, store } = openStores(storage, givenLedger);
  const log = measures?.counting(written) ?? written;
  const limiter = new RateLimiter(clock);
  const { host, port, publicUrl, trustedProxies } = config;
  const overload = openOverloadGuard(clock, trustedProxies);
  const isRecording = () => ledger?.isRecording() ?? true;
  const findUnready = async () => (draining ? 'stopping' : findFailing(store, isRecording));
  const routes = createRoutes({ storage, store, limiter, clock, findUnready, parts });
  const noteAddress = addressLog(log, measures);
  const recording = ledger && { ledger, trustedProxies };
  const handler = createHandler({
    routes,
    keys,
    middleware: createMiddleware({ overload, keys, trustedProxies, limiter, clock, scheduler, noteAddress }),
    create: openCreate(store.responses, clock),
    send: createSender({ scheduler, keys, log, clock, isDraining: () => draining, recording }),
    ...{ limiter, clock, log, publicUrl },
  });
  const connections = connectionLog(log, clock);
  const inProcess = serveInProcess({ handler, log: connections, timeouts });
  const running: Pick<RunningServer, 'close'>[] = [inProcess];
  const starting = parts.flatMap((part) => part.listen ?? []);
  const serving: Serving[] = [];
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    draining = true;
    overload.stop();
    const ended = parts.map((part) => part.close?.());
    store.events.endWaits();
    await Promise.all([...ended, ...running.map((server) => server.close())]);
    await Promise.all(parts.map((part) => part.release?.()));
    await ledger?.close();
    await store.close();
    keys.close();
    log.flush();
  }

  return {
    handler,
    /** Opens a connection within this process, without a socket. */
    connect: inProcess.connect,
    routes,
    storage,
    store,
    failed: store.failed,
    /** False while the disk of the access ledger does not respond. The process then cannot exit normally. */
    isRecording,
    note: (message: string) => log.note(message),
    /** Servers of modules. Empty until the service listens. */
    serving: serving as readonly Serving[],
    async listen() {
      const server = await listen({ handler, host, port, log: connections, timeouts });
      running.push(server);
      overload.start();
      const composed = { clock, storage, store, keys, ledger, limiter, log, findUnready, loadStatus };
      const metrics = () => Object.assign({}, ...parts.map((part) => part.metrics?.()));
      for (const start of starting.splice(0)) serving.push(...(await start({ ...composed, metrics })));
      return server;
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

const connectionLog = (log: AccessLog, clock: Clock): ConnectionLog => ({
  refused(requestId, status) {
    const unknown = { keyId: undefined, method: 'OTHER', route: '' };
    log.request({ ...unknown, time: clock.now(), requestId, status, durationMs: 0 });
  },
  closed: (what) => log.connectionClosed(what),
});

const addressLog =
  (log: AccessLog, measures: Measures | undefined) =>
  (address: string): void => {
    measures?.refusedAddress();
    log.note(`Keys were refused ${OFTEN} times in a minute from ${address}.`);
  };

function findFailing(store: RegistryStore, isRecording: () => boolean) {
  if (!store.isReady()) return 'not_ready';
  return isRecording() ? undefined : 'ledger';
}

function openLedger(
  { accessLedger, accessLedgerDays }: Config,
  storage: Storage,
  clock: Clock,
  log: AccessLog,
  measures: Measures | undefined,
): AccessLedger | undefined {
  if (!accessLedger) return undefined;
  const note = (message: string) => log.note(message);
  const measure = measures?.accesses;
  return openServiceLedger(storage.pathForOpening(), { clock, days: accessLedgerDays, note, measure });
}

function openStores(storage: Storage, openLedger: () => AccessLedger | undefined) {
  // Opened first: for another kind of database, this throws before a file of keys is created beside it.
  const store = openRegistry(storage, SEARCH);
  let keys: ApiKeyStore | undefined;
  try {
    keys = openKeys(storage, 'serve');
    return { keys, ledger: openLedger(), store };
  } catch (error) {
    keys?.close();
    void store.close();
    throw error;
  }
}
