/** Requests from an embedding program without a socket (docs/embedding.md). */
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
  /** Headers by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /**
   * Parsed JSON; undefined without content. For another media type, such as that of an export, a Readable of
   * bytes, which the caller must read or destroy.
   */
  readonly body: unknown;
}

/**
 * Sends a request, and resolves with the response, whatever its status.
 * @param path path and query
 * @param body value to send as JSON
 * @throws (as a rejection) Error for an invalid request, such as a path with a space, or if the registry is
 *   closed before the response
 */
export type Request = (
  method: string,
  path: string,
  body?: unknown,
  options?: RequestOptions,
) => Promise<Answer>;

/** @param connect opens an in-process connection to the service */
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
