/**
 * The node:http server: limits on slow clients, responses below the handler, orderly shutdown. The program
 * opens its listener in app/compose.ts, where a second one would be opened.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { METHODS } from '../declare/route.ts';
import { Connection, type ConnectionLog, type ConnectionRefusal } from './connection.ts';
import { type Listeners, listenTogether } from './listeners.ts';
import { EXPECTS_CONTINUE, type Handler } from './request-lifecycle.ts';
import { DEFAULT_TIMEOUTS, KEEP_ALIVE_MS, type ServerTimeouts } from './timeouts.ts';

/** More are not kept open (docs/operating.md#overload). */
const MAX_CONNECTIONS = 4_096;
/** With more than this part of them open, those that nobody uses are closed: the next clients find room. */
const CROWDED = 0.9;
/** What clients leave unread is kept in memory: of all connections together not more than this for long. */
const MAX_UNSENT_BYTES = 32 * 2 ** 20;
// Timeouts fire only as often as connections are looked at.
const SWEEP_MS = 1_000;
const CLOSE_POLL_MS = 50;

export interface RunningServer {
  readonly address: AddressInfo;
  /** Ends in order: no new connections, every request received is answered. Resolves when all are closed. */
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly handler: Handler;
  readonly host: string;
  readonly port: number;
  readonly log: ConnectionLog;
  readonly timeouts?: Partial<ServerTimeouts> | undefined;
  /** Further ones are closed without a response. */
  readonly maxConnections?: number;
}

/** @throws (as rejection) the system's error when the address cannot be listened on */
export async function listen(options: ServerOptions): Promise<RunningServer> {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    // The sweep below ends idle connections: node:http would set two timers for every request.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: Math.min(SWEEP_MS, timeouts.headersMs),
    // A request without a body needs no stream; from Node 24.12 on, earlier ones ignore it.
    optimizeEmptyRequests: true,
    // The handler refuses a missing one itself, in the form of every response.
    requireHostHeader: false,
    shouldUpgradeCallback: (incoming) => ignoreUpgrade(incoming, connections),
  });
  const { log, maxConnections = MAX_CONNECTIONS } = options;
  const connections = trackConnections(server, log, maxConnections);
  answerRequests(server, options.handler, connections);
  const listeners = await listenTogether(server, options);
  const sweep = setInterval(
    () => {
      for (const connection of connections.values()) {
        connection.dropIfIdle(performance.now(), { idleMs: timeouts.idleMs, keepAliveMs: KEEP_ALIVE_MS });
      }
      makeRoom(connections, Math.floor(maxConnections * CROWDED), log);
    },
    Math.min(SWEEP_MS, timeouts.idleMs),
  );
  sweep.unref();
  return {
    address: server.address() as AddressInfo,
    close: () =>
      close({ server, listeners, connections, closeMs: timeouts.closeMs }).finally(() =>
        clearInterval(sweep),
      ),
  };
}

/** Closes connections that have been unused for longest, and those whose clients leave most unread. */
function makeRoom(connections: Connections, most: number, log: ConnectionLog): void {
  const all = [...connections.values()];
  if (all.length > most) {
    const unused = all.filter(({ isUnused }) => isUnused).sort((a, b) => a.stillSinceMs - b.stillSinceMs);
    for (const connection of unused.slice(0, all.length - most)) {
      connection.drop();
      log.closed('unused connections closed, to make room');
    }
  }
  let unsentBytes = all.reduce((sum, connection) => sum + connection.unsentBytes, 0);
  if (unsentBytes <= MAX_UNSENT_BYTES) return;
  for (const connection of all.sort((a, b) => b.unsentBytes - a.unsentBytes)) {
    unsentBytes -= connection.unsentBytes;
    connection.drop();
    log.closed('connections closed, whose clients do not read');
    if (unsentBytes <= MAX_UNSENT_BYTES) return;
  }
}

/** What node:http announces in `Keep-Alive`, so that clients stop using a connection in time. */
type KeptAlive = ServerResponse & { _keepAliveTimeout?: number };

type Connections = ReadonlyMap<Duplex, Connection>;

function trackConnections(server: Server, log: ConnectionLog, maxConnections: number): Connections {
  const connections = new Map<Duplex, Connection>();
  server.on('connection', (socket: Duplex) => {
    if (connections.size >= maxConnections) {
      socket.destroy();
      log.closed(`connections refused: ${maxConnections} are open`);
      return;
    }
    socket.once('close', () => connections.delete(socket));
    connections.set(socket, new Connection(socket, log));
  });
  return connections;
}

/**
 * This server never changes the protocol, and answers a request to do so like any other (RFC 9110, section
 * 7.8). But node's parser stops behind it and drops what follows in the same packet, half a request
 * perhaps: what comes next cannot be told from a request, so the connection ends with the response
 * (docs/api.md#responses-and-errors).
 */
function ignoreUpgrade(incoming: IncomingMessage, connections: Connections): boolean {
  connections.get(incoming.socket)?.endAfter(incoming);
  return false;
}

function answerRequests(server: Server, handler: Handler, connections: Connections): void {
  const handle = (incoming: IncomingMessage, outgoing: KeptAlive) => {
    outgoing._keepAliveTimeout = KEEP_ALIVE_MS;
    connections.get(incoming.socket)?.receive(incoming, outgoing, handler);
  };
  server.on('request', handle);
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    handle(Object.assign(incoming, { [EXPECTS_CONTINUE]: true }), outgoing);
  });
  server.on('checkExpectation', ({ socket }: IncomingMessage) => {
    connections.get(socket)?.refuse({
      status: 417,
      detail: 'The expectation in the Expect header cannot be met.',
    });
  });
  server.on('connect', (_incoming: IncomingMessage, socket: Duplex) => {
    connections.get(socket)?.refuse({
      status: 405,
      detail: 'Method "CONNECT" not allowed.',
      headers: { Allow: [...Object.keys(METHODS), 'OPTIONS'].sort().join(', ') },
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE') socket.destroy();
    else connections.get(socket)?.refuse(toRefusal(error.code));
  });
}

function toRefusal(code: string | undefined): ConnectionRefusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, detail: 'The request did not arrive in time.' };
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, detail: 'Request header fields too large.' };
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return { status: 413, detail: 'Request body too large.' };
  return { status: 400, detail: 'The request could not be read as HTTP.' };
}

interface Closing {
  readonly server: Server;
  readonly listeners: Listeners;
  readonly connections: Connections;
  readonly closeMs: number;
}

async function close({ server, listeners, connections, closeMs }: Closing): Promise<void> {
  // close() also ends the sweep for timed-out connections, so idle ones are ended here until all are gone.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    for (const connection of connections.values()) connection.endIfUnused();
  }, CLOSE_POLL_MS);
  const deadline = setTimeout(() => server.closeAllConnections(), closeMs);
  const allClosed = listeners.close();
  server.closeIdleConnections();
  await allClosed;
  // node:net counts a connection out before its `close` event, with which the last request on it is logged.
  while (connections.size > 0) await nextIteration();
  clearInterval(sweep);
  clearTimeout(deadline);
}
