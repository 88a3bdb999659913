/**
 * Routes as data: the router, validation, access control, their tests and OpenAPI read these declarations.
 */
import type { IncomingMessage } from 'node:http';
import type { Subject } from '../../access/access-ledger.ts';
import type { ApiKey, Scope, Visible } from '../../access/api-keys.ts';
import type { ResponseToSave } from '../../sqlite/entity-store.ts';
import type { Deprecation, FieldGroup } from '../../values/declared-fields.ts';
import type { Awaitable } from '../../values/errors.ts';
import type { Schema } from '../../values/schema.ts';
import type { Narrowing } from './narrowing.ts';
import type { BodyDeclaration } from './parse-body.ts';
import type { ParsedQuery, QueryParameters } from './query.ts';
import type { ApiResponse } from './response.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** Served methods, each with the method of the route that serves it. */
export const METHODS = {
  GET: 'GET',
  HEAD: 'GET',
  POST: 'POST',
  PUT: 'PUT',
  PATCH: 'PATCH',
} as const satisfies { readonly [method: string]: Method };

/** Request headers that a route may read; reference/headers.ts describes them. */
export type RequestHeader =
  | 'Accept'
  | 'Accept-Encoding'
  | 'Idempotency-Key'
  | 'If-Match'
  | 'If-None-Match'
  | 'X-End-User'
  | 'X-Purpose';

/** Headers that a route may add to its own responses; reference/headers.ts describes them. */
export type ResponseHeader =
  | 'Content-Disposition'
  | 'Content-Encoding'
  | 'Content-Location'
  | 'ETag'
  | 'Idempotency-Replayed'
  | 'Vary'
  | 'X-Access-Receipt'
  | 'X-Snapshot-Epoch'
  | 'X-Snapshot-Sequence';

/**
 * Access to a route: a key with a scope (or two), and for an export the right to it; any active key; or the
 * public. A route without this does not compile.
 */
export type Access =
  | { readonly scope: Scope; readonly alsoScope?: Scope; readonly isExport?: true }
  | 'any key'
  | 'public';

/** The scopes that a key needs, all of them. */
export function scopesOf({ access }: Pick<Route, 'access'>): readonly Scope[] {
  if (typeof access === 'string') return [];
  const { scope, alsoScope } = access;
  return alsoScope === undefined ? [scope] : [scope, alsoScope];
}

/**
 * The persons whose data the responses show (none, one person, those on a page, or all rows) and the groups
 * of fields, all that a key may see. Such responses are recorded and name their data subjects
 * (`ApiResponse.subject`). A route without this does not compile.
 */
export type Personal =
  | 'none'
  | { readonly persons: 'one' | 'page' | 'all'; readonly fields: readonly FieldGroup[] };

export interface Parameter {
  readonly description: string;
  readonly schema: Schema;
  readonly example: string;
  /**
   * True if bytes outside `[A-Za-z0-9_./-]` in this segment reach the handler instead of giving 404: a
   * mistyped national ID must never look like "not found" (docs/api.md#routes).
   */
  readonly takesAnyByte?: boolean;
}

/** The request as a handler sees it. */
export interface RouteRequest<Query extends QueryParameters = QueryParameters> {
  /** Raw path segments by parameter name. */
  readonly params: { readonly [name: string]: string };
  /** Parsed and checked against the route's declaration. */
  readonly query: ParsedQuery<Query>;
  /** The query as sent, for links to other pages. */
  readonly search: URLSearchParams;
  /** Parsed JSON, for routes that have a body. */
  readonly body: unknown;
  /** Undefined on public routes. */
  readonly caller: ApiKey | undefined;
  /** Cooperatives visible to the caller; every store is narrowed to them. */
  readonly visible: Visible;
  /** Path as sent, without the prefix and the query. */
  readonly path: string;
  /** Request headers. A route reads only those that it declares in `requestHeaders`. */
  readonly incoming: Pick<IncomingMessage, 'headers' | 'headersDistinct' | 'method'>;
  /** SHA-256 of the body's bytes; only for a request with an Idempotency-Key. */
  readonly bodyHash: string | undefined;
  /** Prefix of route paths for clients: that of PUBLIC_URL, else the mount point. */
  readonly prefix: string;
  /** Base of absolute links: PUBLIC_URL, else the request's own scheme and host; with the prefix. */
  readonly baseUrl: string;
  /** Calls back when the response has been sent or the client has disconnected. */
  whenClosed(work: () => void): void;
}

