/** Records accesses, sends the responses of an event-loop iteration together, logs and counts requests. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import type { AccessLedger, AccessRecord, Subject } from '../../access/access-ledger.ts';
import type { ApiKeyStore } from '../../access/api-key-store.ts';
import { type ApiKey, isRefusal } from '../../access/api-keys.ts';
import type { Clock, Scheduler } from '../../runtime/scheduler.ts';
import type { AddressBlocks } from '../../values/address-blocks.ts';
import { IS_MEMBER, NON_FIELD_ERRORS } from '../../values/errors.ts';
import { isIdentityCard } from '../../values/identity-card.ts';
import { hasBody, hasFailed, MAX_BODY_BYTES } from '../declare/request-body.ts';
import {
  type ApiResponse,
  BodyParts,
  type Headers,
  IS_FOLLOWED,
  JSON_TYPE,
  JsonText,
  toErrorResponse,
} from '../declare/response.ts';
import { API_ROOT, type ApiRequest, fullPath, METHODS, type Route } from '../declare/route.ts';
import type { AccessLog } from './access-log.ts';
import { allowOrigin } from './cors.ts';
import { clientAddressText } from './middleware.ts';

interface SenderDependencies {
  readonly scheduler: Scheduler;
  readonly keys: Pick<ApiKeyStore, 'countUse'>;
  readonly log: AccessLog;
  readonly clock: Clock;
  /** True if connections should end after their current response. */
  readonly isDraining: () => boolean;
  /** Undefined if accesses to personal data are not recorded. */
  readonly recording?: Recording | undefined;
}

interface Recording {
  readonly ledger: AccessLedger;
  readonly trustedProxies: AddressBlocks;
}

interface Unrecorded {
  readonly request: ApiRequest;
  readonly response: ApiResponse;
  readonly text: string | undefined;
  readonly record: AccessRecord;
}

/** Never throws. */
export type Sender = (request: ApiRequest, response: ApiResponse) => void;

export function createSender(dependencies: SenderDependencies): Sender {
  const { scheduler, log, clock, isDraining, recording } = dependencies;
  const sendParts = createPartSender();
  let unrecorded: Unrecorded[] = [];

  function finish(request: ApiRequest, response: ApiResponse, text: string | undefined): void {
    try {
      write(request, response, text, isDraining(), (body) => {
        sendParts(body, request.outgoing, (error) => {
          if (toErrorResponse(error).isUnexpected) log.unexpected(request.id, error);
        });
      });
    } catch (error) {
      // A failed response must not delay other responses.
      log.unexpected(request.id, error);
      request.outgoing.destroy();
    }
    logWhenSent(request, response, dependencies);
  }

  async function recordAll({ ledger }: Recording): Promise<void> {
    const all = unrecorded;
    unrecorded = [];
    let receipts: readonly string[];
    try {
      receipts = await ledger.record(all.map(({ record }) => record));
      if (receipts.length !== all.length) throw new Error('The ledger gave too few receipts.');
    } catch (error) {
      for (const { request, response: unsent } of all) {
        const { response, isUnexpected } = refuseUnrecorded(request, unsent, error);
        if (isUnexpected) log.unexpected(request.id, error);
        finish(request, response, toText(response.body));
      }
      return;
    }
    all.forEach(({ request, response, text }, i) => {
      request.headers['X-Access-Receipt'] = receipts[i] as string;
      finish(request, response, text);
    });
  }

  return (request, settled) => {
    let response = settled;
    let text: string | undefined;
    let subject: Subject | undefined;
    try {
      subject = subjectOf(request, response);
      // Not a Buffer: node:http sends a string in one write with the headers, but a Buffer in a second write.
      text = toText(response.body);
    } catch (error) {
      log.unexpected(request.id, error);
      response = toErrorResponse(error).response;
      subject = undefined;
      text = toText(response.body);
    }
    // Waking a client costs as much as making a response. Several responses sent together wake a client once.
    if (recording === undefined || subject === undefined)
      return scheduler.atEnd('send', () => finish(request, response, text));
    const record = toRecord(request, response, subject, clock.now(), recording.trustedProxies);
    if (unrecorded.push({ request, response, text, record }) === 1)
      scheduler.atEnd('send', () => void recordAll(recording));
  };
}

function toText(body: unknown): string | undefined {
  if (body === undefined || body instanceof BodyParts) return undefined;
  return body instanceof JsonText ? body.text : JSON.stringify(body);
}

