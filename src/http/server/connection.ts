/**
 * A client's connection, below the requests on it: what becomes of bytes that are not HTTP, of a client that
 * does not read, and of connections on which nothing moves. Everything that was handled is answered first:
 * its changes are on disk, and its client must learn so.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { HttpError } from '../declare/errors.ts';
import type { Headers } from '../declare/response.ts';
import { failBody } from './read-body.ts';

/** A refusal of what never became a request. */
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
  /** @param requestId as sent to the client */
  refused(requestId: string, status: number): void;
  /** A connection was closed because there are too many. @param what says which one */
  closed(what: string): void;
}

/** node:net counts what is still queued; only its handle knows how much of a write the system has taken. */
type SocketWithHandle = Duplex & {
  bytesRead?: number;
  bytesWritten?: number;
  _handle?: { writeQueueSize?: number } | null;
  /** Of node:http, which gives each request to it. */
  parser?: { onIncoming: (incoming: IncomingMessage, keepsAlive: boolean) => number } | null;
};

/** So many requests wait for the response before them at most; then the connection ends. */
const MAX_PIPELINED = 32;
/** What node's parser takes for: not HTTP from here on. It reads no more of a packet. */
const STOP_PARSING = 2;

/** Marks a response behind which another request is handled already: it must not end the connection. */
export const IS_FOLLOWED = Symbol('is followed');

/** Milliseconds without a byte that moves: during a request, and between two. */
export interface IdleLimits {
  readonly idleMs: number;
  readonly keepAliveMs: number;
}

export class Connection {
  private readonly socket: SocketWithHandle;
  private readonly log: ConnectionLog;
  /** Responses of a connection finish in order, so the last one shows the state of all. */
  private last: Exchange | undefined;
  /** What is handled, or was handled last: those behind it wait. */
  private current: Exchange | undefined;
  private hasBegun = false;
  private final: IncomingMessage | undefined;
  private isRefused = false;
  private waiting = 0;
  /** Whether more has come than may wait. */
  private isStopped = false;
  private movedBytes = -1;
  private movedAtMs = 0;
  /** What its client has not taken, as of the last call of `dropIfIdle`. */
  unsentBytes = 0;

  constructor(socket: Duplex, log: ConnectionLog) {
    this.socket = socket;
    this.log = log;
    this.stopParsingWhenFull();
  }

  /**
   * A packet holds hundreds of requests, and node:http keeps a request and a response for each of them, 2 MB
   * in all, until the client has taken the first response. There is no other way to stop it.
   */
  private stopParsingWhenFull(): void {
    const { parser } = this.socket;
    if (parser == null) return;
    const onIncoming = parser.onIncoming;
    parser.onIncoming = (incoming, keepsAlive) => {
      if (!this.isFull) return onIncoming(incoming, keepsAlive);
      this.isStopped = true;
      // Node reads on once it has left the parser.
      process.nextTick(() => this.socket.pause());
      return STOP_PARSING;
    };
  }

  private get isFull(): boolean {
    return this.waiting >= MAX_PIPELINED;
  }

  /**
   * Called for each request. It is handled when the client has taken the responses before it, so that one who
   * reads nothing costs one response; what follows `Connection: close` would never be answered, and is not.
   */
  receive(incoming: IncomingMessage, outgoing: ServerResponse, handler: RequestListener): void {
    const before = this.last?.outgoing;
    // Bytes left unread would reset the connection, perhaps before the client has its last response.
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

  /** Runs the work when every request so far has been answered. */
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

  /** Answers on the bare socket, in the form of every response, and ends the connection. */
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

  /** Ends a connection on which nothing was ever sent: node:http takes it for one that is in use. */
  endIfUnused(): void {
    if (!this.hasBegun && this.socket.bytesRead === 0) this.socket.destroy();
  }

  /**
   * Since when nothing has moved on it, as of the last call of `dropIfIdle`.
   * @returns monotonic milliseconds
   */
  get stillSinceMs(): number {
    return this.movedAtMs;
  }

  /** Whether no request is being read, handled or answered. */
  get isUnused(): boolean {
    return this.last === undefined || this.last.outgoing.closed;
  }

  drop(): void {
    this.socket.destroy();
  }

  /**
   * Drops a connection on which nothing moves: its client sends nothing, or does not read what it is sent.
   * @param nowMs monotonic milliseconds
   */
  dropIfIdle(nowMs: number, { idleMs, keepAliveMs }: IdleLimits): void {
    const { socket } = this;
    // An answered request is forgotten, and with it the key that it carried.
    if (this.last?.outgoing.closed === true) this.last = this.current = undefined;
    const unsentBytes = socket.writableLength + (socket._handle?.writeQueueSize ?? 0);
    this.unsentBytes = unsentBytes;
    const takenBytes = (socket.bytesWritten ?? 0) - unsentBytes;
    // While a response is being sent, what the client sends is no progress.
    const movedBytes = unsentBytes > 0 ? takenBytes : takenBytes + (socket.bytesRead ?? 0);
    // What is received and not answered yet is for the service to do: an export may take minutes to begin.
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
