/** The request, and declarations of routes, which the router, access control, OpenAPI and tests read. */
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

/** For each request method, the method of the routes that handle such requests. */
export const METHODS = {
  GET: 'GET',
  HEAD: 'GET',
  POST: 'POST',
  PUT: 'PUT',
  PATCH: 'PATCH',
} as const satisfies { readonly [method: string]: Method };

/** reference/headers.ts describes each header. */
export type RequestHeader =
  | 'Accept'
  | 'Accept-Encoding'
  | 'Idempotency-Key'
  | 'If-Match'
  | 'If-None-Match'
  | 'X-End-User'
  | 'X-Purpose';

/** Permitted callers. `isExport` also requires the right to export. */
export type Access =
  | { readonly scope: Scope; readonly alsoScope?: Scope; readonly isExport?: true }
  | 'any key'
  | 'public';

export function scopesOf({ access }: Pick<Route, 'access'>): readonly Scope[] {
  if (typeof access === 'string') return [];
  const { scope, alsoScope } = access;
  return alsoScope === undefined ? [scope] : [scope, alsoScope];
}

/** Personal data in successful responses: the number of persons, and all fields that may be shown. */
export type Personal =
  | 'none'
  | { readonly persons: 'one' | 'numbers' | 'page' | 'all'; readonly fields: readonly FieldGroup[] };

export const showing = (
  persons: Exclude<Personal, 'none'>['persons'],
  fields: readonly FieldGroup[],
): Personal => (fields.length === 0 ? 'none' : { persons, fields });

export interface Parameter {
  readonly description: string;
  readonly schema: Schema;
  readonly example: string;
  /** True if any byte is legal: a mistyped national ID must not give 404 (docs/api.md#routes). */
  readonly takesAnyByte?: boolean;
}

export interface SuccessResponse {
  readonly description: string;
  readonly schema: Schema;
  /** True if the body contains many rows, one per line or as CSV. */
  readonly isExport?: true;
  /** Fictitious example; by default, `exampleOf` makes an example from the schema. */
  readonly example?: unknown;
  /** Further headers. An `optional` header is missing from some responses. */
  readonly headers?: { readonly [name in ResponseHeader]?: 'required' | 'optional' };
}

/** The two steps of a POST that creates a row. */
export interface Creation<Created> {
  /** Adds the row. @param keep response that the store must save in the same transaction */
  create(request: ApiRequest, keep: ResponseToSave<Created> | undefined): Promise<Created>;
  /** Composes the response. May run inside the transaction, so the response must depend on this row only. */
  respond(created: Created, request: Pick<ApiRequest, 'params'>): ApiResponse;
  /**
   * True if all personal data in a 201 response comes from the request. Such a response is not recorded as an
   * access (docs/ledger.md#recorded-data). A function decides by the body of the request.
   */
  readonly showsOnlyItsRequest?: boolean | ((body: unknown) => boolean) | undefined;
  /** Returns the data subjects of a saved response. Undefined if responses show no person. */
  readonly subjectOf?: ((shown: ShownRow, request: Pick<ApiRequest, 'params'>) => Subject) | undefined;
}

/** Part of a saved response. Identifies the data subject: the member that is shown, or whose row is shown. */
export interface ShownRow {
  readonly id: string;
  readonly member?: { readonly id: string };
}

/** Lets the compiler check that `create` and `respond` have the same type of row. */
export const createWith = <Created>(creation: Creation<Created>): Creation<unknown> => creation;

interface SharedRoute<Query extends QueryParameters> {
  /** Template with `{name}` segments, below the prefix of the API unless `isOutsideApi` is true. */
  readonly path: string;
  readonly isOutsideApi?: boolean;
  /** True for a page for people. OpenAPI does not describe such routes. */
  readonly isPage?: true;
  /** True to serve the route even in an overload: a refused health check would lead to a restart. */
  readonly isAlwaysAnswered?: true;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly tag: string;
  readonly deprecated?: Deprecation;
  readonly access: Access;
  readonly narrowed: Narrowing;
  readonly personal: Personal;
  /** Scopes that are not required, but let the response show further data. */
  readonly optionalScopes?: readonly Scope[];
  readonly params?: { readonly [name: string]: Parameter };
  readonly query?: Query;
  /** With `If-None-Match`, the route may respond with status 304. */
  readonly requestHeaders?: readonly RequestHeader[];
  readonly body?: BodyDeclaration;
  /** True if the created row has no path, so that the response 201 has no `Location`. */
  readonly createsPart?: true;
  readonly responses: { readonly [status: number]: SuccessResponse };
  /** Returns the number to count against the key's limits. Without it, a request counts as 1. */
  readonly countRequests?: (body: unknown) => number;
  readonly refusals?: readonly (400 | 404 | 409 | 410 | 412 | 422 | 503)[];
}

