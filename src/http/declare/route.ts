/**
 * Declarations of routes as data for the router, validation, access control, tests and OpenAPI; and the
 * request that routes handle.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { AccessRecord, Subject } from '../../access/access-ledger.ts';
import { type ApiKey, parseStated, type Scope, type Visible } from '../../access/api-keys.ts';
import { PREFIX, type PublicUrl } from '../../runtime/config.ts';
import type { ResponseToSave } from '../../sqlite/idempotent-writes.ts';
import type { Deprecation, FieldGroup } from '../../values/declared-fields.ts';
import { type Awaitable, FieldError } from '../../values/errors.ts';
import type { Schema } from '../../values/schema.ts';
import type { ParsedQuery, QueryParameters } from './query.ts';
import { type BodyDeclaration, hasBody } from './request-body.ts';
import { type ApiResponse, badRequest, type Headers, type ResponseHeader, refusal } from './response.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** Supported methods, each with the method of the route that handles the request. */
export const METHODS = {
  GET: 'GET',
  HEAD: 'GET',
  POST: 'POST',
  PUT: 'PUT',
  PATCH: 'PATCH',
} as const satisfies { readonly [method: string]: Method };

/** Request headers that a route may read; reference/headers.ts describes each header. */
export type RequestHeader =
  | 'Accept'
  | 'Accept-Encoding'
  | 'Idempotency-Key'
  | 'If-Match'
  | 'If-None-Match'
  | 'X-End-User'
  | 'X-Purpose';

/**
 * Callers of a route: keys with one or two scopes (and the right to export, for an export), any active key,
 * or the public.
 */
export type Access =
  | { readonly scope: Scope; readonly alsoScope?: Scope; readonly isExport?: true }
  | 'any key'
  | 'public';

/** Returns all scopes that a key needs. */
export function scopesOf({ access }: Pick<Route, 'access'>): readonly Scope[] {
  if (typeof access === 'string') return [];
  const { scope, alsoScope } = access;
  return alsoScope === undefined ? [scope] : [scope, alsoScope];
}

/**
 * Number of persons whose data responses show, and the groups of fields shown at most. These responses name
 * their data subjects (`ApiResponse.subject`), and each access is recorded.
 */
export type Personal =
  | 'none'
  | { readonly persons: 'one' | 'numbers' | 'page' | 'all'; readonly fields: readonly FieldGroup[] };

/** Derives a route's `personal` declaration from the groups of fields that responses show. */
export const showing = (
  persons: Exclude<Personal, 'none'>['persons'],
  fields: readonly FieldGroup[],
): Personal => (fields.length === 0 ? 'none' : { persons, fields });

export interface Parameter {
  readonly description: string;
  readonly schema: Schema;
  readonly example: string;
  /**
   * True if this segment may contain bytes outside `[A-Za-z0-9_./-]`. The handler then refuses them itself,
   * because a mistyped national ID must never give 404 (docs/api.md#routes).
   */
  readonly takesAnyByte?: boolean;
}

export interface SuccessResponse {
  readonly description: string;
  readonly schema: Schema;
  /** True if the body contains many rows, one per line or as CSV. */
  readonly isExport?: true;
  /** Fictitious example; needed if the schema has no example. */
  readonly example?: unknown;
  /** Additional headers. Only some responses have an optional header. */
  readonly headers?: { readonly [name in ResponseHeader]?: 'required' | 'optional' };
}

/** The two steps of a POST: adding the row, and composing the response. */
export interface Creation<Created> {
  /** @param keep argument for the store, which saves the response together with the row */
  create(request: ApiRequest, keep: ResponseToSave<Created> | undefined): Promise<Created>;
  /** Composes the response; if saved, inside the transaction, so it must not depend on other rows. */
  respond(created: Created, request: Pick<ApiRequest, 'params'>): ApiResponse;
  /**
   * True, or a function of the body that returns true, if a 201 shows no personal data except data from the
   * request. This is not recorded as access (docs/ledger.md#recorded-data).
   */
  readonly showsOnlyItsRequest?: boolean | ((body: unknown) => boolean) | undefined;
  /**
   * Returns the data subjects of a repeated response from its body and request; undefined if the response
   * shows no person or does not count as access.
   */
  readonly subjectOf?: ((shown: ShownRow, request: Pick<ApiRequest, 'params'>) => Subject) | undefined;
}

