/** Raw bytes over a socket, for what an HTTP client would never send. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { createDescriber } from './described.ts';

/** A connection that ends with the test. */
export async function openSocket(context: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  context.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes and reads until the server ends the connection. */
export async function exchange(context: TestContext, port: number, bytes: string | Buffer): Promise<string> {
  const socket = await openSocket(context, port);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

export interface RawResponse {
  readonly status: number;
  /** Status line and headers. */
  readonly head: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

const description = createDescriber();

const parseHeaders = (head: string): { [name: string]: string } =>
  Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );

/** Every response in what a connection has sent, cut by Content-Length. */
export function parseResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    assert.ok(end > 0, `no head in ${rest}`);
    const head = rest.subarray(0, end).toString();
    assert.match(head, /^HTTP\/1\.1 [0-9]{3} /);
    assert.match(head, /x-request-id: /i);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const body = rest.subarray(end + 4, end + 4 + length).toString();
    assert.equal(Buffer.byteLength(body), length, 'the body is cut off');
    const status = Number(head.slice(9, 12));
    if (status >= 400) description.checkRefusal({ status, headers: parseHeaders(head), text: body });
    responses.push({
      status,
      head,
      body: body === '' ? undefined : JSON.parse(body),
    });
    rest = rest.subarray(end + 4 + length);
  }
  return responses;
}

/** The head of a request. */
export const requestHead = (line: string, ...headers: string[]): string =>
  `${[line, ...headers].join('\r\n')}\r\n\r\n`;

/** The head of a request that is the last one on its connection. */
export const lastRequest = (line: string, ...headers: string[]): string =>
  requestHead(line, ...headers, 'Connection: close');
