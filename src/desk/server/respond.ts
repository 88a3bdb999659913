/** Sends a response, with the headers that every one has. */
import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Html, toDocument } from '../../html/html.ts';
import type { Download } from '../visit/screen.ts';

/** Nothing but what this server sends is loaded, run or sent to. */
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
  // node:http leaves the body of a HEAD out.
  response.end(body);
}

export const sendPage = (
  response: ServerResponse,
  status: number,
  page: Html,
  headers: OutgoingHttpHeaders = {},
): void =>
  send(response, status, toDocument(page), { 'Content-Type': 'text/html; charset=utf-8', ...headers });

/** After a form: the browser gets the page with a GET. */
export const goTo = (response: ServerResponse, path: string, headers: OutgoingHttpHeaders = {}): void =>
  send(response, 303, '', { Location: path, ...headers });

/** Ends early when the browser goes. @throws (as rejection) when a part cannot be made */
export async function sendDownload(
  response: ServerResponse,
  { fileName, type, parts }: Download,
): Promise<void> {
  const name = `attachment; filename="${fileName}"`;
  response.writeHead(200, { ...HEADERS, 'Content-Type': type, 'Content-Disposition': name });
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  for await (const part of parts) {
    // A copy: the next part may take the place of this one.
    if (!response.write(Buffer.from(part)))
      await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
    if (gone.signal.aborted) return;
  }
  response.end();
}
