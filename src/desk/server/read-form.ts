/** The body of a form: fields, and files where the screen takes them. */
import type { IncomingMessage } from 'node:http';
import type { Form, GivenFile } from '../visit/screen.ts';

const MAX_BYTES = 65_536;
/** Of a form with files, which is in memory at once; a script sends each file by itself, as a stream. */
const MAX_FORM_BYTES = 64 * 1024 * 1024;
const MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024;

/** A body was sent that is larger than it may be. */
export class TooLarge extends Error {}

/**
 * @param takesFiles whether the screen does
 * @returns undefined for what is no form, or too large a one without files
 * @throws TooLarge for a form with files; a file that is sent by itself throws it while it is read
 */
export async function readForm(request: IncomingMessage, takesFiles = false): Promise<Form | undefined> {
  const { 'content-type': given = '' } = request.headers;
  const type = given.split(';')[0]?.trim().toLowerCase();
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
    return formOf(await new Response(body, { headers: { 'content-type': given } }).formData());
  } catch {
    return undefined;
  }
}

function formOf(fields: URLSearchParams | FormData): Form {
  const all = (name: string) =>
    fields.getAll(name).flatMap((each) => (typeof each === 'string' ? each.trim() : []));
  const files = [...fields.values()].flatMap((each): GivenFile[] =>
    typeof each === 'string' || (each.name === '' && each.size === 0)
      ? []
      : [{ name: each.name, content: each.stream() }],
  );
  return { get: (name) => all(name)[0] ?? '', all, files };
}

/** One file as the body, its name and the token in headers: only a script of this desk can send them. */
function readFile(request: IncomingMessage): Form | undefined {
  const header = (name: string) => String(request.headers[name] ?? '');
  const fields: { readonly [name: string]: string } = { token: header('x-desk-token'), action: 'add' };
  let name: string;
  try {
    name = decodeURIComponent(header('x-file-name'));
  } catch {
    return undefined;
  }
  const all = (field: string) => fields[field] ?? [];
  return {
    get: (field) => fields[field] ?? '',
    all: (field) => [all(field)].flat(),
    files: [{ name, content: limited(request) }],
  };
}

async function* limited(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_FILE_BYTES) throw new TooLarge();
    yield chunk;
  }
}

/** @returns undefined for more bytes, which are read all the same: a browser shows no answer before */
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
