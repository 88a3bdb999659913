/** Requests of a program that embeds the registry, answered as over HTTP (docs/embedding.md). */
import { type IncomingHttpHeaders, type IncomingMessage, request as startRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { JSON_TYPE } from '../http/declare/response.ts';

export interface RequestOptions {
  /** The secret of an API key. */
  readonly key?: string | undefined;
  readonly headers?: { readonly [name: string]: string } | undefined;
}

export interface Answer {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /**
   * The parsed JSON; undefined if nothing was sent. A response of another type, such as an export, is a
   * Readable of bytes, to be read or destroyed.
   */
  readonly body: unknown;
}

/**
 * Resolves with an answer of any status.
 * @param path with its query, as a client writes it after the host
 * @param body is sent as JSON
 * @throws (as a rejection) Error for what cannot be sent, such as a path with a space, and when the registry
 * is closed before it has answered
 */
export type Request = (
  method: string,
  path: string,
  body?: unknown,
  options?: RequestOptions,
) => Promise<Answer>;

/**
 * Uses the client and server of node:http: the request is a real one.
 * @param connect gives a new connection to the service
 */
export const openRequests =
  (connect: () => Duplex): Request =>
  async (method, path, body, { key, headers } = {}) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const all = {
      Connection: 'close',
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(payload !== undefined && {
        'Content-Type': JSON_TYPE,
        'Content-Length': Buffer.byteLength(payload),
      }),
      ...headers,
    };
    const outgoing = startRequest({ method, path, headers: all, createConnection: connect });
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const fail = () => reject(new Error('The connection ended without an answer.'));
      outgoing.once('response', resolve).on('error', reject).once('close', fail).end(payload);
    });
    const { statusCode: status = 0, headers: received } = incoming;
    return { status, headers: received, body: await readBody(outgoing.method, incoming) };
  };

async function readBody(method: string, incoming: IncomingMessage): Promise<unknown> {
  const { 'content-type': type = JSON_TYPE } = incoming.headers;
  if (type !== JSON_TYPE && method !== 'HEAD') return incoming;
  const sent = await text(incoming);
  return sent === '' ? undefined : JSON.parse(sent);
}
