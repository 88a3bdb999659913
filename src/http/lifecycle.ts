/** One request from its first line to its answer: ids, refusals, errors and the log, each in one place. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { AccessLog } from './access-log.ts';
import { HttpError, notFoundError, toErrorResponse } from './errors.ts';
import type { Call, Middleware } from './middleware/call.ts';
import { parseQuery } from './query.ts';
import { hasBody, MAX_BODY_BYTES, readJson, readRequestId, refuseAmbiguous } from './request.ts';
import { type ApiResponse, type Headers, JsonText } from './response.ts';
import { API_PREFIX, fullPath, type Method, type Route, type RouteRequest } from './route.ts';
import type { Match, Router } from './router.ts';

export interface HandlerDependencies {
  readonly router: Router;
  readonly pipeline: Middleware;
  readonly clock: Clock;
  readonly log: AccessLog;
  readonly publicUrl: string | undefined;
  /** Whether connections should end after their answer. */
  readonly isDraining: () => boolean;
}

export type Handler = (message: IncomingMessage, response: ServerResponse) => void;

/** What is known of a request while it is answered. */
interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly startMs: number;
  readonly path: string;
  template: string;
  call: Call | undefined;
}

const METHODS: { readonly [method: string]: Method } = { GET: 'GET', HEAD: 'GET', POST: 'POST', PUT: 'PUT' };

const DRAIN_MS = 1_000;
const API_ROOT = `${API_PREFIX}/`;

/** How a body's sender learns that it may go on, on servers that leave this to the handler. */
export const EXPECTS_CONTINUE = Symbol('expects continue');

export function createHandler(parts: HandlerDependencies): Handler {
  return (message, response) => {
    const url = message.url ?? '';
    const end = url.indexOf('?');
    const exchange: Exchange = {
      message,
      response,
      requestId: readRequestId(message),
      startMs: parts.clock.monotonicMs(),
      path: end === -1 ? url : url.slice(0, end),
      template: '',
      call: undefined,
    };
    try {
      const reply = answer(parts, exchange, end === -1 ? '' : url.slice(end + 1));
      if (!(reply instanceof Promise)) send(parts, exchange, reply);
      else {
        reply.then(
          (settled) => send(parts, exchange, settled),
          (error: unknown) => fail(parts, exchange, error),
        );
      }
    } catch (error) {
      fail(parts, exchange, error);
    }
  };
}

/** The order of checks (contract section 2). */
function answer(
  parts: HandlerDependencies,
  exchange: Exchange,
  search: string,
): ApiResponse | Promise<ApiResponse> {
  const { message } = exchange;
  refuseAmbiguous(message);
  const match = parts.router(exchange.path);
  if (match === undefined) throw notFoundError();
  if (message.method === 'OPTIONS') return { status: 204, body: undefined, headers: { Allow: match.allow } };
  const route = routeOf(match, message.method ?? '');
  exchange.template = fullPath(route);
  exchange.call = { message, route, caller: undefined, headers: {} };
  parts.pipeline(exchange.call);
  const request = new HandledRequest(match, exchange, search, parts.publicUrl);
  if (route.body === undefined) return handle(route, request);
  if (EXPECTS_CONTINUE in message && Number(message.headers['content-length'] ?? 0) <= MAX_BODY_BYTES) {
    exchange.response.writeContinue();
  }
  return readJson(message).then((body) => {
    request.body = body;
    return handle(route, request);
  });
}

const NO_SEARCH = new URLSearchParams();

/** What a handler is given; what few of them ask for is made when they do. */
class HandledRequest implements RouteRequest {
  readonly params: RouteRequest['params'];
  readonly search: URLSearchParams;
  readonly caller: RouteRequest['caller'];
  readonly path: string;
  query: RouteRequest['query'] = {};
  body: unknown;
  private readonly message: IncomingMessage;
  private readonly publicUrl: string | undefined;

  constructor(match: Match, exchange: Exchange, search: string, publicUrl: string | undefined) {
    this.params = match.params;
    this.search = search === '' ? NO_SEARCH : new URLSearchParams(search);
    this.caller = exchange.call?.caller;
    this.path = exchange.path;
    this.message = exchange.message;
    this.publicUrl = publicUrl;
  }

  get baseUrl(): string {
    return this.publicUrl ?? ownUrl(this.message);
  }
}