function write(
  request: ApiRequest,
  response: ApiResponse,
  text: string | undefined,
  isDraining: boolean,
  sendParts: (body: BodyParts) => void,
): void {
  const { incoming, outgoing, headers } = request;
  if (outgoing.destroyed) return;
  const isFollowed = IS_FOLLOWED in outgoing;
  // If another request follows, the entire body has arrived, and node:http discards the unread rest.
  const leavesBodyUnread = hasBody(incoming) && !incoming.readableEnded && !isFollowed;
  headers['X-Request-Id'] = request.id;
  if (response.headers !== undefined) Object.assign(headers, response.headers);
  addPrefix(headers, request.prefix);
  allowOrigin(request, headers);
  const { body } = response;
  if (body !== undefined) headers['Content-Type'] = body instanceof BodyParts ? body.type : JSON_TYPE;
  const encoding = text === undefined ? 'utf8' : addLength(headers, text);
  if (request.path.startsWith(API_ROOT)) headers['Cache-Control'] = 'private, no-store';
  // Without keep-alive, Node sends `Connection: close`, and `Connection.receive` ignores further requests.
  if (leavesBodyUnread || (isDraining && !isFollowed)) outgoing.shouldKeepAlive = false;
  outgoing.writeHead(response.status, toList(headers));
  if (incoming.method !== 'HEAD' && body instanceof BodyParts) sendParts(body);
  else if (incoming.method === 'HEAD' || text === undefined) outgoing.end();
  else if (leavesBodyUnread && !hasFailed(incoming)) {
    outgoing.write(text);
    endAfterDraining(incoming, outgoing);
  } else outgoing.end(text, encoding);
}

const PATH_HEADERS = ['Location', 'Content-Location'];

/** Adds the prefix to paths. A saved response has no prefix, because the prefix may change. */
function addPrefix(headers: Headers, prefix: string): void {
  if (prefix === '') return;
  for (const name of PATH_HEADERS) if (name in headers) headers[name] = prefix + headers[name];
}

/** Returns alternating names and values, because node:http reads a list faster than an object. */
function toList(headers: Headers): string[] {
  const list: string[] = [];
  for (const name in headers) list.push(name, headers[name] as string);
  return list;
}

/** Adds Content-Length. @returns the encoding of the text: Latin-1, which is faster, if the text is ASCII */
function addLength(headers: Headers, text: string): 'utf8' | 'latin1' {
  const bytes = Buffer.byteLength(text);
  headers['Content-Length'] = String(bytes);
  return bytes === text.length ? 'latin1' : 'utf8';
}

/** Milliseconds after which a connection is closed if the client is still sending a refused body. */
const DRAIN_MS = 1_000;

/** Closing at once would reset the connection, perhaps before the client sees the response. */
function endAfterDraining(incoming: IncomingMessage, outgoing: ServerResponse): void {
  let drainedBytes = 0;
  const timer = setTimeout(finish, DRAIN_MS);
  function finish(): void {
    clearTimeout(timer);
    incoming.off('data', onData);
    if (!outgoing.writableEnded) outgoing.end();
    // Stops reading, including Node's own unlimited draining.
    incoming.socket.destroySoon();
  }
  function onData(chunk: Buffer): void {
    drainedBytes += chunk.length;
    if (drainedBytes > MAX_BODY_BYTES) finish();
  }
  incoming.on('data', onData).once('end', finish).once('close', finish).once('error', finish).resume();
}

// Streamed responses. A part is made only after the client has taken the earlier parts.

/** Maximum number of parts per event-loop iteration, so that requests do not wait for thousands of parts. */
const PARTS_AT_ONCE = 20;

/** If a part fails, the response is truncated there. */
export function createPartSender() {
  /** Each function lets one response send its next part. */
  let ready: (() => void)[] = [];

  function sendSome(): void {
    const first = ready.slice(0, PARTS_AT_ONCE);
    ready = ready.slice(PARTS_AT_ONCE);
    for (const sendNext of first) sendNext();
    if (ready.length > 0) setImmediate(sendSome);
  }

  async function* inTurn(parts: BodyParts['parts']): AsyncGenerator<string | Uint8Array> {
    for await (const part of parts) {
      yield part;
      await new Promise<void>((resolve) => {
        if (ready.push(resolve) === 1) setImmediate(sendSome);
      });
    }
  }

  return ({ parts }: BodyParts, outgoing: ServerResponse, onError: (error: unknown) => void): void => {
    pipeline(inTurn(parts), outgoing, (error) => {
      if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') onError(error);
    });
  };
}

