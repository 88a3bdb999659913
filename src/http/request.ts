/** What is read of a request: its structure, its id, and its body. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { visit } from 'jsonc-parser';
import { mayEcho } from '../domain/errors.ts';
import { badRequest, bodyTooLarge, HttpError } from './errors.ts';

/** Largest body that is read (contract section 5). */
export const MAX_BODY_BYTES = 65_536;
const BODY_TIMEOUT_MS = 30_000;
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what node:http lets through and what two programs could read differently (contract section 13).
 * @throws HttpError 400
 */
export function refuseAmbiguous(message: IncomingMessage): void {
  if (message.httpVersion !== '1.1' && message.httpVersion !== '1.0')
    throw badRequest('Unsupported HTTP version.');
  if (message.url?.startsWith('/') !== true) throw badRequest('Expected a path, not an absolute address.');
  let hosts = 0;
  let authorizations = 0;
  const { rawHeaders } = message;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++;
  }
  if (hosts > 1) throw badRequest('More than one Host header.');
  if (hosts === 0 && message.httpVersion === '1.1') throw badRequest('The Host header is missing.');
  if (authorizations > 1) throw badRequest('More than one Authorization header.');
  // Other methods are refused by what comes next, 404 or 405.
  if (READING.has(message.method ?? '') && hasBody(message))
    throw badRequest('Only POST and PUT take a body.');
}

/** Whether bytes of a body were announced. */
export function hasBody(message: IncomingMessage): boolean {
  return (
    message.headers['transfer-encoding'] !== undefined || Number(message.headers['content-length'] ?? 0) > 0
  );
}

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;
const SECRET_LIKE = /[0-9]{16}|crs_/;

/** The client's own request id when it is safe to repeat and to log, else a new one. */
export function readRequestId(message: IncomingMessage): string {
  const given = message.headers['x-request-id'];
  const isSafe = typeof given === 'string' && REQUEST_ID.test(given) && !SECRET_LIKE.test(given);
  return isSafe ? given : randomUUID();
}

/**
 * The JSON of a body; an empty one is `{}`.
 * @throws HttpError 413, 415, 400 or 408
 */
export async function readJson(message: IncomingMessage): Promise<unknown> {
  if (Number(message.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw bodyTooLarge();
  if (!hasBody(message)) return {};
  refuseMediaType(message);
  const bytes = await readBytes(message);
  return bytes.length === 0 ? {} : parseJson(bytes);
}

const JSON_MEDIA_TYPE = /^application\/json(?:\s*;\s*charset="?utf-8"?)?$/i;

function refuseMediaType(message: IncomingMessage): void {
  if (message.headers['content-encoding'] !== undefined) {
    throw new HttpError(415, 'Unsupported content encoding in request.');
  }
  const type = (message.headers['content-type'] ?? '').trim();
  if (JSON_MEDIA_TYPE.test(type)) return;
  throw new HttpError(415, `Unsupported media type ${mayEcho(type) ? `"${type}" ` : ''}in request.`);
}

function readBytes(message: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const timer = setTimeout(
      () => stop(new HttpError(408, 'The request body did not arrive in time.')),
      BODY_TIMEOUT_MS,
    );
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) stop(bodyTooLarge());
      else chunks.push(chunk);
    };
    const onEnd = () => stop(undefined);
    const onAborted = () => stop(badRequest('The request was aborted.'));
    function stop(refusal: HttpError | undefined): void {
      clearTimeout(timer);
      message.off('data', onData).off('end', onEnd).off('close', onAborted).off('error', onAborted);
      if (refusal === undefined) resolve(Buffer.concat(chunks, length));
      else reject(refusal);
    }
    message.on('data', onData).on('end', onEnd).on('close', onAborted).on('error', onAborted);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws HttpError 400 that names the place of the fault, never the text around it */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw badRequest('JSON parse error - the body is not valid UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest(`JSON parse error${firstFault(text)}.`);
  }
}

function firstFault(text: string): string {
  let place: string | undefined;
  const onError = (_code: number, _offset: number, _length: number, line: number, character: number) => {
    place ??= ` - line ${line + 1} column ${character + 1}`;
  };
  visit(text, { onError }, { disallowComments: true });
  return place ?? '';
}