export interface SuccessResponse {
  readonly description: string;
  readonly schema: Schema;
  /** True for many of these, one per line or as CSV. */
  readonly isExport?: true;
  /** Fictitious example, where the schema does not provide one. */
  readonly example?: unknown;
  /** Additional headers; optional ones are in some of these responses only. */
  readonly headers?: { readonly [name in ResponseHeader]?: 'required' | 'optional' };
}

/** The two steps of a POST: adding the row, and responding. */
export interface Creation<Created> {
  /** @param keep passed on to the store, which keeps the response together with the row */
  create(request: RouteRequest, keep: ResponseToSave<Created> | undefined): Promise<Created>;
  /** Composes the response, inside the transaction if it is kept; so it must not depend on other rows. */
  respond(created: Created, request: Pick<RouteRequest, 'params'>): ApiResponse;
  /**
   * True, or a function of the body that returns true, if a 201 shows no personal data beyond the request's
   * own: that is not recorded as access (docs/ledger.md#what-is-recorded).
   */
  readonly showsOnlyItsRequest?: boolean | ((body: unknown) => boolean) | undefined;
  /**
   * Returns the data subjects of a repeated response from its body and request; undefined where it shows no
   * person, or does not count as access.
   */
  readonly subjectOf?: ((shown: ShownRow, request: Pick<RouteRequest, 'params'>) => Subject) | undefined;
}

/** The parts of a representation that identify the data subject: a member, or a row with its member. */
export interface ShownRow {
  readonly id: string;
  readonly member?: { readonly id: string };
}

/** Creates a `Creation` whose two functions agree on the created type. */
export const createWith = <Created>(creation: Creation<Created>): Creation<unknown> => creation;

interface SharedRoute<Query extends QueryParameters> {
  /** Template with `{name}` segments; under the API's prefix unless `isOutsideApi`. */
  readonly path: string;
  readonly isOutsideApi?: boolean;
  /** For people; left out of the OpenAPI description. */
  readonly isPage?: true;
  /** Answered even in an overload: a health check that is refused would restart the service. */
  readonly isAlwaysAnswered?: true;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly deprecated?: Deprecation;
  readonly access: Access;
  readonly narrowed: Narrowing;
  readonly personal: Personal;
  /** Scopes that change the response without being required. */
  readonly optionalScopes?: readonly Scope[];
  readonly params?: { readonly [name: string]: Parameter };
  readonly query?: Query;
  /** `If-None-Match` also adds status 304. */
  readonly requestHeaders?: readonly RequestHeader[];
  readonly body?: BodyDeclaration;
  /** True if the created part has no address of its own, so that its 201 has no `Location`. */
  readonly createsPart?: true;
  readonly responses: { readonly [status: number]: SuccessResponse };
  /** Statuses that the handler itself may refuse with, besides those of earlier stages. */
  readonly refusals?: readonly (400 | 404 | 409 | 410 | 412 | 422 | 503)[];
}

/** A POST route cannot omit support for repeated requests (docs/api.md#repeating-a-request). */
interface CreatingRoute<Query extends QueryParameters> extends SharedRoute<Query> {
  readonly method: 'POST';
  readonly creation: Creation<unknown>;
}

interface HandlingRoute<Query extends QueryParameters = QueryParameters> extends SharedRoute<Query> {
  readonly method: Exclude<Method, 'POST'>;
  readonly handle: (request: RouteRequest<Query>) => Awaitable<ApiResponse>;
}

export type Route<Query extends QueryParameters = QueryParameters> =
  | CreatingRoute<Query>
  | HandlingRoute<Query>;

/** Returns the headers that a route reads, including those implied by its method and personal data. */
export const requestHeadersOf = ({
  method,
  personal,
  requestHeaders = [],
}: Route): readonly RequestHeader[] => [
  ...(method === 'POST' ? (['Idempotency-Key'] as const) : []),
  ...requestHeaders,
  ...(personal === 'none' ? [] : (['X-Purpose', 'X-End-User'] as const)),
];

/** Defines a route whose handler sees the types of its own query parameters. */
export const defineRoute = <Query extends QueryParameters = QueryParameters>(route: Route<Query>): Route =>
  route as unknown as Route;

export const API_PREFIX = '/api/v1';
export const API_ROOT = `${API_PREFIX}/`;

export const fullPath = (route: Pick<Route, 'path' | 'isOutsideApi'>): string =>
  route.isOutsideApi === true ? route.path : API_PREFIX + route.path;
