/** Responses → bytes, sent together with the others of the event-loop iteration; and the log line of each. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import type { Reading, Subject } from '../../store/contract/access-ledger.ts';
import { toErrorResponse } from '../declare/errors.ts';
import { subjectOf } from '../declare/personal.ts';
import { type ApiRequest, hasBody } from '../declare/request.ts';
import { type ApiResponse, BodyParts, type Headers, JSON_TYPE, JsonText } from '../declare/response.ts';
import { API_ROOT, METHODS } from '../declare/route.ts';
import type { AccessLog } from './access-log.ts';
import { IS_FOLLOWED } from './connection.ts';
import { allowOrigin } from './cors.ts';
import { hasFailed, MAX_BODY_BYTES } from './read-body.ts';
import { type Recording, refuseUnrecorded, toReading } from './recorded-readings.ts';
import { createPartSender, type PartSender } from './send-streamed.ts';

/** The end of a connection whose client still sends a body that nobody reads. */
const DRAIN_MS = 1_000;

/**
 * Reads a little of a refused body before the connection ends: closing at once would reset it, and the client
 * might never see the response (docs/api.md#responses-and-errors).
 */
export function endAfterDraining(incoming: IncomingMessage, outgoing: ServerResponse): void {
  let drainedBytes = 0;
  const timer = setTimeout(finish, DRAIN_MS);
  function finish(): void {
    clearTimeout(timer);
    incoming.off('data', onData);
    if (!outgoing.writableEnded) outgoing.end();
    // What still comes is not read, node's own unbounded draining included.
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
  /** Whether connections should end after their response. */
  readonly isDraining: () => boolean;
  /** Where readings of personal data are recorded; without it, none is. */
  readonly recording?: Recording | undefined;
}

/** A response that leaves once its reading is on disk. */
interface Unrecorded {
  readonly request: ApiRequest;
  readonly response: ApiResponse;
  readonly text: string | undefined;
  readonly reading: Reading;
}

/** Sends the response of a request; never throws. */
export type Sender = (request: ApiRequest, response: ApiResponse) => void;

export function createSender({ scheduler, log, clock, isDraining, recording }: SenderDependencies): Sender {
  const sendParts = createPartSender();
  let unrecorded: Unrecorded[] = [];

  function finish(request: ApiRequest, response: ApiResponse, text: string | undefined): void {
    try {
      write(request, response, text, { log, sendParts, isDraining: isDraining() });
    } catch (error) {
      // One response that cannot be sent must not keep back the others.
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

  /** What is ready in one iteration of the event loop is recorded together, as it is sent together. */
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
    // Waking a client costs as much as making its response: what is ready together is sent together.
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

function write(
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
  // A body with a request behind it has arrived in full, and node:http drops it.
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
  // Node then says `Connection: close`, and `Connection.begin` handles nothing behind it.
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

/** Paths of routes → paths of clients; here, because a kept response may be repeated under another prefix. */
function addPrefix(headers: Headers, prefix: string): void {
  if (prefix === '') return;
  for (const name of PATH_HEADERS) if (name in headers) headers[name] = prefix + headers[name];
}

/** Names and values in turn, which node:http reads faster than an object. */
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

/** Logs a request once the system has taken its entire response, or when the client has left before. */
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
    // Others could hold anything.
    method: Object.hasOwn(METHODS, incoming.method ?? '') ? (incoming.method as string) : 'OTHER',
    route: template,
    status,
    durationMs: clock.monotonicMs() - startMs,
    reason,
    cause,
    isAborted,
  });
}
