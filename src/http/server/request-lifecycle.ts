/**
 * Stages 2 to 6 of a request (ARCHITECTURE.md#the-life-of-a-request), the router, and deprecation. Stage 1 is
 * in server.ts, stage 7 in send.ts.
 */
import { hash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { ApiKeyStore } from '../../access/api-key-store.ts';
import { isRefusal } from '../../access/api-keys.ts';
import type { RateLimiter } from '../../access/rate-limiter.ts';
import type { PublicUrl } from '../../runtime/config.ts';
import { type Clock, nowSeconds } from '../../runtime/scheduler.ts';
import { assertDeprecation, type Deprecation } from '../../values/declared-fields.ts';
import { type Awaitable, isThenable } from '../../values/errors.ts';
import type { Schema } from '../../values/schema.ts';
import type { Create } from '../declare/idempotency-keys.ts';
import { parseQuery } from '../declare/query.ts';
import { isTooLarge, parseJson, readBody } from '../declare/request-body.ts';
import { type ApiResponse, type Headers, refusal, toErrorResponse } from '../declare/response.ts';
import {
  ApiRequest,
  fullPath,
  METHODS,
  type Method,
  type Middleware,
  type Route,
  readStatements,
  refuseAmbiguous,
} from '../declare/route.ts';
import type { AccessLog } from './access-log.ts';
import { preflightHeaders } from './cors.ts';
import { limitRate } from './middleware.ts';
import type { Sender } from './send.ts';

interface HandlerDependencies {
  readonly routes: readonly Route[];
  readonly keys: Pick<ApiKeyStore, 'countUse'>;
  readonly middleware: Middleware;
  readonly limiter: RateLimiter;
  readonly create: Create;
  readonly send: Sender;
  readonly clock: Clock;
  readonly log: AccessLog;
  readonly publicUrl: PublicUrl | undefined;
}

/** Marks a request whose client waits for `100 Continue`. */
export const EXPECTS_CONTINUE = Symbol('expects continue');

/** @throws Error for contradictory routes, or for an invalid deprecation */
export function createHandler(dependencies: HandlerDependencies): RequestListener {
  const { clock, log, publicUrl } = dependencies;
  const send = announceDeprecated(dependencies);
  const { routes, limiter } = dependencies;
  const stages = { ...dependencies, router: createRouter(routes), limit: limitRate(limiter, clock) };

  function fail(request: ApiRequest, error: unknown): void {
    const { response, isUnexpected } = toErrorResponse(error);
    if (isUnexpected) log.unexpected(request.id, error);
    send(request, response);
  }

  return (incoming, outgoing) => {
    const request = new ApiRequest(incoming, outgoing, { startMs: clock.monotonicMs(), publicUrl });
    try {
      const response = respond(request, stages);
      if (!isThenable(response)) send(request, response);
      else {
        response.then(
          (settled) => send(request, settled),
          (error: unknown) => fail(request, error),
        );
      }
    } catch (error) {
      fail(request, error);
    }
  };
}

interface Stages extends Pick<HandlerDependencies, 'middleware' | 'create'> {
  readonly router: Router;
  readonly limit: ReturnType<typeof limitRate>;
}

const NOT_FOUND = refusal(404, 'Not found.');

/** @throws RegistryError and HttpError, also as rejections */
function respond(request: ApiRequest, { router, middleware, limit, create }: Stages): Awaitable<ApiResponse> {
  // 2. Ambiguous requests: 400, 501
  const ambiguity = refuseAmbiguous(request.incoming);
  if (ambiguity !== undefined) return ambiguity;

  // 3. Path: 404; method: 405
  const match = router(request.path);
  if (match === undefined) return NOT_FOUND;
  request.template = match.template;
  const { method = '' } = request.incoming;
  if (method === 'OPTIONS') {
    const headers = { Allow: match.allow, ...preflightHeaders(request.incoming, match) };
    return { status: 204, body: undefined, headers };
  }
  const route = Object.hasOwn(METHODS, method) ? match.routes[METHODS[method as 'GET']] : undefined;
  if (route === undefined) return refusal(405, `Method "${method}" not allowed.`, { Allow: match.allow });
  request.route = route;
  request.params = match.params;

  // 4. Middleware: overload 503, key 401, address, host, scope, restrictions 403, purpose 400, limits 429
  const refused = middleware(request);
  if (refused !== undefined) return refused;

  // 5. Body: 400, 408, 413, 415
  if (route.body === undefined) return handle(request, route, create);
  if (EXPECTS_CONTINUE in request.incoming && !isTooLarge(request.incoming)) request.outgoing.writeContinue();
  const parsed = readBody(request.incoming, route.body).then((bytes) => {
    if (request.incoming.headers['idempotency-key'] !== undefined) request.bodyHash = hash('sha256', bytes);
    request.body = parseJson(bytes);
  });
  const { countRequests } = route;
  if (countRequests === undefined) return parsed.then(() => handle(request, route, create));
  // 5. Limit of a request that counts as several: 429. If the body is unreadable, the request counts as one.
  return parsed.then(
    () => limit(request, countRequests(request.body)) ?? handle(request, route, create),
    (error: unknown) => {
      const limited = limit(request, 1);
      if (limited !== undefined) return limited;
      throw error;
    },
  );
}

function handle(request: ApiRequest, route: Route, create: Create): Awaitable<ApiResponse> {
  // 5. Purpose and end user of the access, and the query: 400
  if (route.personal !== 'none') request.stated = readStatements(request.incoming, request.caller?.purpose);
  request.query = parseQuery(route.query ?? {}, request.search);
  // 6. Handler of the route
  return 'creation' in route ? create(request, route.creation) : route.handle(request);
}

// Router by segments of the raw path, with or without a trailing slash

interface Match {
  /** Routes by method. The route for GET also handles HEAD. */
  readonly routes: { readonly [method in Method]?: Route };
  readonly params: { readonly [name: string]: string };
  readonly template: string;
  readonly allow: string;
}

interface Node {
  readonly literals: Map<string, Node>;
  parameter: { readonly name: string; readonly takesAnyByte: boolean; readonly node: Node } | undefined;
  readonly routes: { [method in Method]?: Route };
  allow: string;
  template: string;
}

const newNode = (): Node => ({
  literals: new Map(),
  parameter: undefined,
  routes: {},
  allow: '',
  template: '',
});

// Legal bytes of a path (docs/api.md#routes). Nothing is decoded or resolved, so `..` means two dots.
const LEGAL_SEGMENT = /^[A-Za-z0-9_.-]+$/;

type Router = (path: string) => Match | undefined;

/** @throws Error for two routes with equal method and path, or with different parameters in one segment */
export function createRouter(routes: readonly Route[]): Router {
  const root = newNode();
  for (const route of routes) addRoute(root, route);
  return (path) => matchPath(root, path);
}

function addRoute(root: Node, route: Route): void {
  const path = fullPath(route);
  let node = root;
  for (const segment of path.slice(1).split('/')) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    node = name === undefined ? literalChild(node, segment) : parameterChild(node, name, route);
  }
  if (node.routes[route.method] !== undefined) throw new Error(`Two routes answer ${route.method} ${path}.`);
  node.routes[route.method] = route;
  node.template = path;
  const methods = Object.keys(node.routes);
  node.allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort().join(', ');
}

