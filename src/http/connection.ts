/**
 * A client's connection, below the requests on it: what becomes of bytes that are not HTTP, and of a client
 * that does not read. Everything that was handled is answered first: its changes are on disk, and its client
 * must learn so.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { HttpError } from './errors.ts';
import { failBody } from './read-body.ts';
import type { Headers } from './response.ts';

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
}

/** node:net counts what is still queued; only its handle knows how much of a write the system has taken. */
type SocketWithHandle = Duplex & { bytesWritten?: number; _handle?: { writeQueueSize?: number } | null };

export class Connection {
  private readonly socket: SocketWithHandle;
  private readonly log: ConnectionLog;
  /** Responses of a connection finish in order, so the last one shows the state of all. */
  private last: Exchange | undefined;
  private isRefused = false;
  private takenBytes = 0;
  private takenAtMs = 0;

  constructor(socket: Duplex, log: ConnectionLog) {
    this.socket = socket;
    this.log = log;
  }

  /** Called for each request, before it is handled. */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.last = { incoming, outgoing };
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

  /**
   * Drops a client that does not read.
   * @param nowMs monotonic milliseconds
   * @param limitMs how long the system may take nothing of what is to be sent
   */
  dropIfStalled(nowMs: number, limitMs: number): void {
    const { socket } = this;
    const unsentBytes = socket.writableLength;
    const taken = (socket.bytesWritten ?? 0) - unsentBytes - (socket._handle?.writeQueueSize ?? 0);
    const isWaiting = unsentBytes > 0 || (socket._handle?.writeQueueSize ?? 0) > 0;
    if (!isWaiting || taken !== this.takenBytes || this.takenAtMs === 0) {
      this.takenBytes = taken;
      this.takenAtMs = nowMs;
    } else if (nowMs - this.takenAtMs >= limitMs) socket.destroy();
  }
}
