/** The headers of requests and responses, as OpenAPI describes them. */

import type { RequestHeader, ResponseHeader } from '../declare/route.ts';
import { formatPolicy } from '../middleware/limit-rate.ts';
import type { Components, Json } from './components.ts';

const text = (pattern?: string): Json => ({ type: 'string', ...(pattern === undefined ? {} : { pattern }) });
const wholeNumber = { type: 'integer', minimum: 0 };

const HEADERS = {
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
  Location: { description: 'Path of the new resource.', schema: text('/api/v1/') },
  'Idempotency-Replayed': {
    description: 'The response that the first request with this Idempotency-Key got.',
    schema: { const: 'true' },
  },
  'Content-Location': {
    description: 'After a lookup by a national ID that was replaced: the path under the current one.',
    schema: text('/api/v1/'),
  },
  'Content-Disposition': {
    description: 'The name of a file for the rows.',
    schema: text('^attachment; filename="[a-z]+\\.(ndjson|csv)"$'),
  },
  'Content-Encoding': { description: 'Only where Accept-Encoding takes it.', schema: { const: 'gzip' } },
  Vary: { description: 'What the response depends on.', schema: text('^Accept-Encoding') },
  'X-Snapshot-Sequence': {
    description: 'The last event that the export includes: the `after` of the first request to /events.',
    schema: wholeNumber,
  },
  'X-Snapshot-Epoch': { description: 'The `epoch` of that request.', schema: text() },
  'X-Access-Receipt': {
    description: 'Where the access ledger is on: what proves that this reading was recorded.',
    schema: text('^[0-9]+-[0-9a-f]{16,}$'),
  },
  ETag: {
    description: 'Names this state of the resource, for If-None-Match and If-Match. Opaque.',
    schema: text('^"[!#-~]+"$'),
  },
} satisfies { readonly [name in ResponseHeader]: unknown } & { readonly [name: string]: unknown };

export type HeaderName = keyof typeof HEADERS;
export const HEADER_NAMES = Object.keys(HEADERS);

const USAGE: readonly HeaderName[] = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** @param isRequired whether every such response has it: that is a part of its component */
export const header = (components: Components, name: HeaderName, isRequired: boolean): Json => ({
  [name]: components.refer('headers', isRequired ? name : `${name}-Optional`, {
    ...HEADERS[name],
    required: isRequired,
  }),
});

/** The rate limits of the key. */
export const usage = (components: Components): Json =>
  Object.assign({}, ...USAGE.map((name) => header(components, name, true)));

const REQUEST_HEADERS: { readonly [name in RequestHeader]: Json } = {
  Accept: { description: 'With text/html, a page for people.', schema: text(), example: 'text/html' },
  'Accept-Encoding': {
    description: 'With gzip, the content is compressed.',
    schema: text(),
    example: 'gzip',
  },
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
  'X-Purpose': {
    description: 'Why you read this, for the access ledger: 1 to 200 printable characters.',
    schema: text(),
    example: 'loan application 4711',
  },
  'X-End-User': {
    description: 'Who asks your system, for the access ledger: 1 to 200 printable characters.',
    schema: text(),
    example: 'counter 3',
  },
};

/** Parameters of an operation. */
export const requestHeaders = (components: Components, names: readonly RequestHeader[]): Json[] =>
  names.map((name) => components.refer('parameters', name, { name, in: 'header', ...REQUEST_HEADERS[name] }));