function literalChild(node: Node, segment: string): Node {
  const child = node.literals.get(segment) ?? newNode();
  node.literals.set(segment, child);
  return child;
}

function parameterChild(node: Node, name: string, route: Route): Node {
  const parameter = route.params?.[name];
  if (parameter === undefined)
    throw new Error(`${route.operationId} does not declare its parameter ${name}.`);
  const takesAnyByte = parameter.takesAnyByte === true;
  node.parameter ??= { name, takesAnyByte, node: newNode() };
  if (node.parameter.name !== name || node.parameter.takesAnyByte !== takesAnyByte) {
    throw new Error(`${route.operationId} declares {${name}} unlike another route at the same place.`);
  }
  return node.parameter.node;
}

function matchPath(root: Node, path: string): Match | undefined {
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length;
  const params: { [name: string]: string } = {};
  let node = root;
  for (let start = 1; start <= end; ) {
    const slash = path.indexOf('/', start);
    const stop = slash === -1 || slash > end ? end : slash;
    const segment = path.slice(start, stop);
    const next = node.literals.get(segment) ?? parameterNode(node, segment, params);
    if (next === undefined) return undefined;
    node = next;
    start = stop + 1;
  }
  if (node.allow === '') return undefined;
  return { routes: node.routes, params, template: node.template, allow: node.allow };
}

