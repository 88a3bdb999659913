/** Programs in browsers, on pages of other hosts (docs/keys.md#use-in-browsers). */
import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from '../declare/request.ts';
import type { Headers } from '../declare/response.ts';
import { requestHeadersOf } from '../declare/route.ts';
import { admitsHost } from '../middleware/restrict.ts';
import { HEADER_NAMES } from '../openapi/headers.ts';
import type { Match } from './router.ts';

/** Headers of every response, which OpenAPI describes in prose. */
const OF_ALL = ['Deprecation', 'Link', 'Sunset', 'X-Request-Id'];
const EXPOSED = [...HEADER_NAMES, ...OF_ALL].join(', ');
/** What a key may need on every path, beside what a route reads. */
const ACCEPTED = ['Authorization', 'Content-Type', 'X-Request-Id'];
/** Seconds for which a browser remembers a preflight; Chromium takes no more. */
const MAX_AGE = '7200';

/**
 * Lets the page that sent a request read the response, a refusal too, if the key is for pages of its host.
 * @param headers of the response; those of the permission are added
 */
export function allowOrigin(
  { caller, incoming }: Pick<ApiRequest, 'caller' | 'incoming'>,
  headers: Headers,
): void {
  const { origin } = incoming.headers;
  if (origin === undefined || caller === undefined || !admitsHost(caller, incoming.headers)) return;
  headers['Access-Control-Allow-Origin'] = origin;
  headers['Access-Control-Expose-Headers'] = EXPOSED;
  headers.Vary = headers.Vary === undefined ? 'Origin' : `${headers.Vary}, Origin`;
}

/**
 * The headers that tell a browser what it may send. It asks without the key, so the answer is the
 * same for every page; the request that follows needs a key that admits it.
 * @returns none for OPTIONS that no browser has sent
 */
export function preflightHeaders({ headers }: Pick<IncomingMessage, 'headers'>, match: Match): Headers {
  if (headers.origin === undefined || headers['access-control-request-method'] === undefined) return {};
  const read = Object.values(match.routes).flatMap(requestHeadersOf);
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': match.allow,
    'Access-Control-Allow-Headers': [...new Set([...ACCEPTED, ...read])].join(', '),
    'Access-Control-Max-Age': MAX_AGE,
  };
}
