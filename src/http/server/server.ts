/** Server of node:http: limits on slow clients, refusal of bytes that are not HTTP, orderly shutdown. */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import {
  type AddressInfo,
  createServer as createSocketServer,
  type ListenOptions,
  type Socket,
  type Server as SocketServer,
} from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import type { SocketAddress } from '../../runtime/config.ts';
import { failBody } from '../declare/request-body.ts';
import { badRequest, bodyTooLarge, HttpError, IS_FOLLOWED } from '../declare/response.ts';
import { METHODS } from '../declare/route.ts';
import { EXPECTS_CONTINUE } from './request-lifecycle.ts';

export interface ServerTimeouts {
  readonly headersMs: number;
  /** From the first byte of a request to the end of its body. request-body.ts gives the body less time. */
  readonly requestMs: number;
  /** Time without progress during a request: no byte in either direction, or an unread response. */
  readonly idleMs: number;
  /** Maximum time that an orderly shutdown waits for current requests. */
  readonly closeMs: number;
}

const DEFAULT_TIMEOUTS: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 42_000,
  idleMs: 60_000,
  closeMs: 10_000,
};
/** Idle time between requests. Longer than a proxy's 60 s, so that no proxy uses a closing connection. */
const KEEP_ALIVE_MS = 65_000;

/** Default maximum of open connections (docs/operating.md#overload). */
const MAX_CONNECTIONS = 4_096;
/** Above this share of the maximum, unused connections are closed to make room for new clients. */
const CROWDED = 0.9;
/** Maximum bytes of unread responses in memory, over all connections. */
const MAX_UNSENT_BYTES = 32 * 2 ** 20;
const SWEEP_MS = 1_000;
const CLOSE_POLL_MS = 50;

interface ConnectionOptions {
  readonly handler: RequestListener;
  readonly log: ConnectionLog;
  readonly timeouts?: Partial<ServerTimeouts> | undefined;
  /** Connections beyond this number are closed without a response. */
  readonly maxConnections?: number;
}

export interface RunningServer {
  readonly address: AddressInfo;
  /** Stops accepting connections, answers received requests, and resolves when all connections are closed. */
  close(): Promise<void>;
}

/** @throws (as rejection) the system's error if it is impossible to listen on the address */
export async function listen(options: ConnectionOptions & SocketAddress): Promise<RunningServer> {
  const { server, serve } = openServer(options);
  const close = serve(await listenTogether(server, options));
  return { address: server.address() as AddressInfo, close };
}

export function serveInProcess(options: ConnectionOptions) {
  const { server, connections, serve } = openServer(options);
  let isClosing = false;
  const close = serve(async () => {
    const sockets = [...connections.keys()];
    await Promise.all(sockets.map((socket) => new Promise((end) => socket.once('close', end))));
  });
  return {
    /** @returns the client's end of a new connection @throws Error after the server has closed */
    connect(): Duplex {
      if (isClosing) throw new Error('The registry is closed.');
      const { client, socket } = pair();
      server.emit('connection', socket);
      return client;
    },
    close(): Promise<void> {
      isClosing = true;
      return close();
    },
  };
}

/** Opens an in-process connection. The server's end has the properties of a socket. */
function pair(): { readonly client: Duplex; readonly socket: Duplex } {
  const [client, end] = duplexPair();
  let bytesRead = 0;
  let bytesReceived = 0;
  end.on('data', (part: Buffer) => {
    bytesRead += part.length;
  });
  client.on('data', (part: Buffer) => {
    bytesReceived += part.length;
  });
  // Keeps the process running while a client waits, as an open socket does.
  const isOpen = setInterval(() => {}, SWEEP_MS);
  // Neither end notices by itself that the other end was destroyed.
  client.once('close', () => end.destroy());
  end.once('close', () => {
    clearInterval(isOpen);
    client.destroy();
  });
  const socket = Object.defineProperties(end, {
    remoteAddress: { value: '127.0.0.1' },
    bytesRead: { get: () => bytesRead },
    bytesWritten: { get: () => bytesReceived + end.writableLength },
    destroySoon: { value: () => end.end(() => end.destroy()) },
  });
  return { client, socket };
}