function parameterNode(
  { parameter }: Node,
  segment: string,
  params: { [name: string]: string },
): Node | undefined {
  if (parameter === undefined || segment === '') return undefined;
  if (!parameter.takesAnyByte && !LEGAL_SEGMENT.test(segment)) return undefined;
  params[parameter.name] = segment;
  return parameter.node;
}

// Deprecation headers, and counts of deprecated use by key (docs/api.md#versions)

/** @throws Error as `listDeprecated` does */
export function announceDeprecated({
  routes,
  send,
  keys,
  clock,
}: Pick<HandlerDependencies, 'routes' | 'send' | 'keys' | 'clock'>): Sender {
  const byRoute = new Map(
    routes
      .map((route) => [route, listDeprecated(route)] as const)
      .filter(([, declared]) => declared.length > 0),
  );
  if (byRoute.size === 0) return send;
  return (request, response) => {
    const { route, caller, headers } = request;
    const features = (route && byRoute.get(route))?.filter(({ isUsedBy }) => isUsedBy(request)) ?? [];
    if (features.length > 0) {
      Object.assign(headers, deprecationHeaders(features.map(({ deprecation }) => deprecation)));
      // A request whose key is refused uses nothing.
      if (caller !== undefined && !isRefusal(response.reason))
        for (const { name } of features) keys.countUse(caller.id, 'deprecated', name, nowSeconds(clock));
    }
    send(request, response);
  };
}

interface DeprecatedFeature {
  /** Name for clients and operators, such as `GET /api/v1/things, parameter old`. */
  readonly name: string;
  readonly deprecation: Deprecation;
  /** Always true for a field of the response. */
  readonly isUsedBy: (request: Pick<ApiRequest, 'search' | 'body'>) => boolean;
}

/** @throws Error for an invalid deprecation, for example with less than six months' notice */
export function listDeprecated(route: Route): DeprecatedFeature[] {
  // Features by name, because responses of several statuses may share a field.
  const features = new Map<string, DeprecatedFeature>();
  function add(
    part: string,
    deprecation: Deprecation | undefined,
    isUsedBy: DeprecatedFeature['isUsedBy'] = () => true,
  ): void {
    const name = `${route.method} ${fullPath(route)}${part}`;
    if (deprecation === undefined || features.has(name)) return;
    assertDeprecation(name, deprecation);
    features.set(name, { name, deprecation, isUsedBy });
  }

  add('', route.deprecated);
  for (const [name, { deprecated }] of Object.entries(route.query ?? {}))
    add(`, parameter ${name}`, deprecated, ({ search }) => search.has(name));
  for (const { name, deprecated } of Object.values(route.body?.fields ?? {}))
    add(`, field ${name} of the body`, deprecated, ({ body }) => hasField(body, name));
  for (const { schema } of Object.values(route.responses))
    for (const [name, deprecation] of deprecatedProperties(schema))
      add(`, field ${name} of the response`, deprecation);
  return [...features.values()];
}

const hasField = (body: unknown, name: string): boolean =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, name);

/** Yields deprecated properties by path. In `results.name`, `results` may be an object or an array. */
function* deprecatedProperties(schema: Schema, path = ''): Generator<[string, Deprecation]> {
  for (const [name, property] of Object.entries((schema.properties ?? {}) as { [name: string]: Schema })) {
    const deprecation = property['x-deprecation'] as Deprecation | undefined;
    if (deprecation !== undefined) yield [`${path}${name}`, deprecation];
    yield* deprecatedProperties(property, `${path}${name}.`);
  }
  const { items, anyOf, allOf } = schema as { [keyword: string]: Schema | readonly Schema[] | undefined };
  for (const part of [items ?? [], anyOf ?? [], allOf ?? []].flat()) yield* deprecatedProperties(part, path);
}

const earliest = (dates: readonly string[]): Date => new Date(dates.toSorted()[0] as string);

const deprecationHeaders = (deprecations: readonly Deprecation[]): Headers => ({
  // Date of structured fields (RFC 9745)
  Deprecation: `@${earliest(deprecations.map(({ since }) => since)).getTime() / 1000}`,
  // HTTP date (RFC 8594)
  Sunset: earliest(deprecations.map(({ sunset }) => sunset)).toUTCString(),
  Link: [...new Set(deprecations.map(({ link }) => `<${new URL(link).href}>; rel="deprecation"`))].join(', '),
});