/** Properties of a representation that identify the data subject: a member, or a row with its member. */
export interface ShownRow {
  readonly id: string;
  readonly member?: { readonly id: string };
}

/** Checks that both functions of a `Creation` have the same type of row. */
export const createWith = <Created>(creation: Creation<Created>): Creation<unknown> => creation;

interface SharedRoute<Query extends QueryParameters> {
  /** Template with `{name}` segments, below the prefix of the API unless `isOutsideApi` is true. */
  readonly path: string;
  readonly isOutsideApi?: boolean;
  /** True for a page for people, which OpenAPI does not describe. */
  readonly isPage?: true;
  /** True for a route served even in an overload: refusing a health check would restart the service. */
  readonly isAlwaysAnswered?: true;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly tag: string;
  readonly deprecated?: Deprecation;
  readonly access: Access;
  readonly narrowed: Narrowing;
  readonly personal: Personal;
  /** Scopes that change the response but are not required. */
  readonly optionalScopes?: readonly Scope[];
  readonly params?: { readonly [name: string]: Parameter };
  readonly query?: Query;
  /** Headers that the handler reads. `If-None-Match` adds status 304 to the responses. */
  readonly requestHeaders?: readonly RequestHeader[];
  readonly body?: BodyDeclaration;
  /** True if the created row has no address, so that its 201 has no `Location`. */
  readonly createsPart?: true;
  readonly responses: { readonly [status: number]: SuccessResponse };
  /**
   * Returns the number of requests that a body counts as in the limits of the key. Without this function,
   * each request counts as one and is limited before its body is read.
   */
  readonly countRequests?: (body: unknown) => number;
  /** Statuses with which the handler itself may refuse a request, in addition to earlier stages. */
  readonly refusals?: readonly (400 | 404 | 409 | 410 | 412 | 422 | 503)[];
}

/** POST that writes, and therefore must support repeated requests (docs/api.md#repeating-a-request). */
interface CreatingRoute<Query extends QueryParameters> extends SharedRoute<Query> {
  readonly method: 'POST';
  readonly creation: Creation<unknown>;
}

interface HandlingRoute<Query extends QueryParameters> extends SharedRoute<Query> {
  readonly method: Exclude<Method, 'POST'>;
  readonly handle: (request: ApiRequest<Query>) => Awaitable<ApiResponse>;
}

/** POST with a query in its body: it writes nothing, so clients may safely repeat the request. */
interface AskingRoute<Query extends QueryParameters> extends Omit<HandlingRoute<Query>, 'method'> {
  readonly method: 'POST';
  readonly onlyReads: true;
}

export type Route<Query extends QueryParameters = QueryParameters> =
  | CreatingRoute<Query>
  | AskingRoute<Query>
  | HandlingRoute<Query>;

/** Returns the headers that a route reads, including headers implied by its method and personal data. */
export const requestHeadersOf = (route: Route): readonly RequestHeader[] => [
  ...('creation' in route ? (['Idempotency-Key'] as const) : []),
  ...(route.requestHeaders ?? []),
  ...(route.personal === 'none' ? [] : (['X-Purpose', 'X-End-User'] as const)),
];

/** Defines a route whose handler has the types of the declared query parameters. */
export const defineRoute = <Query extends QueryParameters = QueryParameters>(route: Route<Query>): Route =>
  route as unknown as Route;

export const API_PREFIX = '/api/v1';
export const API_ROOT = `${API_PREFIX}/`;

export const fullPath = (route: Pick<Route, 'path' | 'isOutsideApi'>): string =>
  route.isOutsideApi === true ? route.path : API_PREFIX + route.path;

// Limits of restricted keys on each route (docs/keys.md#restricted-keys)

/** Access of restricted keys to a route. */
export interface Narrowing {
  /**
   * Access of a lookup-only key: `allowed` if the route shows no person, `refused`, or a function that allows
   * requests that name a person by national ID.
   */
  readonly lookupOnly: 'allowed' | 'refused' | ((request: ApiRequest) => boolean);
  /**
   * Access of a key limited to cooperatives: `narrowed` if the handler's store shows and accepts only rows of
   * these cooperatives, `allowed` if the data does not belong to any cooperative.
   */
  readonly cooperatives: 'narrowed' | 'allowed' | 'refused';
}

