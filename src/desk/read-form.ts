/** Reads submitted forms, and sends responses. */

import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Html, toDocument } from '../values/html.ts';
import type { Download, Form, GivenFile } from './screen.ts';

const MAX_BYTES = 65_536;
/** Limit of a form with files, which is read into memory. Scripts stream each file in a separate request. */
const MAX_FORM_BYTES = 64 * 1024 * 1024;
const MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024;

export class TooLarge extends Error {}

/**
 * @param takesFiles true if the screen accepts files
 * @returns undefined for a body that is not a form, and for a form without files that is too large
 * @throws TooLarge for a form with files that is too large. Reading the content of a streamed file that is
 * too large throws the same error.
 */
export async function readForm(request: IncomingMessage, takesFiles = false): Promise<Form | undefined> {
  const { 'content-type': contentType = '' } = request.headers;
  const type = contentType.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') {
    const body = await collect(request, MAX_BYTES);
    return body && formOf(new URLSearchParams(body.toString('utf8')));
  }
  if (!takesFiles) return undefined;
  if (type === 'application/octet-stream') return readFile(request);
  if (type !== 'multipart/form-data') return undefined;
  const body = await collect(request, MAX_FORM_BYTES);
  if (body === undefined) throw new TooLarge();
  try {
    return formOf(await new Response(body, { headers: { 'content-type': contentType } }).formData());
  } catch {
    return undefined;
  }
}

function formOf(fields: URLSearchParams | FormData): Form {
  const all = (name: string) =>
    fields.getAll(name).flatMap((value) => (typeof value === 'string' ? value.trim() : []));
  const files = [...fields.values()].flatMap((value): GivenFile[] =>
    typeof value === 'string' || (value.name === '' && value.size === 0)
      ? []
      : [{ name: value.name, content: value.stream() }],
  );
  return { get: (name) => all(name)[0] ?? '', all, files };
}

/** Reads a request with a file as its body. Name and token are in headers, which other sites cannot set. */
function readFile(request: IncomingMessage): Form | undefined {
  const header = (name: string) => String(request.headers[name] ?? '');
  const fields = new URLSearchParams({ token: header('x-desk-token'), action: 'add' });
  try {
    const name = decodeURIComponent(header('x-file-name'));
    return { ...formOf(fields), files: [{ name, content: limited(request) }] };
  } catch {
    return undefined;
  }
}

async function* limited(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_FILE_BYTES) throw new TooLarge();
    yield chunk;
  }
}

/**
 * Reads the entire body even if it exceeds the limit, because browsers show a response only after sending the
 * body.
 * @returns undefined if the body exceeds the limit
 */
async function collect(request: IncomingMessage, most: number): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= most) chunks.push(chunk);
    else chunks.length = 0;
  }
  return bytes > most ? undefined : Buffer.concat(chunks);
}

/** Content Security Policy. Pages may load files only from the desk, and send forms only to the desk. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

export function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: OutgoingHttpHeaders = {},
): void {
  const length = { 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...HEADERS, ...length, ...headers });
  // node:http omits the body of a response to HEAD.
  response.end(body);
}

export const sendPage = (
  response: ServerResponse,
  status: number,
  page: Html,
  headers: OutgoingHttpHeaders = {},
): void =>
  send(response, status, toDocument(page), { 'Content-Type': 'text/html; charset=utf-8', ...headers });

/** Redirects the browser after a form, to a GET. */
export const goTo = (response: ServerResponse, path: string, headers: OutgoingHttpHeaders = {}): void =>
  send(response, 303, '', { Location: path, ...headers });

/** Sends a file until the browser disconnects. @throws (as a rejection) errors of `parts` */
export async function sendDownload(
  response: ServerResponse,
  { fileName, type, parts }: Download,
): Promise<void> {
  const name = `attachment; filename="${fileName}"`;
  response.writeHead(200, { ...HEADERS, 'Content-Type': type, 'Content-Disposition': name });
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  for await (const part of parts) {
    // Copied, because the producer of the parts may reuse the buffer.
    if (!response.write(Buffer.from(part)))
      await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
    if (gone.signal.aborted) return;
  }
  response.end();
}
