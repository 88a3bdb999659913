/** CORS headers, with which pages of allowed hosts may use the API (docs/keys.md#use-in-browsers). */

import type { IncomingMessage } from 'node:http';
import { type Headers, RESPONSE_HEADERS } from '../declare/response.ts';
import { type ApiRequest, type Method, type Route, requestHeadersOf } from '../declare/route.ts';
import { admitsHost } from './middleware.ts';

interface PathRoutes {
  readonly routes: { readonly [method in Method]?: Route };
  readonly allow: string;
}

/** Request headers that every path accepts, in addition to headers that its routes read. */
const ACCEPTED_HEADERS = ['Authorization', 'Content-Type', 'X-Request-Id'];
/** Seconds for which a browser caches a preflight: the maximum in Chromium. */
const PREFLIGHT_MAX_AGE = '7200';

/**
 * Any website gets these headers, because a preflight request has no key. The next request needs a key that
 * allows the host of the page (docs/keys.md#use-in-browsers).
 */
export function preflightHeaders({ headers }: IncomingMessage, { routes, allow }: PathRoutes): Headers {
  if (headers.origin === undefined || headers['access-control-request-method'] === undefined) return {};
  const routeHeaders = Object.values(routes).flatMap(requestHeadersOf);
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers': [...new Set([...ACCEPTED_HEADERS, ...routeHeaders])].join(', '),
    'Access-Control-Max-Age': PREFLIGHT_MAX_AGE,
  };
}

/** Headers that responses of all routes may have. OpenAPI describes these headers only in prose. */
const OF_ALL = ['Deprecation', 'Link', 'Sunset', 'X-Request-Id'];
const EXPOSED = [...RESPONSE_HEADERS, ...OF_ALL].join(', ');

/** Lets a page of an allowed host read the response, even a refusal (docs/keys.md#use-in-browsers). */
export function allowOrigin({ caller, incoming }: ApiRequest, headers: Headers): void {
  const { origin } = incoming.headers;
  if (origin === undefined || caller === undefined || !admitsHost(caller, incoming.headers)) return;
  headers['Access-Control-Allow-Origin'] = origin;
  headers['Access-Control-Expose-Headers'] = EXPOSED;
  headers.Vary = headers.Vary === undefined ? 'Origin' : `${headers.Vary}, Origin`;
}