/** Narrowing for routes without registry data. */
export const SHOWS_NO_ROWS: Narrowing = { lookupOnly: 'allowed', cooperatives: 'allowed' };

export const SHOWS_COOPERATIVES: Narrowing = { lookupOnly: 'allowed', cooperatives: 'narrowed' };

export const SHOWS_PERSONS: Narrowing = { lookupOnly: 'refused', cooperatives: 'narrowed' };

/** Narrowing for routes with the national ID in the path. */
export const SHOWS_ONE_PERSON: Narrowing = { lookupOnly: 'allowed', cooperatives: 'narrowed' };

// Request

const NO_SEARCH = new URLSearchParams();
const NO_PARAMS = {};

/** Request passed to middleware and handlers. Rarely used properties are computed lazily. */
export class ApiRequest<Query extends QueryParameters = QueryParameters> {
  /** Handlers may read only the headers declared in `requestHeaders` of the route. */
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Request ID in the log and in the response. */
  readonly id: string;
  /** Time of arrival in monotonic milliseconds. */
  readonly startMs: number;
  /** Path as sent, without the prefix and the query. */
  readonly path: string;
  /** Prefix of route paths for clients: from PUBLIC_URL, or otherwise the mount point. */
  readonly prefix: string;
  /** Template of the path; empty until a path has matched. */
  template = '';
  /** Set after path and method have matched. */
  route: Route | undefined;
  /** Raw path segments by parameter name. */
  params: { readonly [name: string]: string } = NO_PARAMS;
  /** Key of the caller, set by the authenticating middleware; undefined on public routes. */
  caller: ApiKey | undefined;
  /** Query after checks against the route's declaration. */
  query: ParsedQuery<Query> = {};
  /** Parsed JSON, for routes that have a body. */
  body: unknown;
  /** SHA-256 of the body's bytes, only for a request with an Idempotency-Key. */
  bodyHash: string | undefined;
  /** Purpose and end user, on routes that show persons. */
  stated: Stated = NOTHING_STATED;
  /** Headers to add to any response, including refusals. */
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

  /** Runs a function when the response has been sent or the client has disconnected. */
  whenClosed(work: () => void): void {
    this.outgoing.once('close', work);
  }

  /** Cooperatives visible to the caller, to which every store is limited. */
  get visible(): Visible {
    return this.caller?.cooperatives ?? null;
  }

  /** Query as received, for links to other pages. */
  get search(): URLSearchParams {
    if (this.searchText === '') return NO_SEARCH;
    this.parsedSearch ??= parseSearch(this.searchText);
    return this.parsedSearch;
  }

  /** Base of absolute links, with the prefix: PUBLIC_URL, or otherwise the scheme and host of the request. */
  get baseUrl(): string {
    if (this.publicOrigin !== undefined) return this.publicOrigin + this.prefix;
    const scheme = 'encrypted' in this.incoming.socket ? 'https' : 'http';
    // Only an HTTP/1.0 request may lack a Host.
    const host = this.incoming.headers.host ?? `localhost:${this.incoming.socket.localPort ?? ''}`;
    return `${scheme}://${host}${this.prefix}`;
  }
}

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;
const SECRET_LIKE = /[0-9]{16}|crs_/;

/** Returns the client's request ID if it is safe to repeat and log, or otherwise a new one. */
function readRequestId(incoming: IncomingMessage): string {
  const id = incoming.headers['x-request-id'];
  const isSafe = typeof id === 'string' && REQUEST_ID.test(id) && !SECRET_LIKE.test(id);
  return isSafe ? id : randomUUID();
}

/** @throws HttpError 400 for invalid UTF-8, because a replaced character would match no person */
function parseSearch(text: string): URLSearchParams {
  const search = new URLSearchParams(text);
  const isReplaced = search.toString().includes(REPLACED) && !text.toUpperCase().includes(REPLACED);
  if (isReplaced) throw badRequest('The query is not valid UTF-8.');
  return search;
}

