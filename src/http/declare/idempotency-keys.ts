/** Creates rows by POST, and answers repeated requests (docs/api.md#repeating-a-request). */
import { hash } from 'node:crypto';
import type { ApiKey } from '../../access/api-keys.ts';
import { type Clock, nowSeconds } from '../../runtime/scheduler.ts';
import type {
  IdempotentWrites,
  ResponseToSave,
  SavedResponse,
  StoredResponse,
} from '../../sqlite/idempotent-writes.ts';
import { RegistryError } from '../../values/errors.ts';
import { type ApiResponse, badRequest, type Headers, HttpError, JsonText } from './response.ts';
import type { ApiRequest, Creation } from './route.ts';

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
        // If the store repeats the transaction, such as after a wait for a lock, it calls `compose` again.
        compose(row) {
          response = creation.respond(row, request);
          return toStored(response);
        },
      });
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code !== 'repeated') throw error;
      // Another process has handled this request in the meantime.
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

/** Includes the cooperatives of the API key, so that a repeated request gets 422 after a change. */
function identify(
  { caller, visible, path, bodyHash }: ApiRequest,
  idempotencyKey: string,
): IdentifiedRequest {
  const limits = visible === null ? '' : `\n${visible.join()}`;
  const requestHash = hash('sha256', `POST ${path.replace(/\/$/, '')}\n${bodyHash}${limits}`);
  return { keyId: (caller as ApiKey).id, idempotencyKey, requestHash };
}

/** @throws HttpError 422 if the Idempotency-Key was used for another request */
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

/** Matches 1 to 255 printable ASCII characters without quotes, and without a space at either end. */
const PLAIN = /^[!#-~](?:[ !#-~]{0,253}[!#-~])?$/;
/** Matches a String (RFC 9651, section 3.3.3), which the draft of Idempotency-Key requires. */
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