function routeOf(match: Match, methodName: string): Route {
  const method = Object.hasOwn(METHODS, methodName) ? METHODS[methodName] : undefined;
  const route = method === undefined ? undefined : match.routes[method];
  if (route !== undefined) return route;
  throw new HttpError(405, `Method "${methodName}" not allowed.`, { Allow: match.allow });
}

function handle(route: Route, request: HandledRequest): ApiResponse | Promise<ApiResponse> {
  request.query = parseQuery(route.query ?? {}, request.search);
  return route.handle(request);
}

function ownUrl(message: IncomingMessage): string {
  const scheme = 'encrypted' in message.socket ? 'https' : 'http';
  // A host that is none would make links that lead nowhere: better one that leads to the own address.
  const host = message.headers.host ?? '';
  return `${scheme}://${/^[A-Za-z0-9.\-_[\]:]+$/.test(host) ? host : `localhost:${message.socket.localPort ?? ''}`}`;
}

function fail(parts: HandlerDependencies, exchange: Exchange, error: unknown): void {
  const { reply, isDefect } = toErrorResponse(error);
  if (isDefect) parts.log.defect(exchange.requestId, error);
  send(parts, exchange, reply);
}

function send(parts: HandlerDependencies, exchange: Exchange, reply: ApiResponse): void {
  const { message, response, call } = exchange;
  // A string: node:http sends it in one write with the headers, where a Buffer takes two.
  const text = toText(reply.body);
  const leavesBodyUnread = hasBody(message) && !message.readableEnded;
  const headers: Headers = call === undefined ? {} : call.headers;
  headers['X-Request-Id'] = exchange.requestId;
  if (reply.headers !== undefined) Object.assign(headers, reply.headers);
  if (text !== undefined) {
    headers['Content-Type'] = 'application/json';
    headers['Content-Length'] = String(Buffer.byteLength(text));
  }
  if (exchange.path.startsWith(API_ROOT)) headers['Cache-Control'] = 'private, no-store';
  if (leavesBodyUnread || parts.isDraining()) headers.Connection = 'close';
  log(parts, exchange, reply.status);
  atEndOfTurn(() => {
    if (response.destroyed) return;
    try {
      response.writeHead(reply.status, headers);
      if (message.method === 'HEAD' || text === undefined) response.end();
      else if (leavesBodyUnread) {
        response.write(text);
        endAfterDraining(message, response);
      } else response.end(text);
    } catch (error) {
      // One reply that cannot be sent must not keep back the others of the iteration.
      parts.log.defect(exchange.requestId, error);
      response.destroy();
    }
  });
}

/** Replies of this iteration of the event loop: one that is written wakes its client, which costs as much as making it. */
let waiting: (() => void)[] = [];

function atEndOfTurn(work: () => void): void {
  waiting.push(work);
  if (waiting.length > 1) return;
  setImmediate(() => {
    const works = waiting;
    waiting = [];
    for (const each of works) each();
  });
}

function toText(body: unknown): string | undefined {
  if (body === undefined) return undefined;
  return body instanceof JsonText ? body.text : JSON.stringify(body);
}

/**
 * Reads a little of a refused body before the connection ends: closing at once would reset it, and the client
 * might never see the answer (contract section 5).
 */
function endAfterDraining(message: IncomingMessage, response: ServerResponse): void {
  let drained = 0;
  const timer = setTimeout(finish, DRAIN_MS);
  function finish(): void {
    clearTimeout(timer);
    message.off('data', onData);
    if (!response.writableEnded) response.end();
    // What still comes is not read, node's own unbounded draining included.
    message.socket.destroySoon();
  }
  function onData(chunk: Buffer): void {
    drained += chunk.length;
    if (drained > MAX_BODY_BYTES) finish();
  }
  message.on('data', onData).once('end', finish).once('close', finish).once('error', finish).resume();
}

function log(parts: HandlerDependencies, exchange: Exchange, status: number): void {
  parts.log.request({
    time: parts.clock.now(),
    requestId: exchange.requestId,
    keyId: exchange.call?.caller?.id,
    method:
      METHODS[exchange.message.method ?? ''] === undefined ? 'OTHER' : (exchange.message.method as string),
    route: exchange.template,
    status,
    durationMs: parts.clock.monotonicMs() - exchange.startMs,
  });
}
