/**
 * A route is data: the router, validation, access control, their tests and OpenAPI all read this declaration.
 */
import type { IncomingMessage } from 'node:http';
import type { ApiKey, Scope } from '../../domain/access/api-keys.ts';
import type { Visible } from '../../domain/access/visible.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { FieldGroup } from '../../domain/values/declared-fields.ts';
import type { Deprecation } from '../../domain/values/deprecation.ts';
import type { Schema } from '../../json/schema.ts';
import type { Subject } from '../../store/contract/access-ledger.ts';
import type { ResponseToKeep } from '../../store/contract/entity-store.ts';
import type { Narrowing } from './narrowing.ts';
import type { BodyDeclaration } from './parse-body.ts';
import type { ParsedQuery, QueryParameters } from './query.ts';
import type { ApiResponse } from './response.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** The methods that are served, each with that of the route which serves it. */
export const METHODS = {
  GET: 'GET',
  HEAD: 'GET',
  POST: 'POST',
  PUT: 'PUT',
  PATCH: 'PATCH',
} as const satisfies { readonly [method: string]: Method };

/** Header fields of requests that a route may read; openapi/headers.ts describes them. */
export type RequestHeader =
  | 'Accept'
  | 'Accept-Encoding'
  | 'Idempotency-Key'
  | 'If-Match'
  | 'If-None-Match'
  | 'X-End-User'
  | 'X-Purpose';

/** Header fields that a route may add to its own responses; openapi/headers.ts describes them. */
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
 * Who may call: the holder of a scope, or of two, for an export with the right to it, the holder of any
 * active key, or anybody. A route without this does not compile.
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
 * Whose data the responses show: nobody's, or one person's, those of the rows of a page, or of all rows; and
 * which groups of fields, all that a key may see. Such responses are recorded, and say whom they show
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
   * Bytes outside `[A-Za-z0-9_./-]` reach the handler in this segment instead of 404: a mistyped national ID
   * must never read as "not found" (docs/api.md#routes).
   */
  readonly takesAnyByte?: boolean;
}

/** What a handler gets. */
export interface RouteRequest<Query extends QueryParameters = QueryParameters> {
  /** Raw path segments by parameter name. */
  readonly params: { readonly [name: string]: string };
  /** Checked against the route's declaration. */
  readonly query: ParsedQuery<Query>;
  /** The query as it was sent, for links to other pages. */
  readonly search: URLSearchParams;
  /** The parsed JSON, for routes that have a body. */
  readonly body: unknown;
  /** Undefined on public routes. */
  readonly caller: ApiKey | undefined;
  /** What the caller sees; every store is narrowed to it. */
  readonly visible: Visible;
  /** The path as it was sent, without the prefix and the query. */
  readonly path: string;
  /** The header fields; a route reads only those that it declares in `requestHeaders`. */
  readonly incoming: Pick<IncomingMessage, 'headers' | 'headersDistinct' | 'method'>;
  /** Of the bytes of the body; only for a request with an Idempotency-Key. */
  readonly bodyHash: string | undefined;
  /** What stands before the paths of routes for clients: that of PUBLIC_URL, else of where it is mounted. */
  readonly prefix: string;
  /** For absolute links: PUBLIC_URL, else the request's own scheme and host; with the prefix. */
  readonly baseUrl: string;
  /** Registers what is called when the client has left, and when the response is sent. */
  whenClosed(work: () => void): void;
}

/** The response of a route when it succeeds. */
export interface SuccessResponse {
  readonly description: string;
  readonly schema: Schema;
  /** Whether it is many of these, one a line or as CSV. */
  readonly isExport?: true;
  /** Of nobody who exists, where the schema does not make it. */
  readonly example?: unknown;
  /** Headers of its own; optional ones are in some of these responses only. */
  readonly headers?: { readonly [name in ResponseHeader]?: 'required' | 'optional' };
}

/** How POST adds a row. */
export interface Creation<Created> {
  /** @param keep passed on to the store, which keeps the response beside the row */
  create(request: RouteRequest, keep: ResponseToKeep<Created> | undefined): Promise<Created>;
  /** Composes the response, inside the transaction when it is kept: it depends on no other row. */
  respond(created: Created, request: Pick<RouteRequest, 'params'>): ApiResponse;
  /**
   * Whether a 201 shows nothing of persons but what its request contained, or says so by the body of the
   * request: that is no reading (docs/ledger.md#what-is-recorded).
   */
  readonly showsOnlyItsRequest?: boolean | ((body: unknown) => boolean) | undefined;
  /**
   * Whom a response that is sent again shows, by its body and its request; undefined where that is nobody, or
   * no reading.
   */
  readonly subjectOf?: ((shown: ShownRow, request: Pick<RouteRequest, 'params'>) => Subject) | undefined;
}

/** What a representation tells of whose data it is: the member's own, or a row with its member. */
export interface ShownRow {
  readonly id: string;
  readonly member?: { readonly id: string };
}

/** A creation whose two functions agree on what is created. */
export const createWith = <Created>(creation: Creation<Created>): Creation<unknown> => creation;

interface SharedRoute<Query extends QueryParameters> {
  /** Template with `{name}` segments; under the API's prefix unless `isOutsideApi`. */
  readonly path: string;
  readonly isOutsideApi?: boolean;
  /** For people: not part of the description for programs. */
  readonly isPage?: true;
  /** Also in an overload: who asks whether the service is up would restart it if refused. */
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
  /** Whether what POST adds has no address of its own: its 201 has no `Location`. */
  readonly createsPart?: true;
  /** Schema of the body of each success status. */
  readonly responses: { readonly [status: number]: SuccessResponse };
  /** Statuses that the handler itself may refuse with, beside those of earlier stages. */
  readonly refusals?: readonly (400 | 404 | 409 | 410 | 412 | 422 | 503)[];
}

/** A route of POST cannot forget that its requests may be repeated (docs/api.md#repeating-a-request). */
interface CreatingRoute<Query extends QueryParameters> extends SharedRoute<Query> {
  readonly method: 'POST';
  readonly creation: Creation<unknown>;
}

export interface HandlingRoute<Query extends QueryParameters = QueryParameters> extends SharedRoute<Query> {
  readonly method: Exclude<Method, 'POST'>;
  readonly handle: (request: RouteRequest<Query>) => Awaitable<ApiResponse>;
}

export type Route<Query extends QueryParameters = QueryParameters> =
  | CreatingRoute<Query>
  | HandlingRoute<Query>;

/** The header fields that a route reads, those of its kind included. */
export const requestHeadersOf = ({
  method,
  personal,
  requestHeaders = [],
}: Route): readonly RequestHeader[] => [
  ...(method === 'POST' ? (['Idempotency-Key'] as const) : []),
  ...requestHeaders,
  ...(personal === 'none' ? [] : (['X-Purpose', 'X-End-User'] as const)),
];

/** A route whose handler sees the types of its own query parameters. */
export const defineRoute = <Query extends QueryParameters = QueryParameters>(route: Route<Query>): Route =>
  route as unknown as Route;

export const API_PREFIX = '/api/v1';
/** How every path of the API begins. */
export const API_ROOT = `${API_PREFIX}/`;

/** The full template of a route's path. */
export const fullPath = (route: Pick<Route, 'path' | 'isOutsideApi'>): string =>
  route.isOutsideApi === true ? route.path : API_PREFIX + route.path;
