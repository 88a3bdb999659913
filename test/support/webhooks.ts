/** A registry with a key that receives, and a receiver on loopback. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiKeyValues } from '../../src/access/api-keys.ts';
import {
  openWebhooks,
  type WebhookEndpoint,
  type WebhookStore,
} from '../../src/webhooks/open-webhook-store.ts';
import { startApp, type TestApp } from './app.ts';
import { command } from './command.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export interface Webhooks {
  readonly app: TestApp;
  readonly receiver: Receiver;
  /** Id of the key of the endpoint. */
  readonly keyId: number;
  /** Runs `webhooks` with the clock of the registry. */
  run(...args: string[]): ReturnType<typeof command>;
  // biome-ignore lint/suspicious/noExplicitAny: the document of any command
  json(...args: string[]): Promise<any>;
  /** Adds an endpoint for the receiver. */
  add(...args: string[]): Promise<{ readonly id: string; readonly secret: string }>;
  /** The first endpoint as it is stored; much cheaper than `webhooks list`. Closed with the test. */
  stored(): Promise<WebhookEndpoint>;
  /** Creates a cooperative. */
  create(code: string): Promise<void>;
}

/** @param more what the key is restricted to */
export async function startWebhooks(
  context: TestContext,
  more: Partial<ApiKeyValues> = {},
  options: Parameters<typeof startApp>[1] = {},
): Promise<Webhooks> {
  const webhooks = { lookMs: 5, random: () => 0.5, ...options.webhooks };
  // The library compares the time of a delivery with that of the machine.
  const app = await startApp(context, { startMs: Date.now(), ...options, webhooks });
  const receiver = await startReceiver(context);
  const { id: keyId } = app.issue(['webhooks:receive'], more);
  const run = (...args: string[]) =>
    command(['webhooks', ...args], { REGISTRY_DB: app.config.storage }, app.clock);
  const json = async (...args: string[]) => {
    const { status, out, err } = await run(...args, '--json');
    assert.equal(status, 0, err);
    return JSON.parse(out);
  };
  let store: WebhookStore | undefined;
  context.after(() => store?.close());
  return {
    ...{ app, receiver, keyId, run, json },
    async stored() {
      store ??= openWebhooks(app.registry.storage, 'manage');
      return (await store.find(1)) as WebhookEndpoint;
    },
    add: (...args) => json('add', '--key', String(keyId), '--url', receiver.url, '--allow-private', ...args),
    async create(code) {
      const { status } = await app.send('/cooperatives', { method: 'POST', body: { code, name: code } });
      assert.equal(status, 201);
    },
  };
}

/** Waits until something is true: a test that waits for what never comes ends by the limit of its runner. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(10);
}
