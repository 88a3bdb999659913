/** Pages for developers of client programs: `/` and `/docs`. */

import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type ApiResponse, BodyParts, type Headers, ok } from '../http/declare/response.ts';
import {
  API_PREFIX,
  type ApiRequest,
  acceptsGzip,
  type Route,
  SHOWS_NO_ROWS,
  weightsOf,
} from '../http/declare/route.ts';
import { packageVersion } from '../runtime/process.ts';
import { html } from '../values/html.ts';
import { boolean, object, type Static, string } from '../values/schema.ts';
import type { OutgoingMessages } from './openapi.ts';
import { type Addresses, renderReference, tryKey } from './reference-page.ts';
import { inFrame, SCRIPT, STYLE } from './style-and-script.ts';

const compress = promisify(gzip);

const PAGE_HEADERS: Headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    `script-src 'sha256-${hash('sha256', SCRIPT, 'base64')}'`,
    `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
    'img-src data:',
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const page = (bytes: Uint8Array, headers: Headers): ApiResponse => ({
  status: 200,
  body: new BodyParts([bytes], 'text/html; charset=utf-8'),
  headers: { ...PAGE_HEADERS, ...headers, 'Content-Length': String(bytes.length) },
});

const SERVICE = object({
  name: string(),
  version: string({ description: 'Version of the program.' }),
  ready: boolean({ description: 'Whether it can answer requests now.' }),
  api: string({ format: 'uri' }),
  reference: string({ format: 'uri', description: 'For people.' }),
  openapi: string({ format: 'uri', description: 'For programs.' }),
});

type Service = Static<typeof SERVICE>;

const describeService = ({ baseUrl }: Addresses, version: string, ready: boolean): Service => ({
  name: 'cooperative-registry',
  version,
  ready,
  api: `${baseUrl}${API_PREFIX}/`,
  reference: `${baseUrl}/docs`,
  openapi: `${baseUrl}/openapi.json`,
});

function renderStart({ version, ready, api }: Service, { baseUrl, prefix }: Addresses): string {
  const state = ready
    ? html`<strong class="good">ready</strong>`
    : html`<strong class="bad">not ready</strong>`;
  const body = html`<main class="start">
<h1>Cooperative registry</h1>
<p>The registry of cooperatives and their members. Programs use it over HTTP and JSON, with a key from its
operator.</p>
<dl class="entries">
<div><dt>State</dt><dd>${state}</dd></div>
<div><dt>Version</dt><dd>${version}</dd></div>
<div><dt>Address of the API</dt><dd><code>${api}</code></dd></div>
<div><dt>Reference</dt><dd><a href="${prefix}/docs">Every operation, with examples</a></dd></div>
<div><dt>For programs</dt><dd><a href="${prefix}/openapi.json">openapi.json</a> (OpenAPI 3.1)</dd></div>
</dl>
<h2>Try a key</h2>
${tryKey(baseUrl)}
</main>`;
  return inFrame('Cooperative registry', body);
}

/** Browsers send `text/html`, programs such as curl do not. */
function prefersHtml(header: string | undefined): boolean {
  const weights = weightsOf(header);
  const weight = weights.get('text/html') ?? 0;
  return weight > 0 && weight >= (weights.get('application/json') ?? 0);
}

/** Placeholders for the addresses in the rendered reference. */
const PLACES: Addresses = { baseUrl: 'https://base-address.invalid', prefix: '/prefix-of-paths.invalid' };
/** Compression at this level takes a third of the time of the default level. */
const FASTEST = { level: 1 };

interface Rendered {
  readonly baseUrl: string;
  readonly plain: Buffer;
  readonly compressed: Promise<Buffer>;
}

export function pageRoutes(
  routes: readonly Route[],
  isReady: () => Promise<boolean>,
  outgoing?: OutgoingMessages,
): Route[] {
  const version = packageVersion();
  let template: string | undefined;
  let last: Rendered | undefined;

  /**
   * Renders the reference once, and inserts the base address of each request. Clients choose this address by
   * their Host header, so only the page with the last address is cached.
   */
  function reference(addresses: Addresses): Rendered {
    const { baseUrl, prefix } = addresses;
    if (last?.baseUrl !== baseUrl) {
      template ??= renderReference(routes, PLACES, outgoing);
      const plain = Buffer.from(
        template
          .replaceAll(PLACES.baseUrl, () => `${html`${baseUrl}`}`)
          .replaceAll(PLACES.prefix, () => prefix),
      );
      last = { baseUrl, plain, compressed: compress(plain, FASTEST) };
    }
    return last;
  }

  async function showStart(request: ApiRequest): Promise<ApiResponse> {
    const service = describeService(request, version, await isReady());
    const vary = { Vary: 'Accept' };
    if (!prefersHtml(request.incoming.headers.accept)) return { ...ok(service), headers: vary };
    return page(Buffer.from(renderStart(service, request)), vary);
  }

  async function showReference(request: ApiRequest): Promise<ApiResponse> {
    const { plain, compressed } = reference(request);
    const vary = { Vary: 'Accept-Encoding' };
    if (!acceptsGzip(request.incoming.headers['accept-encoding'])) return page(plain, vary);
    return page(await compressed, { ...vary, 'Content-Encoding': 'gzip' });
  }

  const shared = {
    method: 'GET',
    isOutsideApi: true,
    isPage: true,
    tag: 'operation',
    access: 'public',
    narrowed: SHOWS_NO_ROWS,
    personal: 'none',
  } as const;
  return [
    {
      ...shared,
      path: '/',
      operationId: 'getService',
      summary: 'The service, and the address of its reference',
      requestHeaders: ['Accept'],
      responses: {
        200: {
          description: 'The service.',
          schema: SERVICE,
          example: describeService({ baseUrl: 'https://example.rw', prefix: '' }, version, true),
        },
      },
      handle: showStart,
    },
    {
      ...shared,
      path: '/docs',
      operationId: 'getReference',
      summary: 'The reference of the API',
      requestHeaders: ['Accept-Encoding'],
      responses: { 200: { description: 'A page.', schema: string(), example: '<!doctype html>…' } },
      handle: showReference,
    },
  ];
}
