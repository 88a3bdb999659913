/** The node:http server: limits on slow clients, answers below the handler, and an orderly end. */
import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { EXPECTS_CONTINUE, type Handler } from './lifecycle.ts';

/** Milliseconds until a client is dropped that sends no headers, no whole request, or does not read. */
export interface ServerTimeouts {
  readonly headersMs: number;
  /** From the first byte to the end of the body; the body's own limit of 30 s lies in request.ts. */
  readonly requestMs: number;
  readonly idleMs: number;
  /** How long an orderly end waits for requests that were begun. */
  readonly closeMs: number;
}

export const DEFAULT_TIMEOUTS: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 42_000,
  idleMs: 60_000,
  closeMs: 10_000,
};
// Longer than the usual 60 s of a proxy, so that it never sends on a connection that is closing.
const KEEP_ALIVE_MS = 65_000;
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
  readonly timeouts?: Partial<ServerTimeouts>;
}

/** @throws (as rejection) the system's error when the address cannot be listened on */
export function listen(options: ServerOptions): Promise<RunningServer> {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(SWEEP_MS, timeouts.headersMs),
    // The handler itself answers a missing one, in the one shape of every answer.
    requireHostHeader: false,
  });
  server.timeout = timeouts.idleMs;
  // Answers of a connection finish in order, so the last one tells of all.
  const lastAnswers = new WeakMap<Duplex, ServerResponse>();
  const isAnswering = (socket: Duplex): boolean => {
    const last = lastAnswers.get(socket);
    return last !== undefined && !last.writableFinished && !last.destroyed;
  };
  const handle = (message: IncomingMessage, response: ServerResponse) => {
    lastAnswers.set(message.socket, response);
    options.handler(message, response);
  };
  server.on('request', handle);
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    handle(Object.assign(message, { [EXPECTS_CONTINUE]: true }), response);
  });
  server.on('checkExpectation', (message: IncomingMessage) => {
    refuse(message.socket, 417, 'The expectation in the Expect header cannot be met.');
  });
  server.on('connect', (_message, socket) => refuse(socket, 405, 'Method "CONNECT" not allowed.'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // An answer that has begun cannot be followed by another one.
    if (!socket.writable || isAnswering(socket)) socket.destroy();
    else refuse(socket, ...belowHandler(error.code));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve({ address: server.address() as AddressInfo, close: () => close(server, timeouts.closeMs) });
    });
  });
}

function belowHandler(code: string | undefined): [status: number, detail: string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'The request did not arrive in time.'];
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'Request header fields too large.'];
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return [413, 'Request body too large.'];
  return [400, 'The request could not be read as HTTP.'];
}

/** Answers on the bare socket, in the one shape of every answer, and ends the connection. */
function refuse(socket: Duplex, status: number, detail: string): void {
  const body = JSON.stringify({ detail });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: private, no-store',
    `X-Request-Id: ${randomUUID()}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function close(server: Server, closeMs: number): Promise<void> {
  return new Promise((resolve) => {
    // close() also ends the sweep for timed-out connections, so idle ones are ended here until all are gone.
    const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_POLL_MS);
    const deadline = setTimeout(() => server.closeAllConnections(), closeMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
