/** The composition root: configuration → store → middleware → routes → handler. */
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { type AccessLog, createAccessLog } from './http/access-log.ts';
import { createHandler, type Handler } from './http/lifecycle.ts';
import { createMiddleware } from './http/middleware/chain.ts';
import { InProcessRateLimiter } from './http/middleware/in-process-rate-limiter.ts';
import { createBlockTexts } from './http/resources/financials.ts';
import type { Route } from './http/route.ts';
import { createRouter } from './http/router.ts';
import { createRoutes } from './http/routes.ts';
import { createSender } from './http/send.ts';
import { listen, type RunningServer, type ServerTimeouts } from './http/server.ts';
import { Scheduler } from './scheduler.ts';
import type { RegistryStore } from './store/ports.ts';
import { openApiKeys } from './store/sqlite/api-keys.ts';
import { openSqliteStore } from './store/sqlite/storage.ts';

/** How long opening may wait for another process that is creating the same files. */
const OPEN_TIMEOUT_MS = 2_000;

export interface RegistryDependencies {
  readonly config: Config;
  readonly clock?: Clock;
  /** Takes whole log lines; standard output when not given. */
  readonly writeLog?: (lines: string) => void;
  readonly timeouts?: Partial<ServerTimeouts>;
}

export interface Registry {
  /**
   * A listener for node:http's `request` event; also mountable in other frameworks, before any body parser.
   */
  readonly handler: Handler;
  readonly routes: readonly Route[];
  readonly store: RegistryStore;
  /** Serves on the configured host and port, with limits on slow clients. */
  listen(): Promise<RunningServer>;
  /** Says in the log what an operator should know. */
  note(message: string): void;
  /** Ends in order: refuses readiness, answers what was received, then closes the files. */
  close(): Promise<void>;
}

/**
 * Opens the databases, creating missing ones, and composes the service. Nothing else is touched: no port, no
 * signal, no global state.
 * @throws DatabaseFileError when a file cannot be used
 */
export function composeRegistry(parts: RegistryDependencies): Registry {
  const { config } = parts;
  const clock = parts.clock ?? systemClock;
  let draining = false;
  const isDraining = () => draining;
  const keys = openApiKeys(config.keysFile, { busyTimeoutMs: OPEN_TIMEOUT_MS, create: true });
  const store = openStore(config, clock, () => keys.close());
  const scheduler = new Scheduler();
  const log = createAccessLog({
    level: config.logLevel,
    write: parts.writeLog ?? ((lines) => process.stdout.write(lines)),
    now: clock.now,
    scheduler,
  });
  const limiter = new InProcessRateLimiter(clock);
  const routes = createRoutes({ store, limiter, clock, zone: config.zone, isDraining });
  const handler = createHandler({
    router: createRouter(routes),
    middleware: createMiddleware({ keys, trustedProxies: config.trustedProxies, limiter, clock }),
    send: createSender({ scheduler, log, clock, isDraining }),
    clock,
    log,
    publicUrl: config.publicUrl,
  });
  const running: RunningServer[] = [];
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    draining = true;
    await Promise.all(running.map((server) => server.close()));
    await store.close();
    keys.close();
    log.flush();
  }

  return {
    handler,
    routes,
    store,
    note: (message) => log.note(message),
    async listen() {
      const { host, port } = config;
      const server = await listen({
        handler,
        host,
        port,
        log: { refused: (requestId, status) => logRefused(log, clock, requestId, status) },
        ...(parts.timeouts === undefined ? {} : { timeouts: parts.timeouts }),
      });
      running.push(server);
      return server;
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** Logs what was refused before it became a request. */
function logRefused(log: AccessLog, clock: Clock, requestId: string, status: number): void {
  const unknown = { keyId: undefined, method: 'OTHER', route: '' };
  log.request({ ...unknown, time: clock.now(), requestId, status, durationMs: 0 });
}

function openStore(config: Config, clock: Clock, closeOthers: () => void) {
  try {
    const blocks = createBlockTexts(config.zone);
    return openSqliteStore({ file: config.databaseFile, monotonicMs: clock.monotonicMs, blocks });
  } catch (error) {
    closeOthers();
    throw error;
  }
}