function openServer(options: ConnectionOptions) {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    // The sweep below ends idle connections, because node:http would set two timers for every request.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: Math.min(SWEEP_MS, timeouts.headersMs),
    // A request without a body needs no stream. Node ignores this option before 24.12.
    optimizeEmptyRequests: true,
    // The handler itself refuses a missing Host header, in the format of other responses.
    requireHostHeader: false,
    // A request for a protocol upgrade is answered like any request (RFC 9110, section 7.8). Node's parser
    // then drops the rest of the packet, which may contain half a request, so the connection ends with the
    // response (docs/api.md#responses-and-errors).
    shouldUpgradeCallback(incoming) {
      connections.get(incoming.socket)?.endAfter(incoming);
      return false;
    },
  });
  const { log, maxConnections = MAX_CONNECTIONS } = options;
  const connections = trackConnections(server, log, maxConnections);
  answerRequests(server, options.handler, connections);

  /** Starts the sweep. @returns a function that closes all connections */
  function serve(closeListeners: () => Promise<void>): () => Promise<void> {
    const { idleMs, closeMs } = timeouts;
    const sweep = setInterval(
      () => {
        for (const connection of connections.values()) connection.dropIfIdle(performance.now(), idleMs);
        makeRoom(connections, Math.floor(maxConnections * CROWDED), log);
      },
      Math.min(SWEEP_MS, idleMs),
    );
    sweep.unref();
    return async () => {
      await closeAll(server, closeListeners, connections, closeMs);
      clearInterval(sweep);
    };
  }
  return { server, connections, serve };
}

/**
 * If more than `most` connections are open, closes those unused longest. If more than MAX_UNSENT_BYTES wait
 * in total, closes the connections with the most unsent bytes.
 */
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

/** Node announces `_keepAliveTimeout` in `Keep-Alive`, so that clients stop using a connection in time. */
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

function answerRequests(server: Server, handler: RequestListener, connections: Connections): void {
  const handle = (incoming: IncomingMessage, outgoing: KeptAlive) => {
    outgoing._keepAliveTimeout = KEEP_ALIVE_MS;
    connections.get(incoming.socket)?.receive(outgoing, handler);
  };
  server.on('request', handle);
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    handle(Object.assign(incoming, { [EXPECTS_CONTINUE]: true }), outgoing);
  });
  server.on('checkExpectation', ({ socket }: IncomingMessage) => {
    connections
      .get(socket)
      ?.refuse(new HttpError(417, 'The expectation in the Expect header cannot be met.'));
  });
  server.on('connect', (_incoming: IncomingMessage, socket: Duplex) => {
    const Allow = [...Object.keys(METHODS), 'OPTIONS'].sort().join(', ');
    connections.get(socket)?.refuse(new HttpError(405, 'Method "CONNECT" not allowed.', { Allow }));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE') socket.destroy();
    else connections.get(socket)?.refuse(toRefusal(error.code));
  });
}

function toRefusal(code: string | undefined): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new HttpError(408, 'The request did not arrive in time.');
  if (code === 'HPE_HEADER_OVERFLOW') return new HttpError(431, 'Request header fields too large.');
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return bodyTooLarge();
  return badRequest('The request could not be read as HTTP.');
}

async function closeAll(
  server: Server,
  closeListeners: () => Promise<void>,
  connections: Connections,
  closeMs: number,
): Promise<void> {
  // server.close() also ends the checks for timeouts, so this timer closes idle connections.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    for (const connection of connections.values()) connection.endIfUnused();
  }, CLOSE_POLL_MS);
  // Not server.closeAllConnections(), which knows no connections if the server does not listen.
  const deadline = setTimeout(() => {
    for (const connection of connections.values()) connection.drop();
  }, closeMs);
  const allClosed = closeListeners();
  server.closeIdleConnections();
  await allClosed;
  // node:net counts a connection as closed before its `close` event, at which the last request is logged.
  while (connections.size > 0) await nextIteration();
  clearInterval(sweep);
  clearTimeout(deadline);
}

export interface ConnectionLog {
  refused(requestId: string, status: number): void;
  /** Counts a connection that was closed or refused for lack of room. @param what message for the log */
  closed(what: string): void;
}

type SocketWithHandle = Duplex & {
  bytesRead?: number;
  bytesWritten?: number;
  /** Internal handle, with the number of bytes that the system has not yet taken. */
  _handle?: { writeQueueSize?: number } | null;
  /** Parser of node:http. The parser calls `onIncoming` for each request. */
  parser?: { onIncoming: (incoming: IncomingMessage, keepsAlive: boolean) => number } | null;
};

