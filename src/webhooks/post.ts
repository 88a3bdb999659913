/** One attempt to deliver a message: a POST to the endpoint, and what came of it. */
import { lookup as systemLookup } from 'node:dns';
import { type Agent, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { FieldError } from '../domain/values/errors.ts';
import { parseRetryAfter } from '../domain/webhooks/retries.ts';
import { parseTarget } from '../domain/webhooks/target.ts';
import type { Clock } from '../runtime/clock.ts';
import { PrivateAddressError, publicLookup, type Resolve } from './public-lookup.ts';

/** From the first byte sent to the last byte read. */
const TIMEOUT_MS = 15_000;
/** Of a response: only its status and Retry-After matter. */
const MAX_RESPONSE_BYTES = 4 * 1024;

export interface Posting {
  readonly url: string;
  readonly allowsPrivate: boolean;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

export interface PostOptions {
  readonly clock: Clock;
  readonly agent?: Agent | undefined;
  readonly timeoutMs?: number | undefined;
  /** Of names; given by tests. */
  readonly resolve?: Resolve | undefined;
  /** Ends the attempt. */
  readonly signal?: AbortSignal | undefined;
}

export interface PostResult {
  /** Null without a response. */
  readonly status: number | null;
  /** Why the message was not delivered; null when it was. Nothing that the receiver has sent is in it. */
  readonly fault: string | null;
  /** How long the receiver has asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly durationMs: number;
}

/**
 * Sends it once. Redirects are not followed, and any status but 2xx is a failure.
 * @returns always: whatever goes wrong is a fault
 */
export async function post(posting: Posting, options: PostOptions): Promise<PostResult> {
  const { clock } = options;
  const startedMs = clock.monotonicMs();
  const end = (status: number | null, fault: string | null, retryAfter?: string): PostResult => ({
    status,
    fault,
    durationMs: clock.monotonicMs() - startedMs,
    retryAfterMs: parseRetryAfter(retryAfter, clock.now()),
  });
  // Again, and not only when it was registered: the rules may have become stricter since.
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
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      // Checked where the connection is made: after an earlier check, the name could resolve differently.
      ...(allowsPrivate ? {} : { lookup: publicLookup(resolveName) }),
      ...(agent === undefined ? { agent: false } : { agent }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const timer = setTimeout(() => outgoing.destroy(new TimeoutError()), timeoutMs);
    let response: Response | undefined;
    let failure: unknown;
    outgoing.on('response', (incoming) => {
      response = { status: incoming.statusCode ?? 0, retryAfter: incoming.headers['retry-after'] };
      let bytes = 0;
      incoming
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          // A connection with more on it cannot be used again.
          if (bytes > MAX_RESPONSE_BYTES) incoming.destroy();
        });
    });
    outgoing.on('error', (error) => {
      failure = error;
    });
    outgoing.on('close', () => {
      clearTimeout(timer);
      // A receiver that hangs up after its status has given its answer.
      if (response !== undefined) resolve(response);
      else if (outgoing.reusedSocket && isReset(failure)) reject(new StaleConnectionError());
      else reject(failure ?? new Error('closed'));
    });
    outgoing.end(body);
  });
}

class TimeoutError extends Error {}

/** The receiver has closed a connection that nobody had used for a while, just when it was used again. */
class StaleConnectionError extends Error {}

const isReset = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ECONNRESET';

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
