/** A request on its way through the service: one object for middleware and handlers. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { PREFIX, type PublicUrl } from '../../config.ts';
import type { ApiKey } from '../../domain/access/api-keys.ts';
import type { Visible } from '../../domain/access/visible.ts';
import { badRequest } from './errors.ts';
import { NOTHING_STATED, type Stated } from './personal.ts';
import { type ApiResponse, type Headers, refusal } from './response.ts';
import { API_ROOT, type Route, type RouteRequest } from './route.ts';

const NO_SEARCH = new URLSearchParams();
const NO_PARAMS = {};

/** The request passed to middleware and handlers. Rarely used properties are computed lazily. */
export class ApiRequest implements RouteRequest {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Names it in the log and in the response. */
  readonly id: string;
  /** Monotonic milliseconds of its arrival. */
  readonly startMs: number;
  readonly path: string;
  readonly prefix: string;
  /** The template of the path, known once a path has matched. */
  template = '';
  /** Set when path and method have matched. */
  route: Route | undefined;
  params: RouteRequest['params'] = NO_PARAMS;
  /** Set by the middleware that authenticates. */
  caller: ApiKey | undefined;
  query: RouteRequest['query'] = {};
  body: unknown;
  bodyHash: string | undefined;
  /** Of a route that shows persons. */
  stated: Stated = NOTHING_STATED;
  /** Sent with whatever response follows, refusals too. */
  readonly headers: Headers = {};
  private readonly searchText: string;
  private readonly publicOrigin: string | undefined;
  private parsedSearch: URLSearchParams | undefined;

  constructor(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { startMs, publicUrl }: { startMs: number; publicUrl: PublicUrl | undefined },
  ) {
    const url = incoming.url ?? '';
    const end = url.indexOf('?');
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.id = readRequestId(incoming);
    this.startMs = startMs;
    this.prefix = publicUrl?.prefix || prefixOfMount(incoming);
    this.path = withoutPrefix(end === -1 ? url : url.slice(0, end), this.prefix);
    this.searchText = end === -1 ? '' : url.slice(end + 1);
    this.publicOrigin = publicUrl?.origin;
  }

  whenClosed(work: () => void): void {
    this.outgoing.once('close', work);
  }

  get visible(): Visible {
    return this.caller?.cooperatives ?? null;
  }

  get search(): URLSearchParams {
    if (this.searchText === '') return NO_SEARCH;
    this.parsedSearch ??= parseSearch(this.searchText);
    return this.parsedSearch;
  }

  get baseUrl(): string {
    if (this.publicOrigin !== undefined) return this.publicOrigin + this.prefix;
    const scheme = 'encrypted' in this.incoming.socket ? 'https' : 'http';
    // Only an HTTP/1.0 request may lack a Host.
    const host = this.incoming.headers.host ?? `localhost:${this.incoming.socket.localPort ?? ''}`;
    return `${scheme}://${host}${this.prefix}`;
  }
}

/** @throws HttpError 400: what is no UTF-8 would find nobody, where somebody was meant */
function parseSearch(text: string): URLSearchParams {
  const search = new URLSearchParams(text);
  const isReplaced = search.toString().includes(REPLACED) && !text.toUpperCase().includes(REPLACED);
  if (isReplaced) throw badRequest('The query is not valid UTF-8.');
  return search;
}

/** U+FFFD, which stands for bytes that are no UTF-8. */
const REPLACED = '%EF%BF%BD';

/**
 * Where a framework has mounted the handler: Express, and Fastify with middie, take that part off `url` and
 * keep what was sent in `originalUrl`.
 */
function prefixOfMount(incoming: IncomingMessage & { readonly originalUrl?: unknown }): string {
  const { originalUrl, url = '' } = incoming;
  if (typeof originalUrl !== 'string' || !originalUrl.endsWith(url)) return '';
  const mount = originalUrl.slice(0, originalUrl.length - url.length);
  return PREFIX.test(mount) ? mount : '';
}

/** Some proxies take the prefix off, and others leave it on (docs/operating.md#behind-a-prefix). */
function withoutPrefix(path: string, prefix: string): string {
  if (prefix !== '' && path === prefix) return '/';
  // Under the prefix /api, /api/v1/… has lost it already.
  if (prefix === '' || !path.startsWith(`${prefix}/`) || path.startsWith(API_ROOT)) return path;
  return path.slice(prefix.length);
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * What node:http lets through and what two programs could read differently, such as a proxy and this service
 * (docs/api.md#responses-and-errors).
 * @returns a refusal with status 400 or 501, or undefined for a request that has one reading
 */
export function refuseAmbiguous(incoming: IncomingMessage): ApiResponse | undefined {
  if (incoming.httpVersion !== '1.1' && incoming.httpVersion !== '1.0')
    return refusal(400, 'Unsupported HTTP version.');
  if (incoming.url?.startsWith('/') !== true)
    return refusal(400, 'Expected a path, not an absolute address.');
  let hosts = 0;
  let authorizations = 0;
  const { rawHeaders, headers } = incoming;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++;
  }
  if (hosts > 1) return refusal(400, 'More than one Host header.');
  if (hosts === 0 && incoming.httpVersion === '1.1') return refusal(400, 'The Host header is missing.');
  if (hosts === 1 && !isHost(headers.host ?? '')) return refusal(400, 'The Host header is not a valid host.');
  if (authorizations > 1) return refusal(400, 'More than one Authorization header.');
  const coding = headers['transfer-encoding'];
  // RFC 9112, section 6.1: a coding that the server does not understand is 501.
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    return refusal(501, 'Unsupported transfer encoding in request.');
  // Other methods are refused by what comes next, 404 or 405.
  if (READING.has(incoming.method ?? '') && hasBody(incoming))
    return refusal(400, 'Only POST, PUT and PATCH take a body.');
  return undefined;
}

const HOST = /^(?:[A-Za-z0-9._-]+|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?$/;

/** Whether the text is a host with an optional port: anything else would make links that lead nowhere. */
function isHost(text: string): boolean {
  const match = HOST.exec(text);
  return match !== null && (match[1] === undefined || isIPv6(match[1]));
}

/** Whether bytes of a body were announced. */
export function hasBody(incoming: IncomingMessage): boolean {
  return (
    incoming.headers['transfer-encoding'] !== undefined || Number(incoming.headers['content-length'] ?? 0) > 0
  );
}

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;
const SECRET_LIKE = /[0-9]{16}|crs_/;

/** The client's own request id when it is safe to repeat and to log, else a new one. */
function readRequestId(incoming: IncomingMessage): string {
  const given = incoming.headers['x-request-id'];
  const isSafe = typeof given === 'string' && REQUEST_ID.test(given) && !SECRET_LIKE.test(given);
  return isSafe ? given : randomUUID();
}
