/** Reads submitted forms. */

import type { IncomingMessage } from 'node:http';
import type { Form, GivenFile } from './screen.ts';

const MAX_BYTES = 65_536;
/** Limit of a form with files that is read into memory. If scripts run, a page streams each file instead. */
const MAX_FORM_BYTES = 64 * 1024 * 1024;
const MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024;

export class TooLarge extends Error {}

/**
 * @returns undefined if the body is not a form, or if it is too large and cannot contain files
 * @throws TooLarge if a form with files is too large; reading a streamed file throws it later
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

/** The body is the file. Name and token are in headers, which other sites cannot set. */
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
 * Reads a body to its end, even above the limit: browsers show no response before the entire body is sent.
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