/** POST that writes. Such a route must support Idempotency-Key (docs/api.md#repeating-a-request). */
interface CreatingRoute<Query extends QueryParameters> extends SharedRoute<Query> {
  readonly method: 'POST';
  readonly creation: Creation<unknown>;
}

interface HandlingRoute<Query extends QueryParameters> extends SharedRoute<Query> {
  readonly method: Exclude<Method, 'POST'>;
  readonly handle: (request: ApiRequest<Query>) => Awaitable<ApiResponse>;
}

/** POST with a query in its body. Such a route writes nothing, so clients can safely repeat requests. */
interface AskingRoute<Query extends QueryParameters> extends Omit<HandlingRoute<Query>, 'method'> {
  readonly method: 'POST';
  readonly onlyReads: true;
}

export type Route<Query extends QueryParameters = QueryParameters> =
  | CreatingRoute<Query>
  | AskingRoute<Query>
  | HandlingRoute<Query>;

export const requestHeadersOf = (route: Route): readonly RequestHeader[] => [
  ...('creation' in route ? (['Idempotency-Key'] as const) : []),
  ...(route.requestHeaders ?? []),
  ...(route.personal === 'none' ? [] : (['X-Purpose', 'X-End-User'] as const)),
];

/** Lets the compiler derive the type of `request.query` in the handler from the declared parameters. */
export const defineRoute = <Query extends QueryParameters = QueryParameters>(route: Route<Query>): Route =>
  route as unknown as Route;

export const API_PREFIX = '/api/v1';
export const API_ROOT = `${API_PREFIX}/`;

export const fullPath = (route: Pick<Route, 'path' | 'isOutsideApi'>): string =>
  route.isOutsideApi === true ? route.path : API_PREFIX + route.path;

// Limits of restricted keys on each route (docs/keys.md#restricted-keys)

export interface Narrowing {
  /** A function returns true for an allowed request: one that names a person by national ID. */
  readonly lookupOnly: 'allowed' | 'refused' | ((request: ApiRequest) => boolean);
  /**
   * `narrowed`: the store of the handler shows and accepts only rows of the cooperatives of the key.
   * `allowed`: the data does not belong to any cooperative.
   */
  readonly cooperatives: 'narrowed' | 'allowed' | 'refused';
}

export const SHOWS_NO_ROWS: Narrowing = { lookupOnly: 'allowed', cooperatives: 'allowed' };

/** Also for routes with a national ID in the path. */
export const SHOWS_COOPERATIVES: Narrowing = { lookupOnly: 'allowed', cooperatives: 'narrowed' };

export const SHOWS_PERSONS: Narrowing = { lookupOnly: 'refused', cooperatives: 'narrowed' };

const NO_SEARCH = new URLSearchParams();
const NO_PARAMS = {};

/** Request for middleware and handlers. Rarely used properties are computed on first use. */
export class ApiRequest<Query extends QueryParameters = QueryParameters> {
  /** Handlers may read only the headers declared in `requestHeaders` of the route. */
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly id: string;
  /** Time of arrival in monotonic milliseconds. */
  readonly startMs: number;
  /** Path as sent, without the prefix and the query. */
  readonly path: string;
  /** Prefix of paths for clients: from PUBLIC_URL, or else from the framework that mounts the handler. */
  readonly prefix: string;
  /** Empty until a route matches the path. */
  template = '';
  route: Route | undefined;
  params: { readonly [name: string]: string } = NO_PARAMS;
  /** Undefined until the middleware has found the key, and on public routes. */
  caller: ApiKey | undefined;
  /** Parsed query; still empty when the middleware runs. */
  query: ParsedQuery<Query> = {};
  body: unknown;
  /** SHA-256 of the body's bytes; only for a request with an Idempotency-Key. */
  bodyHash: string | undefined;
  /** Only on routes that show persons. */
  stated: Stated = NOTHING_STATED;
  /** Headers that the response gets, even if it is a refusal. */
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

