/** Turns responses into bytes, sends all those of an event-loop iteration together, and logs each request. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { AccessLedger, AccessRecord, Subject } from '../../access/access-ledger.ts';
import type { ApiKey } from '../../access/api-keys.ts';
import type { Clock, Scheduler } from '../../runtime/scheduler.ts';
import type { AddressBlocks } from '../../values/address-blocks.ts';
import { describeShown, subjectOf } from '../declare/personal.ts';
import { type ApiRequest, hasBody } from '../declare/request.ts';
import {
  type ApiResponse,
  BodyParts,
  type Headers,
  JSON_TYPE,
  JsonText,
  toErrorResponse,
} from '../declare/response.ts';
import { API_ROOT, METHODS, type Route, requestHeadersOf } from '../declare/route.ts';
import { HEADER_NAMES } from '../reference/headers.ts';
import type { AccessLog } from './access-log.ts';
import { IS_FOLLOWED } from './client-connection.ts';
import { admitsHost, clientAddressText } from './middleware.ts';
import { hasFailed, MAX_BODY_BYTES } from './read-body.ts';
import type { Match } from './router.ts';

// CORS, for scripts on pages of other hosts (docs/keys.md#use-in-browsers)

/** Headers of every response, which OpenAPI describes in prose. */
const OF_ALL = ['Deprecation', 'Link', 'Sunset', 'X-Request-Id'];
const EXPOSED = [...HEADER_NAMES, ...OF_ALL].join(', ');
/** Request headers a key may need on every path, besides those that a route reads. */
const ACCEPTED = ['Authorization', 'Content-Type', 'X-Request-Id'];
/** Seconds for which a browser caches a preflight; Chromium's maximum. */
const MAX_AGE = '7200';

/**
 * Lets the page that sent a request read the response, even a refusal, if the key allows its host.
 * @param headers response headers, to which the CORS headers are added
 */
function allowOrigin({ caller, incoming }: Pick<ApiRequest, 'caller' | 'incoming'>, headers: Headers): void {
  const { origin } = incoming.headers;
  if (origin === undefined || caller === undefined || !admitsHost(caller, incoming.headers)) return;
  headers['Access-Control-Allow-Origin'] = origin;
  headers['Access-Control-Expose-Headers'] = EXPOSED;
  headers.Vary = headers.Vary === undefined ? 'Origin' : `${headers.Vary}, Origin`;
}

/**
 * Returns the headers that tell a browser what it may send. A preflight carries no key, so the answer is the
 * same for every page; the request after it needs a key that admits the page.
 * @returns no headers for OPTIONS not sent by a browser
 */
export function preflightHeaders({ headers }: Pick<IncomingMessage, 'headers'>, match: Match): Headers {
  if (headers.origin === undefined || headers['access-control-request-method'] === undefined) return {};
  const read = Object.values(match.routes).flatMap(requestHeadersOf);
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': match.allow,
    'Access-Control-Allow-Headers': [...new Set([...ACCEPTED, ...read])].join(', '),
    'Access-Control-Max-Age': MAX_AGE,
  };
}

// Streamed responses: each part is made once the client has taken those before it, a few at a time

/** Maximum parts per event-loop iteration: other requests must not wait for thousands of them. */
const PARTS_AT_ONCE = 20;

/** @param onError receives the error of a part that failed; the client gets a truncated response */
type PartSender = (body: BodyParts, outgoing: ServerResponse, onError: (error: unknown) => void) => void;

export function createPartSender(): PartSender {
  /** Responses whose next part can be sent, in order of their turns. */
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

  return ({ parts }, outgoing, onError) => {
    pipeline(inTurn(parts), outgoing, (error) => {
      if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') onError(error);
    });
  };
}

/** Maximum milliseconds before closing a connection whose client still sends a refused body. */
const DRAIN_MS = 1_000;

/**
 * Reads a little of a refused body before the connection ends: closing at once would reset it, and the client
 * might never see the response (docs/api.md#responses-and-errors).
 */
function endAfterDraining(incoming: IncomingMessage, outgoing: ServerResponse): void {
  let drainedBytes = 0;
  const timer = setTimeout(finish, DRAIN_MS);
  function finish(): void {
    clearTimeout(timer);
    incoming.off('data', onData);
    if (!outgoing.writableEnded) outgoing.end();
    // Stops reading further bytes, including node's own unbounded draining.
    incoming.socket.destroySoon();
  }
  function onData(chunk: Buffer): void {
    drainedBytes += chunk.length;
    if (drainedBytes > MAX_BODY_BYTES) finish();
  }
  incoming.on('data', onData).once('end', finish).once('close', finish).once('error', finish).resume();
}

