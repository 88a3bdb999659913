/** Reads a request's JSON body within its limits of media type, size, time and nesting. */
import type { IncomingMessage } from 'node:http';
import { visit } from 'jsonc-parser';
import { mayEcho } from '../../values/errors.ts';
import { type BodyDeclaration, mediaTypesOf } from '../declare/parse-body.ts';
import { hasBody } from '../declare/request.ts';
import { badRequest, bodyTooLarge, HttpError } from '../declare/response.ts';

/** Maximum bytes of a body (docs/api.md#writing). */
export const MAX_BODY_BYTES = 65_536;
/** Maximum nesting depth: no body here has more than two levels, and `positionOfFault` recurses. */
const MAX_DEPTH = 32;
const BODY_TIMEOUT_MS = 30_000;

/**
 * Reads the bytes of a body.
 * @throws HttpError 413, 415, 400 or 408
 */
export async function readBody(
  incoming: IncomingMessage,
  declared: Pick<BodyDeclaration, 'isPatch'>,
): Promise<Uint8Array> {
  if (isTooLarge(incoming)) throw bodyTooLarge();
  if (!hasBody(incoming)) return NO_BYTES;
  refuseMediaType(incoming, mediaTypesOf(declared));
  return readBytes(incoming);
}

const NO_BYTES = new Uint8Array();

/** True if `Content-Length` exceeds the limit. */
export const isTooLarge = (incoming: IncomingMessage): boolean =>
  Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES;

const MEDIA_TYPE = /^([^;\s]+)(?:\s*;\s*charset="?utf-8"?)?$/i;

function refuseMediaType(incoming: IncomingMessage, accepted: readonly string[]): void {
  if (incoming.headers['content-encoding'] !== undefined) {
    throw new HttpError(415, 'Unsupported content encoding in request.');
  }
  const type = (incoming.headers['content-type'] ?? '').trim();
  if (accepted.includes(MEDIA_TYPE.exec(type)?.[1]?.toLowerCase() ?? '')) return;
  throw new HttpError(415, `Unsupported media type ${mayEcho(type) ? `"${type}" ` : ''}in request.`);
}

const FAILURE = Symbol('why the rest of the body cannot be read');
type Failing = IncomingMessage & { [FAILURE]?: HttpError };

/**
 * Stops reading a body whose rest will never arrive because the following bytes on the connection are not
 * HTTP. Destroying the message would destroy the connection, and with it the response.
 */
export function failBody(incoming: IncomingMessage, error: HttpError): void {
  (incoming as Failing)[FAILURE] = error;
  incoming.emit(FAILURE, error);
}

/** True if the rest of the body will never arrive. */
export const hasFailed = (incoming: IncomingMessage): boolean => FAILURE in incoming;

function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onTimeout = () => stop(new HttpError(408, 'The request body did not arrive in time.'));
    const timer = setTimeout(onTimeout, BODY_TIMEOUT_MS);
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) stop(bodyTooLarge());
      else chunks.push(chunk);
    };
    const onEnd = () => stop(undefined);
    const onAborted = () => stop(badRequest('The request was aborted.'));
    function stop(error: HttpError | undefined): void {
      clearTimeout(timer);
      incoming.off('data', onData).off('end', onEnd).off('close', onAborted).off('error', onAborted);
      incoming.off(FAILURE, stop);
      if (error === undefined) resolve(Buffer.concat(chunks, length));
      else reject(error);
    }
    const failure = (incoming as Failing)[FAILURE];
    if (failure !== undefined) {
      stop(failure);
      return;
    }
    incoming.on('data', onData).on('end', onEnd).on('close', onAborted).on('error', onAborted);
    incoming.on(FAILURE, stop);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses the JSON of a body; an empty one is `{}`.
 * @throws HttpError 400 with the position of the fault, never the text around it
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new HttpError(400, 'JSON parse error - the body is not valid UTF-8.', {}, { cause });
  }
  if (isTooDeep(text)) throw badRequest(`JSON parse error - nested deeper than ${MAX_DEPTH} levels.`);
  try {
    return JSON.parse(text);
  } catch {
    // No `cause`: V8's message quotes the body.
    throw badRequest(`JSON parse error${positionOfFault(text)}.`);
  }
}

/** Counts brackets outside strings, without validating anything else. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isString) {
      if (character === '\\') i++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{' || character === '[') {
      if (++depth > MAX_DEPTH) return true;
    } else if (character === '}' || character === ']') depth--;
  }
  return false;
}

function positionOfFault(text: string): string {
  let position: string | undefined;
  const onError = (_code: number, _offset: number, _length: number, line: number, character: number) => {
    position ??= ` - line ${line + 1} column ${character + 1}`;
  };
  visit(text, { onError }, { disallowComments: true });
  return position ?? '';
}
