/** OpenAPI descriptions of request and response headers. */

import { formatPolicy } from '../access/rate-limiter.ts';
import type { ResponseHeader } from '../http/declare/response.ts';
import type { RequestHeader, SuccessResponse } from '../http/declare/route.ts';

export type Json = { [name: string]: unknown };

type Kind = 'schemas' | 'parameters' | 'headers' | 'responses' | 'pathItems';

/** Parts that the OpenAPI description defines once and references by name. */
export class Components {
  readonly registered: { readonly [kind in Kind]: Json } = {
    schemas: {},
    parameters: {},
    headers: {},
    responses: {},
    pathItems: {},
  };

  /** @returns a reference to the value @throws Error if the name already has a different value */
  refer(kind: Kind, name: string, value: unknown): Json {
    const earlier = this.registered[kind][name] ?? value;
    if (JSON.stringify(earlier) !== JSON.stringify(value))
      throw new Error(`Two different ${kind} have the name ${name}.`);
    this.registered[kind][name] = earlier;
    return { $ref: `#/components/${kind}/${name}` };
  }

  /** Turns each schema that has a title into a reference. */
  schema(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.schema(item));
    if (typeof schema !== 'object' || schema === null) return schema;
    const parts = Object.entries(schema).map(([name, value]) => [name, this.schema(value)]);
    const described: Json = Object.fromEntries(parts);
    const { title } = described;
    return typeof title === 'string' ? this.refer('schemas', title, described) : described;
  }
}

const text = (pattern?: string): Json => ({ type: 'string', ...(pattern === undefined ? {} : { pattern }) });
const wholeNumber = { type: 'integer', minimum: 0 };

const HEADERS: { readonly [name in ResponseHeader]: Json } = {
  'RateLimit-Policy': {
    description: `Both windows: \`${formatPolicy(1000, 10_000)}\`.`,
    schema: text(`^${formatPolicy('[0-9]+', '[0-9]+')}$`),
  },
  RateLimit: {
    description: 'Remaining requests (r) and the seconds until more are free (t), for both windows.',
    schema: text('^"hour";r=[0-9]+;t=[0-9]+, "day";r=[0-9]+;t=[0-9]+$'),
  },
  'X-RateLimit-Limit': {
    description: 'Requests of the window that has the least left.',
    schema: wholeNumber,
  },
  'X-RateLimit-Remaining': { description: 'Requests left in that window.', schema: wholeNumber },
  'X-RateLimit-Reset': {
    description: 'Epoch second at which that window allows one more request.',
    schema: wholeNumber,
  },
  'X-Key-Expires': {
    description:
      'Present in the last 7 days of the secret in use: the moment at which it expires. Replace the ' +
      'secret before then.',
    schema: text('^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$'),
  },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: 'The missing or wrong credentials, in the form of RFC 6750.',
    schema: text('^Bearer realm="cooperative-registry"'),
  },
  Allow: { description: 'The methods of the path.', schema: text('^[A-Z]+(, [A-Z]+)*$') },
  Location: { description: 'Path of the new resource.', schema: text('/api/v1/') },
  'Idempotency-Replayed': {
    description: '`true` if this is the response of an earlier request with this Idempotency-Key.',
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
  'Content-Encoding': {
    description: 'Present if Accept-Encoding allows compression.',
    schema: { const: 'gzip' },
  },
  Vary: {
    description: 'The request headers that the response depends on.',
    schema: text('^Accept-Encoding'),
  },
  'X-Snapshot-Sequence': {
    description: 'The last event that the export includes: the `after` of the first request to /events.',
    schema: wholeNumber,
  },
  'X-Snapshot-Epoch': { description: 'The `epoch` of that request.', schema: text() },
  'X-Access-Receipt': {
    description: 'If the access ledger is on: the proof that this access was recorded.',
    schema: text('^[0-9]+-[0-9a-f]{16,}$'),
  },
  ETag: {
    description: 'Names this state of the resource, for If-None-Match and If-Match. Opaque.',
    schema: text('^"[!#-~]+"$'),
  },
};

export type Presences = NonNullable<SuccessResponse['headers']>;

/** Required and optional headers are different components. */
export const responseHeaders = (components: Components, presences: Presences): Json =>
  Object.fromEntries(
    Object.entries(presences).map(([name, presence]) => {
      const isRequired = presence === 'required';
      const described = { ...HEADERS[name as ResponseHeader], required: isRequired };
      return [name, components.refer('headers', isRequired ? name : `${name}-Optional`, described)];
    }),
  );

/** Headers of responses to requests with a key. */
export const USAGE: Presences = {
  'RateLimit-Policy': 'required',
  RateLimit: 'required',
  'X-RateLimit-Limit': 'required',
  'X-RateLimit-Remaining': 'required',
  'X-RateLimit-Reset': 'required',
  'X-Key-Expires': 'optional',
};

const REQUEST_HEADERS: { readonly [name in RequestHeader]: Json } = {
  Accept: { description: 'With text/html, a page for people.', schema: text(), example: 'text/html' },
  'Accept-Encoding': {
    description: 'With gzip, the content is compressed.',
    schema: text(),
    example: 'gzip',
  },
  'Idempotency-Key': {
    description:
      'Identifies this request for 24 hours: if it is sent again with the same key, the response is the ' +
      'first one again and nothing is added.',
    schema: text(),
    example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
  },
  'If-Match': {
    description:
      'ETags of the states that may be overwritten, or `*` for any; 412 if the resource is in another state.',
    schema: text(),
    example: '"rAQJbGdYvUZIPuKZmGEVjA"',
  },
  'If-None-Match': {
    description:
      'ETags of the states that you have, or `*` for any; 304 if the resource is in one of these states.',
    schema: text(),
    example: '"rAQJbGdYvUZIPuKZmGEVjA"',
  },
  'X-Purpose': {
    description: 'Purpose of the request, for the access ledger: 1 to 200 printable characters.',
    schema: text(),
    example: 'loan application 4711',
  },
  'X-End-User': {
    description: 'End user of your system, for the access ledger: 1 to 200 printable characters.',
    schema: text(),
    example: 'counter 3',
  },
};

export const requestHeaders = (components: Components, names: readonly RequestHeader[]): Json[] =>
  names.map((name) => components.refer('parameters', name, { name, in: 'header', ...REQUEST_HEADERS[name] }));