export interface SenderDependencies {
  readonly scheduler: Scheduler;
  readonly log: AccessLog;
  readonly clock: Clock;
  /** True if connections should end after their response. */
  readonly isDraining: () => boolean;
  /** Destination for records of access to personal data; without it, none are made. */
  readonly recording?: Recording | undefined;
}

/** A response that leaves once its record is on disk. */
interface Unrecorded {
  readonly request: ApiRequest;
  readonly response: ApiResponse;
  readonly text: string | undefined;
  readonly reading: AccessRecord;
}

/** Sends the response to a request; never throws. */
export type Sender = (request: ApiRequest, response: ApiResponse) => void;

export function createSender({ scheduler, log, clock, isDraining, recording }: SenderDependencies): Sender {
  const sendParts = createPartSender();
  let unrecorded: Unrecorded[] = [];

  function finish(request: ApiRequest, response: ApiResponse, text: string | undefined): void {
    try {
      write(request, response, text, { log, sendParts, isDraining: isDraining() });
    } catch (error) {
      // A failed response must not hold up the others.
      log.unexpected(request.id, error);
      request.outgoing.destroy();
    }
    logWhenSent(request, response, { log, clock });
  }

  function refuse(request: ApiRequest, unsent: ApiResponse, error: unknown): void {
    const { response, isUnexpected } = refuseUnrecorded(request, unsent, error);
    if (isUnexpected) log.unexpected(request.id, error);
    finish(request, response, toText(response.body));
  }

  /** Records all pending responses of an event-loop iteration together, as they are sent together. */
  async function recordAll({ ledger }: Recording): Promise<void> {
    const all = unrecorded;
    unrecorded = [];
    let receipts: readonly string[];
    try {
      receipts = await ledger.record(all.map(({ reading }) => reading));
      if (receipts.length !== all.length) throw new Error('The ledger gave too few receipts.');
    } catch (error) {
      for (const { request, response } of all) refuse(request, response, error);
      return;
    }
    all.forEach(({ request, response, text }, i) => {
      request.headers['X-Access-Receipt'] = receipts[i] as string;
      finish(request, response, text);
    });
  }

  return (request, response) => {
    let text: string | undefined;
    let subject: Subject | undefined;
    let sent = response;
    try {
      subject = subjectOf(request.route, request, response);
      // A string: node:http sends it in one write with the headers, where a Buffer takes two.
      text = toText(response.body);
    } catch (error) {
      log.unexpected(request.id, error);
      sent = toErrorResponse(error).response;
      subject = undefined;
      text = toText(sent.body);
    }
    // Waking a client costs as much as making its response, so responses ready together are sent together.
    if (recording === undefined || subject === undefined)
      return scheduler.atEnd('send', () => finish(request, sent, text));
    const reading = toReading(request, sent, subject, clock.now(), recording.trustedProxies);
    if (unrecorded.push({ request, response: sent, text, reading }) === 1)
      scheduler.atEnd('send', () => void recordAll(recording));
  };
}

function toText(body: unknown): string | undefined {
  if (body === undefined || body instanceof BodyParts) return undefined;
  return body instanceof JsonText ? body.text : JSON.stringify(body);
}

export function write(
  request: ApiRequest,
  response: ApiResponse,
  text: string | undefined,
  {
    log,
    sendParts,
    isDraining,
  }: { readonly log: AccessLog; readonly sendParts: PartSender; readonly isDraining: boolean },
): void {
  const { incoming, outgoing } = request;
  if (outgoing.destroyed) return;
  const isFollowed = IS_FOLLOWED in outgoing;
  // A body followed by another request has arrived in full, and node:http drops it.
  const leavesBodyUnread = hasBody(incoming) && !incoming.readableEnded && !isFollowed;
  const { headers } = request;
  headers['X-Request-Id'] = request.id;
  if (response.headers !== undefined) Object.assign(headers, response.headers);
  addPrefix(headers, request.prefix);
  allowOrigin(request, headers);
  const { body } = response;
  if (body !== undefined) headers['Content-Type'] = body instanceof BodyParts ? body.type : JSON_TYPE;
  const encoding = text === undefined ? 'utf8' : addLength(headers, text);
  if (request.path.startsWith(API_ROOT)) headers['Cache-Control'] = 'private, no-store';
  // Node then sends `Connection: close`, and `Connection.receive` ignores any request after it.
  if (leavesBodyUnread || (isDraining && !isFollowed)) outgoing.shouldKeepAlive = false;
  outgoing.writeHead(response.status, toList(headers));
  if (incoming.method !== 'HEAD' && body instanceof BodyParts) {
    sendParts(body, outgoing, (error) => {
      if (toErrorResponse(error).isUnexpected) log.unexpected(request.id, error);
    });
  } else if (incoming.method === 'HEAD' || text === undefined) outgoing.end();
  else if (leavesBodyUnread && !hasFailed(incoming)) {
    outgoing.write(text);
    endAfterDraining(incoming, outgoing);
  } else outgoing.end(text, encoding);
}