/** Maximum number of waiting pipelined requests. The response to the last one ends the connection. */
const MAX_PIPELINED = 32;
/** Return value after which the parser skips the rest of the packet, and then refuses all further bytes. */
const STOP_PARSING = 2;

/**
 * Connection of a client. Unless dropped, a connection ends only after it has answered all requests whose
 * handling has begun, so that clients learn of changes on disk.
 */
export class Connection {
  private readonly socket: SocketWithHandle;
  private readonly log: ConnectionLog;
  /** Response to the last request. Responses end in order, so when this one has ended, all have. */
  private last: ServerResponse | undefined;
  /** Response to the request whose handling began last. */
  private current: ServerResponse | undefined;
  private hasBegun = false;
  /** Request whose response ends the connection. */
  private final: IncomingMessage | undefined;
  private isRefused = false;
  private waiting = 0;
  /** True after a request has arrived while `MAX_PIPELINED` requests were waiting. */
  private isStopped = false;
  private movedBytes = -1;
  /** Monotonic time at which `dropIfIdle` last saw progress. */
  stillSinceMs = 0;
  /** As of the last call of `dropIfIdle`. */
  unsentBytes = 0;

  constructor(socket: Duplex, log: ConnectionLog) {
    this.socket = socket;
    this.log = log;
    this.stopParsingWhenFull();
  }

  /** Node has no setting for this, and would use 2 MB to parse a packet with hundreds of requests. */
  private stopParsingWhenFull(): void {
    const { parser } = this.socket;
    if (parser == null) return;
    const onIncoming = parser.onIncoming;
    parser.onIncoming = (incoming, keepsAlive) => {
      if (!this.isFull) return onIncoming(incoming, keepsAlive);
      this.isStopped = true;
      // Pauses later, because Node resumes reading when it leaves the parser.
      process.nextTick(() => this.socket.pause());
      return STOP_PARSING;
    };
  }

  private get isFull(): boolean {
    return this.waiting >= MAX_PIPELINED;
  }

  /** Handles a request once the client has taken earlier responses, so that memory has only one response. */
  receive(outgoing: ServerResponse, handler: RequestListener): void {
    const incoming = outgoing.req;
    const before = this.last;
    // Discards the request: unread bytes would reset the connection, perhaps before the response arrives.
    if (before?.shouldKeepAlive === false) return void incoming.resume();
    this.hasBegun = true;
    this.last = outgoing;
    const handle = () => {
      this.current = outgoing;
      handler(incoming, outgoing);
    };
    const isWaiting = before?.closed === false;
    if (isWaiting) this.waiting++;
    if (incoming === this.final || this.isFull) outgoing.shouldKeepAlive = false;
    if (!isWaiting) {
      handle();
      return;
    }
    Object.assign(before, { [IS_FOLLOWED]: true });
    before.once('close', () => {
      if (this.socket.destroyed) return;
      this.waiting--;
      if (this.waiting === 0 && this.isStopped) this.socket.resume();
      handle();
    });
  }

  /** Lets the connection end with the response to a request whose handling has not begun. */
  endAfter(incoming: IncomingMessage): void {
    this.final ??= incoming;
  }

  private whenAnswered(work: () => void): void {
    if (this.last === undefined || this.last.closed) work();
    else this.last.once('close', work);
  }

  /**
   * Answers all requests of the connection, and then ends it with a refusal of unreadable bytes. If these
   * bytes are in the body of a request, the refusal is the response to this request.
   */
  refuse(refusal: HttpError): void {
    // Further bytes are unreadable too.
    if (this.isRefused) return;
    this.isRefused = true;
    const { last } = this;
    if (last === undefined || last.req.complete || last.closed) {
      this.whenAnswered(() => this.end(refusal));
    } else {
      failBody(last.req, new HttpError(refusal.status, refusal.message, { Connection: 'close' }));
      this.whenAnswered(() => this.socket.end());
    }
  }