  /** Cooperatives visible to the caller. Every store is limited to these. */
  get visible(): Visible {
    return this.caller?.cooperatives ?? null;
  }

  /** Query as received, for links to other pages. */
  get search(): URLSearchParams {
    if (this.searchText === '') return NO_SEARCH;
    this.parsedSearch ??= parseSearch(this.searchText);
    return this.parsedSearch;
  }

  /** Base of absolute links, with the prefix: PUBLIC_URL, or else the scheme and host of the request. */
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

/** Returns the request ID of the client if it is safe to repeat and log, and otherwise a new request ID. */
function readRequestId(incoming: IncomingMessage): string {
  const id = incoming.headers['x-request-id'];
  const isSafe = typeof id === 'string' && REQUEST_ID.test(id) && !SECRET_LIKE.test(id);
  return isSafe ? id : randomUUID();
}

/** @throws HttpError 400 for invalid UTF-8: with its replacement characters, a search would find nobody */
function parseSearch(text: string): URLSearchParams {
  const search = new URLSearchParams(text);
  const isReplaced = search.toString().includes(REPLACED) && !text.toUpperCase().includes(REPLACED);
  if (isReplaced) throw badRequest('The query is not valid UTF-8.');
  return search;
}

/** U+FFFD, which replaces bytes that are not valid UTF-8. */
const REPLACED = '%EF%BF%BD';

/** Express, and Fastify with middie, remove the prefix from `url`. `originalUrl` keeps the prefix. */
function prefixOfMount(incoming: IncomingMessage & { readonly originalUrl?: unknown }): string {
  const { originalUrl, url = '' } = incoming;
  if (typeof originalUrl !== 'string' || !originalUrl.endsWith(url)) return '';
  const mount = originalUrl.slice(0, originalUrl.length - url.length);
  return PREFIX.test(mount) ? mount : '';
}

/** Removes the prefix, unless a proxy has already removed it (docs/operating.md#behind-a-prefix). */
function withoutPrefix(path: string, prefix: string): string {
  if (prefix !== '' && path === prefix) return '/';
  // A path /api/v1/… counts as without prefix, even if the prefix is /api.
  if (prefix === '' || !path.startsWith(`${prefix}/`) || path.startsWith(API_ROOT)) return path;
  return path.slice(prefix.length);
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests that node:http accepts but that two programs, such as a proxy and this service, could
 * interpret differently (docs/api.md#responses-and-errors).
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
  // Unsupported methods, such as DELETE, are refused later with 404 or 405.
  if (READING.has(incoming.method ?? '') && hasBody(incoming))
    return refusal(400, 'Only POST, PUT and PATCH take a body.');
  return undefined;
}

const HOST = /^(?:[A-Za-z0-9._-]+|\[([0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?$/;

/** True for a host with an optional port. Links to any other text would not work. */
function isHost(text: string): boolean {
  const match = HOST.exec(text);
  return match !== null && (match[1] === undefined || isIPv6(match[1]));
}

/** May set properties of the request, and may refuse the request by returning a response. */
export type Middleware = (request: ApiRequest) => ApiResponse | undefined;

// Purpose and end user of an access, which a client states in headers (docs/ledger.md)

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes a header as UTF-8, which most clients send. node:http has decoded the header as Latin-1. */
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

/** A missing header is null. */
type Stated = Pick<AccessRecord, 'purpose' | 'endUser'>;

const NOTHING_STATED: Stated = { purpose: null, endUser: null };

/** @throws HttpError 400 for a header that is repeated or is not valid text */
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

export function acceptsGzip(header: string | string[] | undefined): boolean {
  const weights = weightsOf(header);
  const weight = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  return weight > 0 && weight >= (weights.get('identity') ?? 0);
}
