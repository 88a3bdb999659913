/** Sends messages to endpoints, as POST requests. */
import { lookup as systemLookup } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { packageVersion } from '../runtime/process.ts';
import type { Clock } from '../runtime/scheduler.ts';
import { FieldError } from '../values/errors.ts';
import type { WebhookAttempt } from './open-webhook-store.ts';
import { PrivateAddressError, parseTarget, publicLookup, type Resolve } from './target.ts';

/** @returns milliseconds, at least 1,000; undefined if the header is missing or invalid */
function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const ms = /^[0-9]{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  // HTTP dates begin with a weekday; Date.parse accepts many other formats.
  if (Number.isNaN(ms) || !/^(?:[0-9]+$|[A-Z][a-z]{2},)/.test(text)) return undefined;
  return Math.max(ms, 1_000);
}

const HEADERS = {
  'content-type': 'application/json',
  'user-agent': `cooperative-registry/${packageVersion()}`,
};

/** Maximum time from the start of the request to the end of the response. */
const TIMEOUT_MS = 15_000;
/** Maximum size of a response body. Only the status and `Retry-After` are used. */
const MAX_RESPONSE_BYTES = 4 * 1024;

interface Posting {
  readonly url: string;
  readonly allowsPrivate: boolean;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

interface PostOptions {
  readonly clock: Clock;
  readonly agent?: HttpAgent | undefined;
  readonly timeoutMs?: number | undefined;
  readonly resolve?: Resolve | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PostResult extends Pick<WebhookAttempt, 'status' | 'fault' | 'durationMs'> {
  readonly retryAfterMs: number | undefined;
}

/** Sends a message. Never rejects: each error, and each status other than 2xx, becomes a `fault`. */
export async function post(posting: Posting, options: PostOptions): Promise<PostResult> {
  const { clock } = options;
  const startedMs = clock.monotonicMs();
  const end = (status: number | null, fault: string | null, retryAfter?: string): PostResult => ({
    status,
    fault,
    durationMs: clock.monotonicMs() - startedMs,
    retryAfterMs: parseRetryAfter(retryAfter, clock.now()),
  });
  // The URL was checked when the endpoint was added, but the rules may have become stricter since.
  const url = parseTarget(posting.url, posting.allowsPrivate);
  if (url instanceof FieldError) return end(null, url.message);
  try {
    const { status, retryAfter } = await send(url, posting, options).catch((error: unknown) => {
      if (error instanceof StaleConnectionError) return send(url, posting, options);
      throw error;
    });
    const isDelivered = status >= 200 && status < 300;
    return end(status, isDelivered ? null : `The response was ${status}.`, retryAfter);
  } catch (error) {
    return end(null, faultOf(error));
  }
}

interface Response {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

function send(url: URL, { headers, body, allowsPrivate }: Posting, options: PostOptions): Promise<Response> {
  const { agent, timeoutMs = TIMEOUT_MS, resolve: resolveName = systemLookup as Resolve } = options;
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const outgoing = request(url, {
      method: 'POST',
      headers: { ...HEADERS, ...headers, 'content-length': Buffer.byteLength(body) },
      // Checks the addresses that the connection uses. A separate check could see other addresses.
      lookup: allowsPrivate ? undefined : publicLookup(resolveName),
      agent: agent ?? false,
      signal: options.signal,
    });
    const timer = setTimeout(() => outgoing.destroy(new TimeoutError()), timeoutMs);
    let response: Response | undefined;
    let failure: NodeJS.ErrnoException | undefined;
    outgoing.on('response', (incoming) => {
      response = { status: incoming.statusCode ?? 0, retryAfter: incoming.headers['retry-after'] };
      let bytes = 0;
      incoming
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          // A connection with unread data cannot be reused.
          if (bytes > MAX_RESPONSE_BYTES) incoming.destroy();
        });
    });
    outgoing.on('error', (error) => {
      failure = error;
    });
    outgoing.on('close', () => {
      clearTimeout(timer);
      // A status counts even if the receiver closes the connection before the end of the body.
      if (response !== undefined) resolve(response);
      else if (outgoing.reusedSocket && failure?.code === 'ECONNRESET') reject(new StaleConnectionError());
      else reject(failure ?? new Error('closed'));
    });
    outgoing.end(body);
  });
}

class TimeoutError extends Error {}

/** Error of a reused connection that the receiver closed before the request arrived. */
class StaleConnectionError extends Error {}

const CONNECTION_FAULTS: { readonly [code: string]: string } = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before there was a response.',
  ENOTFOUND: 'The name of the host could not be resolved.',
  EAI_AGAIN: 'The name of the host could not be resolved.',
  ETIMEDOUT: 'There was no connection in time.',
};

function faultOf(error: unknown): string {
  if (error instanceof TimeoutError) return 'There was no response in time.';
  if (error instanceof PrivateAddressError)
    return 'The name of the host leads to an address that is not public.';
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code.startsWith('ERR_TLS') || code.includes('CERT') || code.includes('SELF_SIGNED'))
    return `The certificate was not accepted (${code}).`;
  return CONNECTION_FAULTS[code] ?? `The connection failed (${code === '' ? 'unknown' : code}).`;
}

// Connections to receivers, which stay open between deliveries

/** Maximum number of connections to all endpoints, including idle connections. */
const MAX_CONNECTIONS = 16;
const IDLE_MS = 60_000;

interface Connection {
  readonly agent: HttpAgent;
  isBusy: boolean;
}

/** Pool with at most one connection for each endpoint. A connection serves one request at a time. */
export class Connections {
  /** Connections by endpoint id, least recently used first. */
  private readonly opened = new Map<number, Connection>();
  private readonly waiting: (() => void)[] = [];
  private readonly most: number;

  constructor(most = MAX_CONNECTIONS) {
    this.most = most;
  }

  /** If the pool is full, closes an idle connection of another endpoint, or waits until one is idle. */
  async use<T>(endpointId: number, isTls: boolean, work: (agent: HttpAgent) => Promise<T>): Promise<T> {
    let connection = this.take(endpointId, isTls);
    while (connection === undefined) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
      connection = this.take(endpointId, isTls);
    }
    try {
      return await work(connection.agent);
    } finally {
      connection.isBusy = false;
      this.waiting.shift()?.();
    }
  }

  close(): void {
    for (const { agent } of this.opened.values()) agent.destroy();
    this.opened.clear();
  }

  private take(endpointId: number, isTls: boolean): Connection | undefined {
    let connection = this.opened.get(endpointId);
    if (connection === undefined) {
      if (this.opened.size >= this.most && !this.closeIdle()) return undefined;
      const Agent = isTls ? HttpsAgent : HttpAgent;
      connection = { agent: new Agent({ keepAlive: true, maxSockets: 1, timeout: IDLE_MS }), isBusy: true };
    }
    connection.isBusy = true;
    this.opened.delete(endpointId);
    this.opened.set(endpointId, connection);
    return connection;
  }

  private closeIdle(): boolean {
    const idle = this.opened.entries().find(([, { isBusy }]) => !isBusy);
    if (idle === undefined) return false;
    const [endpointId, { agent }] = idle;
    agent.destroy();
    return this.opened.delete(endpointId);
  }
}