/** Logs a request after the system has taken the entire response, or after the client has disconnected. */
function logWhenSent(
  request: ApiRequest,
  { status, reason, cause }: ApiResponse,
  { log, clock, keys }: SenderDependencies,
) {
  const { id, caller, incoming, outgoing, template, startMs } = request;
  const logRequest = (isAborted: boolean): void => {
    const time = clock.now();
    log.request({
      time,
      requestId: id,
      keyId: caller?.id,
      // Unknown methods could contain any text.
      method: Object.hasOwn(METHODS, incoming.method ?? '') ? (incoming.method as string) : 'OTHER',
      route: template,
      status,
      durationMs: clock.monotonicMs() - startMs,
      reason,
      cause,
      isAborted,
    });
    if (caller === undefined) return;
    const refusal = isRefusal(reason) ? reason : '';
    keys.countUse(caller.id, refusal === '' ? 'admitted' : 'refused', refusal, Math.floor(time / 1000));
  };
  if (outgoing.writableEnded && outgoing.writableLength === 0 && !outgoing.destroyed) logRequest(false);
  else if (outgoing.closed || outgoing.destroyed) logRequest(true);
  else outgoing.once('close', () => logRequest(!outgoing.writableFinished));
}

// Access records, written before a response with personal data is sent (docs/ledger.md)

/** @throws Error for a response that shows persons without naming its data subjects */
function subjectOf(request: ApiRequest, { status, subject, body }: ApiResponse): Subject | undefined {
  const { route } = request;
  if (route === undefined || route.personal === 'none') return undefined;
  if (status === 201 && 'creation' in route) {
    const { showsOnlyItsRequest: shows } = route.creation;
    if (typeof shows === 'function' ? shows(request.body) : shows) return undefined;
  }
  const isNotFound = status === 404;
  if (status >= 400 && !isNotFound) return subjectOfRefusal(request, body);
  if (!isNotFound && subject === undefined)
    throw new Error(`A response of ${route.operationId} does not say whom it shows.`);
  const requested = requestedIdentityCard(request);
  if (requested === undefined) return isNotFound ? undefined : subject;
  const { identityCards = [] } = subject ?? {};
  return identityCards.includes(requested)
    ? subject
    : { ...subject, identityCards: [requested, ...identityCards] };
}

function requestedIdentityCard({ params, query }: ApiRequest): string | undefined {
  for (const name in params) if (isIdentityCard(params[name] as string)) return params[name];
  const { identity_card: filter } = query;
  return typeof filter === 'string' ? filter : undefined;
}

/** A refusal that reveals a person's membership counts as an access (docs/ledger.md#recorded-data). */
function subjectOfRefusal({ body }: ApiRequest, refusal: unknown): Subject | undefined {
  const messages = (refusal as { readonly [field: string]: unknown } | null | undefined)?.[NON_FIELD_ERRORS];
  if (!Array.isArray(messages) || !messages.includes(IS_MEMBER)) return undefined;
  return { identityCards: [String((body as { readonly identity_card: unknown }).identity_card)] };
}

function toRecord(
  { id, caller, incoming, route, stated }: ApiRequest,
  { status, fields }: ApiResponse,
  subject: Subject,
  timeMs: number,
  trustedProxies: AddressBlocks,
): AccessRecord {
  const { method, personal } = route as Route;
  const declared = status >= 400 || personal === 'none' ? undefined : personal;
  return {
    timeMs,
    requestId: id,
    // Personal data is never public, so the middleware has identified the key.
    reader: { keyId: (caller as ApiKey).id },
    route: `${method} ${fullPath(route as Route)}`,
    fields: declared === undefined ? [] : (fields ?? declared.fields),
    status,
    ...(declared?.persons === 'page' ? { isPage: true } : {}),
    ...(declared?.persons === 'numbers' ? { isOfNumbers: true } : {}),
    address: clientAddressText(incoming, trustedProxies),
    purpose: stated.purpose,
    endUser: stated.endUser,
    subject,
  };
}

function refuseUnrecorded(
  { route }: ApiRequest,
  unsent: ApiResponse,
  error: unknown,
): ReturnType<typeof toErrorResponse> {
  const refused = toErrorResponse(error);
  if (refused.response.status !== 503) return refused;
  const mayWrite = route?.method !== 'GET' && !('onlyReads' in (route ?? {}));
  const isMade = mayWrite && unsent.status < 400;
  const detail = isMade
    ? 'The change was made; it is not shown because this reading could not be recorded.'
    : 'This reading could not be recorded. Try again.';
  return { ...refused, response: { ...refused.response, body: { detail } } };
}
