/** Entity tags (docs/api.md#not-overwriting-each-other) and repeated POST requests. */
import { hash } from 'node:crypto';
import type { Subject } from '../../access/access-ledger.ts';
import type { ApiKey } from '../../access/api-keys.ts';
import { type Clock, nowSeconds } from '../../runtime/scheduler.ts';
import type {
  IdempotentWrites,
  ResponseToSave,
  SavedResponse,
  StoredResponse,
} from '../../sqlite/entity-store.ts';
import { RegistryError } from '../../values/errors.ts';
import type { Schema } from '../../values/schema.ts';
import { type ApiResponse, badRequest, type Headers, HttpError, JsonText, ok } from './response.ts';
import type { ApiRequest, Creation, RequestHeader, SuccessResponse } from './route.ts';

/** Resource as a response sends it. */
export interface Representation {
  readonly text: string;
  /** Strong entity tag for the `ETag` header, which changes whenever the text changes. */
  readonly tag: string;
  /** Data subject, if the resource shows a person. */
  readonly subject?: Subject | undefined;
}

/** Returns the first 132 bits of the SHA-256 hash. */
const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

export const represent = (text: string): Representation => ({ text, tag: `"${digest(text)}"` });

/**
 * Represents a resource that shows a count of other rows, which can change without a write of the resource.
 * The tag has two parts: If-None-Match compares both parts, If-Match only the first.
 * @param values the text with a constant in place of the count
 */
export const representCounted = (text: string, values: string, count: number): Representation => ({
  text,
  tag: `"${digest(values)}.${count}"`,
});

/** Declares a response that shows one resource and has an entity tag. */
export const taggedResponse = (description: string, schema: Schema): SuccessResponse => ({
  description,
  schema,
  headers: { ETag: 'required' },
});

export const taggedOk = ({ text, tag, subject }: Representation): ApiResponse => ({
  ...ok(new JsonText(text)),
  subject,
  headers: { ETag: tag },
});

/** @param path path of the new resource, from the root */
export const taggedCreated = (path: string, { text, tag, subject }: Representation): ApiResponse => ({
  status: 201,
  body: new JsonText(text),
  subject,
  headers: { Location: path, ETag: tag },
});

/**
 * Responds to GET.
 * @returns status 304 without a body if If-None-Match names the current tag (RFC 9110, section 13.1.2)
 * @throws HttpError 400 for a malformed If-None-Match
 */
export function readTagged(request: Pick<ApiRequest, 'incoming'>, current: Representation): ApiResponse {
  const tags = readTags(request, 'If-None-Match');
  const isKnown = tags === '*' || tags?.some((tag) => withoutWeakness(tag) === current.tag) === true;
  return isKnown
    ? { status: 304, body: undefined, headers: { ETag: current.tag }, subject: current.subject }
    : taggedOk(current);
}

/**
 * Reads If-Match (RFC 9110, section 13.1.1).
 * @param toTag returns the tag of a stored row
 * @returns a check that throws HttpError 412 if the header does not name the tag of the row
 * @throws HttpError 400 for a malformed header
 */
export function readIfMatch<T>(
  request: Pick<ApiRequest, 'incoming'>,
  toTag: (stored: T) => string,
): (stored: T) => void {
  const tags = readTags(request, 'If-Match');
  if (tags === undefined || tags === '*') return () => {};
  // A weak tag begins with W, so it never equals a strong tag.
  const allowed = tags.map(firstPart);
  return (stored) => {
    if (!allowed.includes(firstPart(toTag(stored))))
      throw new HttpError(412, 'The resource has changed since it was read.');
  };
}

/** Returns the part of a tag that If-Match compares. */
const firstPart = (tag: string): string => tag.replace(/\.[0-9]+"$/, '"');

const withoutWeakness = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag);

const ONE_TAG = '(?:W/)?"[!#-~\\x80-\\xff]*"';
const TAGS = new RegExp(`^[ \\t,]*${ONE_TAG}(?:[ \\t]*,[ \\t,]*${ONE_TAG})*[ \\t,]*$`);

/** @throws HttpError 400 */
function readTags(
  { incoming }: Pick<ApiRequest, 'incoming'>,
  name: RequestHeader,
): '*' | readonly string[] | undefined {
  const header = incoming.headers[name.toLowerCase()];
  if (header === undefined) return undefined;
  const text = String(header).trim();
  if (text === '*') return text;
  if (!TAGS.test(text)) throw badRequest(`Expected * or entity tags in quotes in ${name}.`);
  return text.match(new RegExp(ONE_TAG, 'g')) ?? [];
}

