/** A request on its way through the service: one object for middleware and handlers. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { ApiKey, Visible } from '../../access/api-keys.ts';
import { PREFIX, type PublicUrl } from '../../runtime/config.ts';
import { NOTHING_STATED, type Stated } from './personal.ts';
import { type ApiResponse, badRequest, type Headers, refusal } from './response.ts';
import { API_ROOT, type Route, type RouteRequest } from './route.ts';

const NO_SEARCH = new URLSearchParams();
const NO_PARAMS = {};

/** The request passed to middleware and handlers. Rarely used properties are computed lazily. */
export class ApiRequest implements RouteRequest {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Identifies the request in the log and in the response. */
  readonly id: string;
  /** Monotonic milliseconds of arrival. */
  readonly startMs: number;
  readonly path: string;
  readonly prefix: string;
  /** Template of the path, empty until a path has matched. */
  template = '';
  /** Set once path and method have matched. */
  route: Route | undefined;
  params: RouteRequest['params'] = NO_PARAMS;
  /** Set by the middleware that authenticates. */
  caller: ApiKey | undefined;
  query: RouteRequest['query'] = {};
  body: unknown;
  bodyHash: string | undefined;
  /** Set for routes that show persons. */
  stated: Stated = NOTHING_STATED;
  /** Headers sent with any response, refusals too. */
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

/** @throws HttpError 400 for invalid UTF-8, which would find nobody where a person was meant */
function parseSearch(text: string): URLSearchParams {
  const search = new URLSearchParams(text);
  const isReplaced = search.toString().includes(REPLACED) && !text.toUpperCase().includes(REPLACED);
  if (isReplaced) throw badRequest('The query is not valid UTF-8.');
  return search;
}

/** U+FFFD, which replaces bytes that are not valid UTF-8. */
const REPLACED = '%EF%BF%BD';

/**
 * Returns the prefix at which a framework has mounted the handler: Express, and Fastify with middie, remove
 * it from `url` and keep the original in `originalUrl`.
 */
function prefixOfMount(incoming: IncomingMessage & { readonly originalUrl?: unknown }): string {
  const { originalUrl, url = '' } = incoming;
  if (typeof originalUrl !== 'string' || !originalUrl.endsWith(url)) return '';
  const mount = originalUrl.slice(0, originalUrl.length - url.length);
  return PREFIX.test(mount) ? mount : '';
}

/** Removes the prefix where a proxy has left it on (docs/operating.md#behind-a-prefix). */
function withoutPrefix(path: string, prefix: string): string {
  if (prefix !== '' && path === prefix) return '/';
  // Under the prefix /api, /api/v1/… has already lost it.
  if (prefix === '' || !path.startsWith(`${prefix}/`) || path.startsWith(API_ROOT)) return path;
  return path.slice(prefix.length);
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests that node:http lets through but that two programs, such as a proxy and this service, could
 * interpret differently (docs/api.md#responses-and-errors).
 * @returns a refusal with status 400 or 501, or undefined for an unambiguous request
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
  // Other methods are refused later, with 404 or 405.
  if (READING.has(incoming.method ?? '') && hasBody(incoming))
    return refusal(400, 'Only POST, PUT and PATCH take a body.');
  return undefined;
}

const HOST = /^(?:[A-Za-z0-9._-]+|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?$/;

/** True for a host with an optional port; anything else would make broken links. */
function isHost(text: string): boolean {
  const match = HOST.exec(text);
  return match !== null && (match[1] === undefined || isIPv6(match[1]));
}

/** True if the headers announce a body. */
export function hasBody(incoming: IncomingMessage): boolean {
  return (
    incoming.headers['transfer-encoding'] !== undefined || Number(incoming.headers['content-length'] ?? 0) > 0
  );
}

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;
const SECRET_LIKE = /[0-9]{16}|crs_/;

/** Returns the client's own request ID if it is safe to repeat and log, else a new one. */
function readRequestId(incoming: IncomingMessage): string {
  const given = incoming.headers['x-request-id'];
  const isSafe = typeof given === 'string' && REQUEST_ID.test(given) && !SECRET_LIKE.test(given);
  return isSafe ? given : randomUUID();
}

/**
 * Refuses by returning a response, or adds a fact to the request and returns undefined. No middleware wraps
 * the next, so there is no `next()`, and none waits: the chain stays in one event-loop iteration.
 */
export type Middleware = (request: ApiRequest) => ApiResponse | undefined;

// Content negotiation (RFC 9110, section 12.5)

const PART = /^\s*([!#$%&'*+.^_`|~0-9a-z/-]+)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?$/i;

/** @returns the weight of each name, in lower case; a part that cannot be parsed is skipped */
function weightsOf(header: string | string[] | undefined): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of String(header ?? '').split(',')) {
    const [, name, weight = '1'] = PART.exec(part) ?? [];
    if (name !== undefined) weights.set(name.toLowerCase(), Number(weight));
  }
  return weights;
}

/** @param header the value of Accept-Encoding */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  const weights = weightsOf(header);
  const weight = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return weight > 0 && weight >= (weights.get('identity') ?? 0);
}

/**
 * True if HTML is preferred: browsers name it, programs such as curl do not.
 * @param header the value of Accept
 */
export function prefersHtml(header: string | undefined): boolean {
  const weights = weightsOf(header);
  const weight = weights.get('text/html') ?? 0;
  return weight > 0 && weight >= (weights.get('application/json') ?? 0);
}
