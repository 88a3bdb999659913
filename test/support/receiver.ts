/**
 * A receiver of webhooks on loopback. Each delivery must be as openapi.json describes it; tests verify it
 * with the library of Standard Webhooks.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { createDescriber } from './described.ts';

// Without its types, so that who has not installed the package yet can check those of everything else.
const { Webhook } = createRequire(import.meta.url)('standardwebhooks') as {
  Webhook: new (secret: string) => { verify(body: string, headers: object): unknown };
};

export interface Delivery {
  readonly id: string;
  readonly headers: { readonly [name: string]: string };
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every type
  readonly json: any;
}

/** The status of the response, or what answers instead. */
type Answer = number | ((response: ServerResponse, delivery: Delivery) => void);

export interface Receiver {
  readonly url: string;
  readonly deliveries: Delivery[];
  /** What it answers from now on. */
  answer: Answer;
  /** Resolves when there are so many deliveries. */
  waitFor(count: number): Promise<readonly Delivery[]>;
  /** Connections that were opened so far. */
  readonly connections: number;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

export async function startReceiver(context: TestContext): Promise<Receiver> {
  const waiting: (() => void)[] = [];
  const describer = createDescriber();
  const faults: unknown[] = [];
  let connections = 0;
  const receiver = {
    url: '',
    deliveries: [] as Delivery[],
    answer: 204 as Answer,
    get connections() {
      return connections;
    },
    async waitFor(count: number) {
      while (receiver.deliveries.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return receiver.deliveries;
    },
  };
  const server = createServer(async (request, response) => {
    const text = await bodyOf(request);
    const headers = request.headers as Delivery['headers'];
    const delivery = { id: headers['webhook-id'] ?? '', headers, text, json: JSON.parse(text) };
    receiver.deliveries.push(delivery);
    try {
      // A test of posting sends something else.
      if (delivery.json.type !== undefined) describer.checkMessage(headers, delivery.json);
    } catch (error) {
      faults.push(error);
    }
    const { answer } = receiver;
    if (typeof answer === 'number') response.writeHead(answer).end();
    else answer(response, delivery);
    for (const wake of waiting.splice(0)) wake();
  });
  server.on('connection', () => {
    connections++;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    if (faults.length > 0) throw faults[0];
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  return receiver;
}

/** @throws when a signature is wrong. The library compares the time with that of the machine. */
export const verify = (secret: string, { text, headers }: Delivery): unknown =>
  new Webhook(secret).verify(text, headers);