const PATH_HEADERS = ['Location', 'Content-Location'];

/** Adds the prefix to paths. Done last, because a stored response may be repeated under another prefix. */
function addPrefix(headers: Headers, prefix: string): void {
  if (prefix === '') return;
  for (const name of PATH_HEADERS) if (name in headers) headers[name] = prefix + headers[name];
}

/** Flattens headers to alternating names and values, which node:http reads faster than an object. */
function toList(headers: Headers): string[] {
  const list: string[] = [];
  for (const name in headers) list.push(name, headers[name] as string);
  return list;
}

/** @returns the encoding to send in: ASCII has the same bytes in Latin-1, which node writes faster */
function addLength(headers: Headers, text: string): 'utf8' | 'latin1' {
  const bytes = Buffer.byteLength(text);
  headers['Content-Length'] = String(bytes);
  return bytes === text.length ? 'latin1' : 'utf8';
}

type LogDependencies = Pick<SenderDependencies, 'log' | 'clock'>;

/** Logs a request once the system has taken its entire response, or the client has disconnected. */
function logWhenSent(request: ApiRequest, response: ApiResponse, dependencies: LogDependencies): void {
  const { outgoing } = request;
  if (outgoing.writableEnded && outgoing.writableLength === 0 && !outgoing.destroyed) {
    logRequest(request, response, dependencies, false);
  } else if (outgoing.closed || outgoing.destroyed) logRequest(request, response, dependencies, true);
  else {
    outgoing.once('close', () => {
      logRequest(request, response, dependencies, !outgoing.writableFinished);
    });
  }
}

function logRequest(
  { id, caller, incoming, template, startMs }: ApiRequest,
  { status, reason, cause }: ApiResponse,
  { log, clock }: LogDependencies,
  isAborted: boolean,
): void {
  log.request({
    time: clock.now(),
    requestId: id,
    keyId: caller?.id,
    // Unknown methods could hold anything.
    method: Object.hasOwn(METHODS, incoming.method ?? '') ? (incoming.method as string) : 'OTHER',
    route: template,
    status,
    durationMs: clock.monotonicMs() - startMs,
    reason,
    cause,
    isAborted,
  });
}

// Gzip

/**
 * Compresses in another thread, no faster than the output is read; optimized for speed rather than size.
 * @param parts each is requested once the one before it has been compressed
 */
export async function* gzipped(
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  // An error reaches the reader through `gzip`.
  pipeline(parts, gzip, () => {});
  yield* gzip;
}

// Records in the ledger, made before a response with personal data leaves (docs/ledger.md)

/** The access ledger and the settings for its records. */
export interface Recording {
  readonly ledger: AccessLedger;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: AddressBlocks;
}

/** @param timeMs epoch milliseconds */
function toReading(
  request: ApiRequest,
  response: ApiResponse,
  subject: Subject,
  timeMs: number,
  trustedProxies: AddressBlocks,
): AccessRecord {
  const { id, caller, incoming, route, stated } = request;
  return {
    timeMs,
    requestId: id,
    // No personal data is public, so the middleware has identified the key.
    reader: { keyId: (caller as ApiKey).id },
    ...describeShown(route as Route, response),
    address: clientAddressText(incoming, trustedProxies),
    purpose: stated.purpose,
    endUser: stated.endUser,
    subject,
  };
}

/** Returns the response that replaces one that could not be recorded. */
function refuseUnrecorded(
  { incoming }: Pick<ApiRequest, 'incoming'>,
  unsent: Pick<ApiResponse, 'status'>,
  error: unknown,
): ReturnType<typeof toErrorResponse> {
  const refused = toErrorResponse(error);
  if (refused.response.status !== 503) return refused;
  const isMade = METHODS[incoming.method as keyof typeof METHODS] !== 'GET' && unsent.status < 400;
  const detail = !isMade
    ? 'This reading could not be recorded. Try again.'
    : 'The change was made; it is not shown because this reading could not be recorded.';
  return { ...refused, response: { ...refused.response, body: { detail } } };
}
