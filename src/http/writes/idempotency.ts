/** Repeated requests: one that was answered gets its answer again (docs/api.md#repeating-a-request). */
import { hash } from 'node:crypto';
import type { ApiKey } from '../../domain/access/api-keys.ts';
import { RegistryError } from '../../domain/values/errors.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type {
  IdempotentResponses,
  KeptResponse,
  ResponseToKeep,
  StoredResponse,
} from '../../store/contract/entity-store.ts';
import { badRequest, HttpError } from '../declare/errors.ts';
import { type ApiResponse, type Headers, JsonText } from '../declare/response.ts';
import type { Creation, RouteRequest } from '../declare/route.ts';

/** Answers POST requests by what their routes declare. */
export type Create = (request: RouteRequest, creation: Creation<unknown>) => Promise<ApiResponse>;

/** @returns what answers POST requests of one registry */
export function openCreate(responses: IdempotentResponses, clock: Clock): Create {
  const running = new Set<string>();

  function replay(
    request: RouteRequest,
    { keyId, idempotencyKey, requestHash }: IdentifiedRequest,
    creation: Creation<unknown>,
  ): ApiResponse | undefined {
    const kept = responses.find(keyId, idempotencyKey, nowSeconds(clock));
    if (kept === undefined) return undefined;
    const subject = creation.subjectOf?.(JSON.parse(kept.body), request);
    return { ...toReplay(kept, requestHash), subject };
  }

  async function createOnce(
    request: RouteRequest,
    identified: IdentifiedRequest,
    creation: Creation<unknown>,
  ): Promise<ApiResponse> {
    const answered = replay(request, identified, creation);
    if (answered !== undefined) return answered;
    const composed: ApiResponse[] = [];
    const keep: ResponseToKeep<unknown> = {
      ...identified,
      compose(row) {
        const response = creation.respond(row, request);
        composed.push(response);
        return toStored(response);
      },
    };
    try {
      await creation.create(request, keep);
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code !== 'repeated') throw error;
      // Another process was faster.
      const theirs = replay(request, identified, creation);
      if (theirs === undefined) throw error;
      return theirs;
    }
    // The last one: the work runs again when it has to wait for its lock, or with a write that is refused.
    const response = composed.at(-1);
    if (response === undefined) throw new Error('The response to a request with a key was not kept.');
    return response;
  }

  return async (request, creation) => {
    const idempotencyKey = readIdempotencyKey(request);
    if (idempotencyKey === undefined) {
      const created = await creation.create(request, undefined);
      return creation.respond(created, request);
    }
    const identified = identify(request, idempotencyKey);
    const name = `${identified.keyId} ${idempotencyKey}`;
    if (running.has(name)) throw stillRunning();
    running.add(name);
    try {
      return await createOnce(request, identified, creation);
    } finally {
      running.delete(name);
    }
  };
}

type IdentifiedRequest = Omit<ResponseToKeep<unknown>, 'compose'>;

/**
 * The same request has the same path, with or without its closing slash, and the same bytes of the body. Of a
 * key that sees other cooperatives since, it is another request: what was answered then is not shown.
 */
function identify(
  { caller, visible, path, bodyHash }: Pick<RouteRequest, 'caller' | 'visible' | 'path' | 'bodyHash'>,
  idempotencyKey: string,
): IdentifiedRequest {
  const seen = visible === null ? '' : `\n${visible.join()}`;
  const requestHash = hash('sha256', `POST ${path.replace(/\/$/, '')}\n${bodyHash}${seen}`);
  return { keyId: (caller as ApiKey).id, idempotencyKey, requestHash };
}

const stillRunning = (): HttpError =>
  new HttpError(409, 'A request with this Idempotency-Key is still running.', { 'Retry-After': '1' });

/** @throws HttpError 422 when it answered another request */
function toReplay({ requestHash, status, body, location, etag }: KeptResponse, wanted: string): ApiResponse {
  if (requestHash !== wanted) throw new HttpError(422, 'This Idempotency-Key was used for another request.');
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

/** Printable ASCII; no quote begins or interrupts it. */
const PLAIN = /^[!#-~](?:[ !#-~]{0,253}[!#-~])?$/;
/** A string of structured fields (RFC 9651, section 3.3.3), which is what the draft of the header wants. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\]){1,255})"$/;

/** @throws HttpError 400 */
function readIdempotencyKey({ incoming }: Pick<RouteRequest, 'incoming'>): string | undefined {
  const [given, ...others] = incoming.headersDistinct['idempotency-key'] ?? [];
  if (given === undefined) return undefined;
  const quoted = QUOTED.exec(given)?.[1]?.replace(/\\(.)/g, '$1');
  const key = quoted ?? (PLAIN.test(given) ? given : undefined);
  if (key === undefined || others.length > 0)
    throw badRequest('Expected one Idempotency-Key of 1 to 255 printable ASCII characters.');
  return key;
}
