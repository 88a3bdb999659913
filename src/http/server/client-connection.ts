/**
 * A client's connection, below the requests on it. Handles bytes that are not HTTP, clients that do not read,
 * and connections on which nothing moves. Requests already handled are always answered first: their changes
 * are on disk, and the client must learn so.
 */
import { randomUUID } from 'node:crypto';
import {
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Headers, HttpError } from '../declare/response.ts';
import { failBody } from './read-body.ts';

/** Refusal of bytes that never became a request. */
export interface ConnectionRefusal {
  readonly status: number;
  readonly detail: string;
  readonly headers?: Headers;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

export interface ConnectionLog {
  /** @param requestId the ID sent to the client */
  refused(requestId: string, status: number): void;
  /** Logs a connection closed because there are too many. @param what says which one */
  closed(what: string): void;
}

/** node:net counts bytes still queued; only its handle knows how much of a write the system has taken. */
type SocketWithHandle = Duplex & {
  bytesRead?: number;
  bytesWritten?: number;
  _handle?: { writeQueueSize?: number } | null;
  /** node:http's parser, which passes each request to it. */
  parser?: { onIncoming: (incoming: IncomingMessage, keepsAlive: boolean) => number } | null;
};

/** Maximum number of pipelined requests that wait for earlier responses; beyond it, the connection ends. */
const MAX_PIPELINED = 32;
/**
 * Return value that makes node's parser treat the following bytes as not HTTP, and skip the packet's rest.
 */
const STOP_PARSING = 2;

/** Marks a response with a request already queued behind it, which must not end the connection. */
export const IS_FOLLOWED = Symbol('is followed');

/** Milliseconds without a byte moving: during a request, and between requests. */
interface IdleLimits {
  readonly idleMs: number;
  readonly keepAliveMs: number;
}

export class Connection {
  private readonly socket: SocketWithHandle;
  private readonly log: ConnectionLog;
  /** Responses of a connection finish in order, so the last one shows the state of all. */
  private last: Exchange | undefined;
  /** The exchange being handled, or handled last; those behind it wait. */
  private current: Exchange | undefined;
  private hasBegun = false;
  private final: IncomingMessage | undefined;
  private isRefused = false;
  private waiting = 0;
  /** True once more requests have arrived than may wait. */
  private isStopped = false;
  private movedBytes = -1;
  private movedAtMs = 0;
  /** Bytes the client has not taken, as of the last call of `dropIfIdle`. */
  unsentBytes = 0;

  constructor(socket: Duplex, log: ConnectionLog) {
    this.socket = socket;
    this.log = log;
    this.stopParsingWhenFull();
  }

  /**
   * Pauses parsing once too many requests wait. A packet holds hundreds of requests, and node:http keeps a
   * request and a response for each of them, 2 MB in all, until the client has taken the first response.
   * There is no other way to stop it.
   */
  private stopParsingWhenFull(): void {
    const { parser } = this.socket;
    if (parser == null) return;
    const onIncoming = parser.onIncoming;
    parser.onIncoming = (incoming, keepsAlive) => {
      if (!this.isFull) return onIncoming(incoming, keepsAlive);
      this.isStopped = true;
      // Node resumes reading once it has left the parser.
      process.nextTick(() => this.socket.pause());
      return STOP_PARSING;
    };
  }

  private get isFull(): boolean {
    return this.waiting >= MAX_PIPELINED;
  }

