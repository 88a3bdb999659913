/**
 * The lifecycle of a request: one function with numbered stages. ARCHITECTURE.md#the-life-of-a-request lists
 * them with the statuses that each may return; stage 1 is in server.ts, stage 7 in send.ts.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiKeyStore } from '../../access/api-key-store.ts';
import type { PublicUrl } from '../../runtime/config.ts';
import { type Clock, nowSeconds } from '../../runtime/scheduler.ts';
import { type Awaitable, isThenable } from '../../values/errors.ts';
import { deprecatedOf, deprecationHeaders } from '../declare/deprecated.ts';
import { readStatements } from '../declare/personal.ts';
import type { Create } from '../declare/preconditions.ts';
import { parseQuery } from '../declare/query.ts';
import { ApiRequest, type Middleware, refuseAmbiguous } from '../declare/request.ts';
import { type ApiResponse, refusal, toErrorResponse } from '../declare/response.ts';
import { METHODS, type Route } from '../declare/route.ts';
import type { AccessLog } from './access-log.ts';
import { isTooLarge, parseJson, readBody } from './read-body.ts';
import { createRouter, type Match, type Router } from './router.ts';
import { preflightHeaders, type Sender } from './send.ts';

// Deprecation headers, and counts of deprecated use by key (docs/api.md#versions)

interface AnnounceDependencies {
  readonly routes: readonly Route[];
  readonly send: Sender;
  readonly keys: Pick<ApiKeyStore, 'countUse'>;
  readonly clock: Clock;
}

/** Statuses of refusals by key or rate limit: nothing deprecated was used. */
const UNUSED: readonly number[] = [401, 403, 429];

/**
 * @returns a sender that adds the headers to every response, refusals too; `send` itself while nothing is
 * deprecated
 * @throws Error at start-up for a declaration that leaves clients less than six months
 */
export function announceDeprecated({ routes, send, keys, clock }: AnnounceDependencies): Sender {
  const declared = routes.map((route) => [route, deprecatedOf(route)] as const);
  const byRoute = new Map(declared.filter(([, deprecated]) => deprecated.length > 0));
  if (byRoute.size === 0) return send;
  return (request, response) => {
    const { route, caller, headers } = request;
    const used = route && byRoute.get(route)?.filter((deprecated) => deprecated.isUsedBy(request));
    if (used !== undefined && used.length > 0) {
      Object.assign(headers, deprecationHeaders(used.map(({ deprecation }) => deprecation)));
      if (caller !== undefined && !UNUSED.includes(response.status))
        for (const { name } of used) keys.countUse(caller.id, 'deprecated', name, nowSeconds(clock));
    }
    send(request, response);
  };
}

// The stages of a request (ARCHITECTURE.md#the-life-of-a-request)

export interface HandlerDependencies {
  readonly routes: readonly Route[];
  /** Counts uses of deprecated features. */
  readonly keys: Pick<ApiKeyStore, 'countUse'>;
  readonly middleware: Middleware;
  readonly create: Create;
  readonly send: Sender;
  readonly clock: Clock;
  readonly log: AccessLog;
  readonly publicUrl: PublicUrl | undefined;
}

export type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Marks a request whose client waits for `100 Continue`, on servers that leave this to the handler. */
export const EXPECTS_CONTINUE = Symbol('expects continue');

/** @throws Error at start-up for contradictory routes, or for a deprecation at too short notice */
export function createHandler(dependencies: HandlerDependencies): Handler {
  const { clock, log, publicUrl } = dependencies;
  const send = announceDeprecated(dependencies);
  const stages = { ...dependencies, router: createRouter(dependencies.routes) };

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
}

const NOT_FOUND = refusal(404, 'Not found.');

/** @throws RegistryError and HttpError, also as a rejection */
function respond(request: ApiRequest, { router, middleware, create }: Stages): Awaitable<ApiResponse> {
  // 2. Ambiguous requests: 400, 501
  const ambiguity = refuseAmbiguous(request.incoming);
  if (ambiguity !== undefined) return ambiguity;

  // 3. Path, 404, and method, 405
  const match = router(request.path);
  if (match === undefined) return NOT_FOUND;
  request.template = match.template;
  const { method = '' } = request.incoming;
  if (method === 'OPTIONS') {
    const headers = { Allow: match.allow, ...preflightHeaders(request.incoming, match) };
    return { status: 204, body: undefined, headers };
  }
  const route = findRoute(match, method);
  if (route === undefined) {
    return refusal(405, `Method "${method}" not allowed.`, { Allow: match.allow });
  }
  request.route = route;
  request.params = match.params;

  // 4. Middleware: authenticate 401, restrict 403, require scope 403, refuse by key 403, limit rate 429
  return middleware(request) ?? readAndHandle(request, route, create);
}

const findRoute = (match: Match, method: string): Route | undefined =>
  Object.hasOwn(METHODS, method) ? match.routes[METHODS[method as keyof typeof METHODS]] : undefined;

function readAndHandle(request: ApiRequest, route: Route, create: Create): Awaitable<ApiResponse> {
  // 5. Body: 400, 408, 413, 415
  if (route.body === undefined) return handle(request, route, create);
  if (EXPECTS_CONTINUE in request.incoming && !isTooLarge(request.incoming)) request.outgoing.writeContinue();
  return readBody(request.incoming, route.body).then((bytes) => {
    if (request.incoming.headers['idempotency-key'] !== undefined) request.bodyHash = hash('sha256', bytes);
    request.body = parseJson(bytes);
    return handle(request, route, create);
  });
}

function handle(request: ApiRequest, route: Route, create: Create): Awaitable<ApiResponse> {
  // 5. Statements about the access, and the query: 400
  if (route.personal !== 'none') request.stated = readStatements(request.incoming, request.caller?.purpose);
  request.query = parseQuery(route.query ?? {}, request.search);
  // 6. Handler: what the route declares
  return route.method === 'POST' ? create(request, route.creation) : route.handle(request);
}