/** U+FFFD, which replaces bytes that are not valid UTF-8. */
const REPLACED = '%EF%BF%BD';

/**
 * Returns the prefix at which a framework has mounted the handler. Express, and Fastify with middie, remove
 * the prefix from `url` and keep the original in `originalUrl`.
 */
function prefixOfMount(incoming: IncomingMessage & { readonly originalUrl?: unknown }): string {
  const { originalUrl, url = '' } = incoming;
  if (typeof originalUrl !== 'string' || !originalUrl.endsWith(url)) return '';
  const mount = originalUrl.slice(0, originalUrl.length - url.length);
  return PREFIX.test(mount) ? mount : '';
}

/** Removes the prefix if a proxy has not removed it (docs/operating.md#behind-a-prefix). */
function withoutPrefix(path: string, prefix: string): string {
  if (prefix !== '' && path === prefix) return '/';
  // With the prefix /api, a path /api/v1/… has already lost the prefix.
  if (prefix === '' || !path.startsWith(`${prefix}/`) || path.startsWith(API_ROOT)) return path;
  return path.slice(prefix.length);
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests that node:http accepts but that two programs, such as a proxy and this service, could
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
  // A coding that the server does not understand gives 501 (RFC 9112, section 6.1).
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    return refusal(501, 'Unsupported transfer encoding in request.');
  // Other methods are refused later with 404 or 405.
  if (READING.has(incoming.method ?? '') && hasBody(incoming))
    return refusal(400, 'Only POST, PUT and PATCH take a body.');
  return undefined;
}

const HOST = /^(?:[A-Za-z0-9._-]+|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?$/;

/** True for a host with an optional port; links with any other text would not work. */
function isHost(text: string): boolean {
  const match = HOST.exec(text);
  return match !== null && (match[1] === undefined || isIPv6(match[1]));
}

/**
 * Refuses a request by returning a response, or adds a property to the request and returns undefined.
 * Middleware is called in sequence, without `next()`, and never waits.
 */
export type Middleware = (request: ApiRequest) => ApiResponse | undefined;

// Purpose and end user of an access, which a client states in headers (docs/ledger.md)

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes a header as UTF-8, which most clients send; node:http decodes headers as Latin-1. */
function decode(latin1: string): string {
  try {
    return utf8.decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return latin1;
  }
}

/** @throws HttpError 400 */
function readStated(
  incoming: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  name: string,
  lower: string,
): string | null {
  if (incoming.headers[lower] === undefined) return null;
  const [header = '', ...repeated] = incoming.headersDistinct[lower] ?? [];
  // A repeated header is invalid.
  const text = parseStated(repeated.length === 0 ? decode(header) : '');
  if (text instanceof FieldError) throw badRequest(`${name}: ${text.message}`);
  return text;
}

/** Purpose and end user from the headers; null for a missing header. */
type Stated = Pick<AccessRecord, 'purpose' | 'endUser'>;

const NOTHING_STATED: Stated = { purpose: null, endUser: null };

/**
 * @param purposeOfKey purpose to record if the request has no X-Purpose
 * @throws HttpError 400 for a header that is repeated or not text
 */
export function readStatements(
  incoming: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  purposeOfKey: string | null = null,
): Stated {
  const purpose = readStated(incoming, 'X-Purpose', 'x-purpose') ?? purposeOfKey;
  const endUser = readStated(incoming, 'X-End-User', 'x-end-user');
  return purpose === null && endUser === null ? NOTHING_STATED : { purpose, endUser };
}

// Content negotiation (RFC 9110, section 12.5)

const PART = /^\s*([!#$%&'*+.^_`|~0-9a-z/-]+)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?$/i;

/** @returns the weight of each name in lower case; names that cannot be parsed are skipped */
export function weightsOf(header: string | string[] | undefined): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of String(header ?? '').split(',')) {
    const [, name, weight = '1'] = PART.exec(part) ?? [];
    if (name !== undefined) weights.set(name.toLowerCase(), Number(weight));
  }
  return weights;
}

/** @param header value of Accept-Encoding */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  const weights = weightsOf(header);
  const weight = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return weight > 0 && weight >= (weights.get('identity') ?? 0);
}
