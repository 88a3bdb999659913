/**
 * The lifecycle of a request, one function with its stages numbered. ARCHITECTURE.md#the-life-of-a-request
 * lists them with the statuses that each may end with; stage 1 is in server.ts, stage 7 in send.ts.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PublicUrl } from '../../config.ts';
import { type Awaitable, isThenable } from '../../domain/values/awaitable.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ApiKeyStore } from '../../store/contract/api-keys.ts';
import { toErrorResponse } from '../declare/errors.ts';
import { readStatements } from '../declare/personal.ts';
import { parseQuery } from '../declare/query.ts';
import { ApiRequest, refuseAmbiguous } from '../declare/request.ts';
import { type ApiResponse, refusal } from '../declare/response.ts';
import { METHODS, type Route } from '../declare/route.ts';
import type { Middleware } from '../middleware/middleware.ts';
import type { Create } from '../writes/idempotency.ts';
import type { AccessLog } from './access-log.ts';
import { announceDeprecated } from './announce-deprecated.ts';
import { preflightHeaders } from './cors.ts';
import { isTooLarge, parseJson, readBody } from './read-body.ts';
import { createRouter, type Match, type Router } from './router.ts';
import type { Sender } from './send.ts';

export interface HandlerDependencies {
  readonly routes: readonly Route[];
  /** Counts what is used although it is deprecated. */
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

/** @throws Error at start-up for routes that contradict each other, or a deprecation at too short notice */
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
  // 2. Has it only one reading? 400, 501
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
  // 5. What is said of the reading, and the query: 400
  if (route.personal !== 'none') request.stated = readStatements(request.incoming, request.caller?.purpose);
  request.query = parseQuery(route.query ?? {}, request.search);
  // 6. Handler: what the route declares
  return route.method === 'POST' ? create(request, route.creation) : route.handle(request);
}