  private end({ status, message: detail, headers }: HttpError): void {
    if (!this.socket.writable) {
      this.socket.destroy();
      return;
    }
    const requestId = randomUUID();
    const body = JSON.stringify({ detail });
    const lines = Object.entries({
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'private, no-store',
      'X-Request-Id': requestId,
      ...headers,
      Connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    const text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
    this.socket.end(text, () => this.socket.destroy());
    this.log.refused(requestId, status);
  }

  /** Ends a connection on which no byte has arrived. closeIdleConnections() leaves such a connection open. */
  endIfUnused(): void {
    if (!this.hasBegun && this.socket.bytesRead === 0) this.socket.destroy();
  }

  /** True if all requests so far have been answered. The headers of another request may be arriving. */
  get isUnused(): boolean {
    return this.last === undefined || this.last.closed;
  }

  drop(): void {
    this.socket.destroy();
  }

  /** @param nowMs monotonic milliseconds @param idleMs maximum without progress during a request */
  dropIfIdle(nowMs: number, idleMs: number): void {
    const { socket } = this;
    // Lets the garbage collector free an answered request, which contains an API key.
    if (this.last?.closed === true) this.last = this.current = undefined;
    const unsentBytes = socket.writableLength + (socket._handle?.writeQueueSize ?? 0);
    this.unsentBytes = unsentBytes;
    const takenBytes = (socket.bytesWritten ?? 0) - unsentBytes;
    // While a response is being sent, bytes from the client do not count as progress.
    const movedBytes = unsentBytes > 0 ? takenBytes : takenBytes + (socket.bytesRead ?? 0);
    // A client that waits for a response is not idle: an export may begin after minutes.
    const isAwaited = this.current?.req.complete === true && !this.current.headersSent;
    if (movedBytes !== this.movedBytes || isAwaited) {
      this.movedBytes = movedBytes;
      this.stillSinceMs = nowMs;
      return;
    }
    const isBetweenRequests = unsentBytes === 0 && this.hasBegun && this.last === undefined;
    if (nowMs - this.stillSinceMs >= (isBetweenRequests ? KEEP_ALIVE_MS : idleMs)) socket.destroy();
  }
}

// Several sockets that listen on one address. In each iteration, the event loop accepts one connection from
// each socket. With a single socket, the tenth new client would wait for ten iterations
// (docs/decisions/0031-overload.md).

/** Only Linux distributes new connections over all sockets that share an address. */
const CAN_SHARE = process.platform === 'linux';
const LISTENERS = 16;

/** @throws (as rejection) the system's error */
async function listening(server: SocketServer, options: ListenOptions): Promise<void> {
  server.listen(options);
  await once(server, 'listening');
}

const closed = (server: SocketServer): Promise<void> =>
  new Promise((resolve) => server.close(() => resolve()));

const TURN_POLL_MS = 5;
const TURN_MOST = 400;

/**
 * Waits until no other service is checking or taking the port. During its turn, a service listens on a socket
 * with an abstract name. The name is in the network namespace of the port, and disappears with the process.
 * @returns a function that ends the turn
 * @throws (as rejection) the system's error after two seconds
 */
async function takeTurn(port: number): Promise<() => Promise<void>> {
  for (let left = TURN_MOST; ; left--) {
    const turn = createSocketServer();
    try {
      await listening(turn, { path: `\0cooperative-registry:${port}` });
      return () => closed(turn);
    } catch (error) {
      // If the system forbids sockets with abstract names, services do not wait for each other.
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return async () => {};
      if (left === 0) throw error;
      await sleep(TURN_POLL_MS);
    }
  }
}

/** Checks first that the port is free: with reusePort alone, two services could share a port by mistake. */
async function listenAlone(server: Server, { host, port }: SocketAddress): Promise<void> {
  const endTurn = await takeTurn(port);
  try {
    const probe = createSocketServer();
    await listening(probe, { host, port });
    await closed(probe);
    await listening(server, { host, port, reusePort: true });
  } finally {
    await endTurn();
  }
}

/**
 * Listens with the server, and with further sockets that pass their connections to the server.
 * @returns a function that stops accepting connections, and resolves when all connections are closed
 * @throws (as rejection) the system's error if another process uses the address, or permission is missing
 */
async function listenTogether(server: Server, { host, port }: SocketAddress): Promise<() => Promise<void>> {
  // For port 0, the system chooses a free port.
  if (CAN_SHARE && port !== 0) await listenAlone(server, { host, port });
  else await listening(server, { host, port, reusePort: CAN_SHARE });
  const chosen = (server.address() as AddressInfo).port;
  const further = Array.from({ length: CAN_SHARE ? LISTENERS - 1 : 0 }, () =>
    createSocketServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
      server.emit('connection', Object.assign(socket, { server }));
    }),
  );
  try {
    for (const socket of further) await listening(socket, { host, port: chosen, reusePort: true });
  } catch (error) {
    for (const socket of [server, ...further]) socket.close();
    throw error;
  }
  return async () => void (await Promise.all([server, ...further].map(closed)));
}