// Idempotency keys: a repeated request gets the saved response (docs/api.md#repeating-a-request)

/** Handler of POST requests that create rows. */
export type Create = ReturnType<typeof openCreate>;

export function openCreate(responses: IdempotentWrites, clock: Clock) {
  const running = new Set<string>();

  function replay(
    request: ApiRequest,
    { keyId, idempotencyKey, requestHash }: IdentifiedRequest,
    creation: Creation<unknown>,
  ): ApiResponse | undefined {
    const saved = responses.find(keyId, idempotencyKey, nowSeconds(clock));
    if (saved === undefined) return undefined;
    const subject = creation.subjectOf?.(JSON.parse(saved.body), request);
    return { ...toReplay(saved, requestHash), subject };
  }

  async function createOnce(
    request: ApiRequest,
    identified: IdentifiedRequest,
    creation: Creation<unknown>,
  ): Promise<ApiResponse> {
    const earlier = replay(request, identified, creation);
    if (earlier !== undefined) return earlier;
    let response: ApiResponse | undefined;
    try {
      await creation.create(request, {
        ...identified,
        // The store calls this again if the transaction is repeated, for example after waiting for a lock.
        compose(row) {
          response = creation.respond(row, request);
          return toStored(response);
        },
      });
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code !== 'repeated') throw error;
      // Another process has handled the same request first.
      response = replay(request, identified, creation);
      if (response === undefined) throw error;
    }
    if (response === undefined) throw new Error('The response to a request with a key was not kept.');
    return response;
  }

  return async (request: ApiRequest, creation: Creation<unknown>): Promise<ApiResponse> => {
    const idempotencyKey = readIdempotencyKey(request);
    if (idempotencyKey === undefined)
      return creation.respond(await creation.create(request, undefined), request);
    const identified = identify(request, idempotencyKey);
    const name = `${identified.keyId} ${idempotencyKey}`;
    if (running.has(name))
      throw new HttpError(409, 'A request with this Idempotency-Key is still running.', {
        'Retry-After': '1',
      });
    running.add(name);
    try {
      return await createOnce(request, identified, creation);
    } finally {
      running.delete(name);
    }
  };
}

type IdentifiedRequest = Omit<ResponseToSave<unknown>, 'compose'>;

/**
 * Identifies a request by its path (without trailing slash) and the bytes of its body. If the key's
 * cooperatives have changed, the request counts as a different one, so that the saved response is not shown.
 */
function identify(
  { caller, visible, path, bodyHash }: ApiRequest,
  idempotencyKey: string,
): IdentifiedRequest {
  const limits = visible === null ? '' : `\n${visible.join()}`;
  const requestHash = hash('sha256', `POST ${path.replace(/\/$/, '')}\n${bodyHash}${limits}`);
  return { keyId: (caller as ApiKey).id, idempotencyKey, requestHash };
}

/** @throws HttpError 422 if the key was used for another request */
function toReplay(
  { requestHash, status, body, location, etag }: SavedResponse,
  expectedHash: string,
): ApiResponse {
  if (requestHash !== expectedHash)
    throw new HttpError(422, 'This Idempotency-Key was used for another request.');
  const headers: Headers = { 'Idempotency-Replayed': 'true' };
  if (location !== null) headers.Location = location;
  if (etag !== null) headers.ETag = etag;
  return { status, body: new JsonText(body), headers };
}

const toStored = ({ status, body, headers = {} }: ApiResponse): StoredResponse => ({
  status,
  location: headers.Location ?? null,
  etag: headers.ETag ?? null,
  body: body instanceof JsonText ? body.text : JSON.stringify(body),
});

/** Printable ASCII without surrounding quotes. */
const PLAIN = /^[!#-~](?:[ !#-~]{0,253}[!#-~])?$/;
/** String of structured fields (RFC 9651, section 3.3.3), as in the draft of Idempotency-Key. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\]){1,255})"$/;

/** @throws HttpError 400 */
function readIdempotencyKey({ incoming }: Pick<ApiRequest, 'incoming'>): string | undefined {
  const [header, ...repeated] = incoming.headersDistinct['idempotency-key'] ?? [];
  if (header === undefined) return undefined;
  const quoted = QUOTED.exec(header)?.[1]?.replace(/\\(.)/g, '$1');
  const key = quoted ?? (PLAIN.test(header) ? header : undefined);
  if (key === undefined || repeated.length > 0)
    throw badRequest('Expected one Idempotency-Key of 1 to 255 printable ASCII characters.');
  return key;
}