  /**
   * Called for each request. It is handled once the client has taken the responses before it, so that a
   * client that reads nothing costs one response. Requests after `Connection: close` would never be answered,
   * so they are not handled.
   */
  receive(incoming: IncomingMessage, outgoing: ServerResponse, handler: RequestListener): void {
    const before = this.last?.outgoing;
    // Unread bytes would reset the connection, perhaps before the client has its last response.
    if (before?.shouldKeepAlive === false) return void incoming.resume();
    this.hasBegun = true;
    const exchange = { incoming, outgoing };
    this.last = exchange;
    const handle = () => {
      this.current = exchange;
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

  /** Ends the connection with the response to a request that has not begun yet. */
  endAfter(incoming: IncomingMessage): void {
    this.final ??= incoming;
  }

  /** Runs the work once every request so far has been answered. */
  afterLast(work: () => void): void {
    if (this.last === undefined || this.last.outgoing.closed) work();
    else this.last.outgoing.once('close', work);
  }

  /**
   * Ends the connection with a refusal, once every request on it has been answered. A request whose body is
   * cut off by the unreadable bytes is itself answered with the refusal.
   */
  refuse(refusal: ConnectionRefusal): void {
    // Further bytes are as unreadable as the first.
    if (this.isRefused) return;
    this.isRefused = true;
    const { last } = this;
    if (last === undefined || last.incoming.complete || last.outgoing.closed) {
      this.afterLast(() => this.end(refusal));
    } else {
      failBody(last.incoming, new HttpError(refusal.status, refusal.detail, { Connection: 'close' }));
      this.afterLast(() => this.socket.end());
    }
  }

  /** Answers on the bare socket, in the format of every other response, and ends the connection. */
  private end({ status, detail, headers }: ConnectionRefusal): void {
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

  /** Ends a connection on which nothing was ever sent; node:http counts it as in use. */
  endIfUnused(): void {
    if (!this.hasBegun && this.socket.bytesRead === 0) this.socket.destroy();
  }

  /** Monotonic milliseconds at which a byte last moved, as of the last call of `dropIfIdle`. */
  get stillSinceMs(): number {
    return this.movedAtMs;
  }

  /** True if no request is being read, handled or answered. */
  get isUnused(): boolean {
    return this.last === undefined || this.last.outgoing.closed;
  }

  drop(): void {
    this.socket.destroy();
  }

  /**
   * Drops the connection if nothing moves on it: its client sends nothing, or does not read the response.
   * @param nowMs monotonic milliseconds
   */
  dropIfIdle(nowMs: number, { idleMs, keepAliveMs }: IdleLimits): void {
    const { socket } = this;
    // Forgets an answered request, and with it the key that it carried.
    if (this.last?.outgoing.closed === true) this.last = this.current = undefined;
    const unsentBytes = socket.writableLength + (socket._handle?.writeQueueSize ?? 0);
    this.unsentBytes = unsentBytes;
    const takenBytes = (socket.bytesWritten ?? 0) - unsentBytes;
    // While a response is being sent, what the client sends is no progress.
    const movedBytes = unsentBytes > 0 ? takenBytes : takenBytes + (socket.bytesRead ?? 0);
    // A request received in full but not yet answered waits for the service, not the client: an export may
    // take minutes to begin.
    const isAwaited = this.current?.incoming.complete === true && !this.current.outgoing.headersSent;
    if (movedBytes !== this.movedBytes || isAwaited) {
      this.movedBytes = movedBytes;
      this.movedAtMs = nowMs;
      return;
    }
    const isBetweenRequests = unsentBytes === 0 && this.hasBegun && this.last === undefined;
    if (nowMs - this.movedAtMs >= (isBetweenRequests ? keepAliveMs : idleMs)) socket.destroy();
  }
}

// The sockets that listen on one address. The event loop accepts one connection from each in an iteration:
// with a single socket, new clients would wait in an overload for as many iterations as there are clients
// before them (docs/decisions/0031-overload.md).

/** Only Linux spreads connections over sockets that share an address; elsewhere one socket gets them all. */
const CAN_SHARE = process.platform === 'linux';
const LISTENERS = 16;

const listening = (server: Server, options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** @throws (as rejection) the system's error if another process listens on the address */
async function refuseTaken(options: ListenOptions): Promise<void> {
  const probe = createServer();
  await listening(probe, options);
  await closed(probe);
}

export interface RunningServer {
  readonly address: AddressInfo;
  /** Ends in order: no new connections, every request received is answered. Resolves when all are closed. */
  close(): Promise<void>;
}

export interface Listeners {
  /** Accepts no more connections. Resolves when every connection is closed. */
  close(): Promise<void>;
}

/**
 * Listens with a server and with further sockets that feed it.
 * @throws (as rejection) the system's error when the address cannot be listened on
 */
export async function listenTogether(
  server: HttpServer,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listeners> {
  // With reusePort alone, another service started on the same port by mistake would share it too. For port 0,
  // the system chooses a free one.
  if (CAN_SHARE && port !== 0) await refuseTaken({ host, port });
  await listening(server, { host, port, reusePort: CAN_SHARE });
  const address = server.address();
  const chosen = typeof address === 'object' && address !== null ? address.port : port;
  const further = Array.from({ length: CAN_SHARE ? LISTENERS - 1 : 0 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
      server.emit('connection', Object.assign(socket, { server }));
    }),
  );
  try {
    for (const each of further) await listening(each, { host, port: chosen, reusePort: true });
  } catch (error) {
    for (const each of [server, ...further]) each.close();
    throw error;
  }
  return { close: async () => void (await Promise.all([server, ...further].map(closed))) };
}
