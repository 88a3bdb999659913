/**
 * The node:http server: limits on slow clients, responses below the handler, orderly shutdown. The program
 * opens its listener in compose.ts; a second one would be opened there too.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { METHODS } from '../declare/route.ts';
import {
  Connection,
  type ConnectionLog,
  type ConnectionRefusal,
  type Listeners,
  listenTogether,
  type RunningServer,
} from './client-connection.ts';
import { EXPECTS_CONTINUE, type Handler } from './request-lifecycle.ts';

// Timeouts for sending a request, reading its response, and between requests

/** Milliseconds until a client is dropped that sends no headers, no complete request, or does not read. */
export interface ServerTimeouts {
  readonly headersMs: number;
  /** From the first byte to the end of the body; the body's own limit of 30 s is in read-body.ts. */
  readonly requestMs: number;
  /** Without a byte in either direction, or without progress of a response; between requests, 65 s. */
  readonly idleMs: number;
  /** Time that an orderly shutdown waits for requests that have begun. */
  readonly closeMs: number;
}

const DEFAULT_TIMEOUTS: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 42_000,
  idleMs: 60_000,
  closeMs: 10_000,
};
/** Idle time between requests: more than a proxy's usual 60 s, so that it never uses a closing connection. */
const KEEP_ALIVE_MS = 65_000;

/** Default maximum of open connections (docs/operating.md#overload). */
const MAX_CONNECTIONS = 4_096;
/** Above this share of the maximum, unused connections are closed to make room for new clients. */
const CROWDED = 0.9;
/** Maximum unread response bytes, which are kept in memory, over all connections; checked by the sweep. */
const MAX_UNSENT_BYTES = 32 * 2 ** 20;
// Idle timeouts have no finer resolution than the sweep.
const SWEEP_MS = 1_000;
const CLOSE_POLL_MS = 50;

interface ConnectionOptions {
  readonly handler: Handler;
  readonly log: ConnectionLog;
  readonly timeouts?: Partial<ServerTimeouts> | undefined;
  /** Connections beyond this number are closed without a response. */
  readonly maxConnections?: number;
}

interface ServerOptions extends ConnectionOptions {
  readonly host: string;
  readonly port: number;
}

/** @throws (as rejection) the system's error when the address cannot be listened on */
export async function listen(options: ServerOptions): Promise<RunningServer> {
  const { server, serve } = openServer(options);
  const close = serve(await listenTogether(server, options));
  return { address: server.address() as AddressInfo, close };
}

/** A server that listens nowhere: its clients are in the process. */
interface InProcessServer extends Pick<RunningServer, 'close'> {
  /** @returns the client's end of a new connection. @throws Error once the server closes */
  connect(): Duplex;
}

export function serveInProcess(options: ConnectionOptions): InProcessServer {
  const { server, connections, serve } = openServer(options);
  let isClosing = false;
  const close = serve({
    async close() {
      await Promise.all(
        [...connections.keys()].map((socket) => new Promise((end) => socket.once('close', end))),
      );
    },
  });
  return {
    connect() {
      if (isClosing) throw new Error('The registry is closed.');
      const { client, socket } = pair();
      server.emit('connection', socket);
      return client;
    },
    close() {
      isClosing = true;
      return close();
    },
  };
}

/** Who is in the process comes from this machine. */
const LOOPBACK = '127.0.0.1';

/** The two ends of a connection within the process: the server's has what it asks of a socket. */
function pair(): { readonly client: Duplex; readonly socket: Duplex } {
  const [client, end] = duplexPair();
  const bytes = { read: 0, taken: 0 };
  end.on('data', (part: Buffer) => {
    bytes.read += part.length;
  });
  client.on('data', (part: Buffer) => {
    bytes.taken += part.length;
  });
  // The process does not end while somebody waits, as with a socket.
  const isOpen = setInterval(() => {}, SWEEP_MS);
  // Neither end learns by itself that the other was destroyed.
  client.once('close', () => end.destroy());
  end.once('close', () => {
    clearInterval(isOpen);
    client.destroy();
  });
  const socket = Object.defineProperties(end, {
    remoteAddress: { value: LOOPBACK },
    bytesRead: { get: () => bytes.read },
    bytesWritten: { get: () => bytes.taken + end.writableLength },
    destroySoon: { value: () => end.end(() => end.destroy()) },
  });
  return { client, socket };
}

/** @returns what begins to look after connections, and gives what closes them */
function openServer(options: ConnectionOptions) {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    // The sweep below ends idle connections: node:http would set two timers for every request.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: Math.min(SWEEP_MS, timeouts.headersMs),
    // A request without a body needs no stream. Node ignores this option before 24.12.
    optimizeEmptyRequests: true,
    // The handler refuses a missing Host header itself, in the format of every other response.
    requireHostHeader: false,
    shouldUpgradeCallback: (incoming) => ignoreUpgrade(incoming, connections),
  });
  const { log, maxConnections = MAX_CONNECTIONS } = options;
  const connections = trackConnections(server, log, maxConnections);
  answerRequests(server, options.handler, connections);

  function serve(listeners: Listeners): RunningServer['close'] {
    const { idleMs, closeMs } = timeouts;
    const sweep = setInterval(
      () => {
        for (const connection of connections.values())
          connection.dropIfIdle(performance.now(), { idleMs, keepAliveMs: KEEP_ALIVE_MS });
        makeRoom(connections, Math.floor(maxConnections * CROWDED), log);
      },
      Math.min(SWEEP_MS, idleMs),
    );
    sweep.unref();
    return () => close({ server, listeners, connections, closeMs }).finally(() => clearInterval(sweep));
  }
  return { server, connections, serve };
}

/** Closes the connections that have been unused longest, and those whose clients leave most unread. */
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

/** Timeout that node:http announces in `Keep-Alive`, so that clients stop using a connection in time. */
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
 * Answers a request to change the protocol like any other (RFC 9110, section 7.8), since this server never
 * does. But node's parser stops after it and drops the rest of the packet, perhaps half a request: the next
 * bytes cannot be told apart from a request, so the connection ends with the response
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
  // Not closeAllConnections(): a server that does not listen knows none.
  const deadline = setTimeout(() => {
    for (const connection of connections.values()) connection.drop();
  }, closeMs);
  const allClosed = listeners.close();
  server.closeIdleConnections();
  await allClosed;
  // node:net counts a connection out before its `close` event, with which the last request on it is logged.
  while (connections.size > 0) await nextIteration();
  clearInterval(sweep);
  clearTimeout(deadline);
}
