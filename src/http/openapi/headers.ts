/** The headers of requests and responses, as OpenAPI describes them. */

import type { RequestHeader, ResponseHeader } from '../declare/route.ts';
import { formatPolicy } from '../middleware/limit-rate.ts';

export type Json = { [name: string]: unknown };

const text = (pattern?: string): Json => ({ type: 'string', ...(pattern === undefined ? {} : { pattern }) });
const wholeNumber = { type: 'integer', minimum: 0 };

const HEADERS = {
  'X-Request-Id': {
    description: 'Names this request in the log; your own X-Request-Id is kept when it is safe to repeat.',
    schema: text('^[A-Za-z0-9._:-]{1,64}$'),
  },
  'Cache-Control': {
    description: 'Nothing under the API may be kept.',
    schema: { const: 'private, no-store' },
  },
  Connection: {
    description: '`close` when the connection ends after this response.',
    schema: { type: 'string', enum: ['close', 'keep-alive'] },
  },
  'RateLimit-Policy': {
    description: `Both windows: \`${formatPolicy(1000, 10_000)}\`.`,
    schema: text(`^${formatPolicy('[0-9]+', '[0-9]+')}$`),
  },
  RateLimit: {
    description: 'What is left (r) and the seconds until more is free (t), for both windows.',
    schema: text('^"hour";r=[0-9]+;t=[0-9]+, "day";r=[0-9]+;t=[0-9]+$'),
  },
  'X-RateLimit-Limit': {
    description: 'Requests of the window that has the least left.',
    schema: wholeNumber,
  },
  'X-RateLimit-Remaining': { description: 'Requests left in that window.', schema: wholeNumber },
  'X-RateLimit-Reset': {
    description: 'Epoch second at which one more of that window is free.',
    schema: wholeNumber,
  },
  'Retry-After': {
    description: 'Seconds after which trying again makes sense.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: 'What was missing or wrong, as RFC 6750 writes it.',
    schema: text('^Bearer realm="cooperative-registry"'),
  },
  Allow: { description: 'The methods of the path.', schema: text('^[A-Z]+(, [A-Z]+)*$') },
  Location: { description: 'Path of the new resource.', schema: text('^/api/v1/') },
  'Idempotency-Replayed': {
    description: 'The response that the first request with this Idempotency-Key got.',
    schema: { const: 'true' },
  },
  'Content-Location': {
    description: 'After a lookup by a national ID that was replaced: the path under the current one.',
    schema: text('^/api/v1/'),
  },
  ETag: {
    description: 'Names this state of the resource, for If-None-Match and If-Match. Opaque.',
    schema: text('^"[!#-~]+"$'),
  },
} satisfies { readonly [name in ResponseHeader]: unknown } & { readonly [name: string]: unknown };

export type HeaderName = keyof typeof HEADERS;

const USAGE: readonly HeaderName[] = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** Component of a header: the required form and the one that may be missing differ. */
const headerName = (name: HeaderName, isRequired: boolean): string =>
  isRequired ? name : `${name}-Optional`;

/** @param isRequired whether every such response has it */
export const header = (name: HeaderName, isRequired = true): Json => ({
  [name]: { $ref: `#/components/headers/${headerName(name, isRequired)}` },
});

/** The rate limits of the key. */
export const usage = (isRequired: boolean): Json =>
  Object.assign({}, ...USAGE.map((name) => header(name, isRequired)));

/** The headers of every response of a route. */
export const always = (isApi: boolean): Json => ({
  ...header('X-Request-Id'),
  ...(isApi ? header('Cache-Control') : {}),
  ...header('Connection', false),
});

const REQUEST_HEADERS: { readonly [name in RequestHeader]: Json } = {
  'Idempotency-Key': {
    description:
      'Names this request for 24 hours: sent again with it, it gets the first answer again and adds nothing.',
    schema: text(),
    example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
  },
  'If-Match': {
    description: 'ETags of the states that may be overwritten, or `*` for any; 412 when it is another.',
    schema: text(),
    example: '"rAQJbGdYvUZIPuKZmGEVjA"',
  },
  'If-None-Match': {
    description: 'ETags of the states that you have, or `*` for any; 304 when it is one of them.',
    schema: text(),
    example: '"rAQJbGdYvUZIPuKZmGEVjA"',
  },
};

/** Parameters of an operation. */
export const requestHeaders = (names: readonly RequestHeader[]): Json[] =>
  names.map((name) => ({ name, in: 'header', ...REQUEST_HEADERS[name] }));

/** The headers that responses refer to. */
export const headerComponents = (): Json =>
  Object.fromEntries(
    (Object.keys(HEADERS) as HeaderName[]).flatMap((name) =>
      [true, false].map((isRequired) => [
        headerName(name, isRequired),
        { ...HEADERS[name], required: isRequired },
      ]),
    ),
  );
