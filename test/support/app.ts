/** A registry on a port of its own, with a clock that tests set, and keys at hand. */

import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ApiKeyValues, issueSecret, NEW_KEY, SCOPES, type Scope } from '../../src/access/api-keys.ts';
import { composeRegistry, type RegistryDependencies } from '../../src/compose.ts';
import { serveExports } from '../../src/export/export-routes.ts';
import type { ServerTimeouts } from '../../src/http/server/server.ts';
import { serveMetrics } from '../../src/metrics/service-metrics.ts';
import { type Config, readConfig, type SettingName } from '../../src/runtime/config.ts';
import type { Clock } from '../../src/runtime/scheduler.ts';
import { serveStatistics } from '../../src/statistics/statistics-routes.ts';
import type { WebhookSettings } from '../../src/webhooks/deliver-and-retry.ts';
import { deliverWebhooks } from '../../src/webhooks/service.ts';
import { createDescriber, type Describer } from './described.ts';
import { createEmptyRegistry } from './empty-registry.ts';
import { memoryLedger } from './memory-ledger.ts';
import { type ApiKeyStore, keysFileOf, openKeyStore } from './sqlite.ts';

/** 2025-06-15T12:00:00+02:00. */
export const NOON = Date.UTC(2025, 5, 15, 10);

export interface TestClock extends Clock {
  /** Moves both clocks. */
  advance(ms: number): void;
  /** Moves only the wall clock, as an administrator's correction does. */
  stepWall(ms: number): void;
}

export function testClock(startMs = NOON): TestClock {
  let wall = startMs;
  let monotonic = 1_000;
  return {
    now: () => wall,
    monotonicMs: () => monotonic,
    advance(ms) {
      wall += ms;
      monotonic += ms;
    },
    stepWall(ms) {
      wall += ms;
    },
  };
}

/** A folder that is removed after the test. */
export function temporaryFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'registry-test-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  readonly json: any;
}

export interface Sent {
  readonly method?: string;
  /** The entire key; `null` sends no Authorization header. */
  readonly key?: string | null;
  readonly headers?: { [name: string]: string | string[] };
  readonly body?: unknown;
  readonly raw?: string | Buffer;
}

export interface TestApp {
  readonly registry: ReturnType<typeof composeRegistry>;
  readonly config: Config;
  readonly clock: TestClock;
  readonly url: string;
  readonly port: number;
  readonly logLines: string[];
  /** Holds every scope. */
  readonly fullKey: string;
  issue(scopes: readonly Scope[], more?: Partial<ApiKeyValues>): { id: number; key: string };
  /** A second connection to the keys, as another process would have. */
  readonly keys: ApiKeyStore;
  send(path: string, sent?: Sent): Promise<TestResponse>;
}

/** Where its metrics are served. */
export const metricsAddress = ({ registry }: TestApp) =>
  registry.serving.find(({ name }) => name === 'metrics')?.address;

/** Starts a registry that ends with the test. */
export async function startApp(
  context: TestContext,
  options: {
    settings?: { [name in SettingName]?: string };
    timeouts?: Partial<ServerTimeouts>;
    startMs?: number;
    folder?: string;
    webhooks?: Partial<WebhookSettings>;
    ledger?: RegistryDependencies['ledger'];
  } = {},
): Promise<TestApp> {
  const folder = options.folder ?? temporaryFolder(context);
  const clock = testClock(options.startMs);
  const logLines: string[] = [];
  const config = readConfig({
    ...{ PORT: '0', REGISTRY_DB: join(folder, 'registry.db'), ACCESS_LEDGER: 'off' },
    ...options.settings,
  });
  createEmptyRegistry(join(folder, 'registry.db'));
  const registry = composeRegistry({
    config,
    clock,
    writeLog: (lines) => void logLines.push(...lines.split('\n').filter((line) => line !== '')),
    timeouts: options.timeouts,
    added: options.webhooks && [
      ...[serveExports, serveStatistics, deliverWebhooks(options.webhooks), serveMetrics],
    ],
    // Every response with personal data waits for it, as in a service; files of one are of no use here.
    ledger: options.ledger ?? (config.accessLedger ? undefined : memoryLedger()),
  });
  const { address } = await registry.listen();
  const keys = openKeyStore(keysFileOf(config.storage), { waitMs: 2_000 });
  context.after(async () => {
    keys.close();
    await registry.close();
  });

  function issue(scopes: readonly Scope[], more: Partial<ApiKeyValues> = {}): { id: number; key: string } {
    const secret = issueSecret();
    const values: ApiKeyValues = {
      ...NEW_KEY,
      name: 'test',
      scopes,
      mayExport: true,
      limits: { perHour: 100_000, perDay: 1_000_000 },
      ...more,
    };
    const { id } = keys.create(values, secret, Math.floor(clock.now() / 1000));
    return { id, key: secret.text };
  }

  const fullKey = issue(SCOPES).key;
  const url = `http://127.0.0.1:${address.port}`;
  return {
    registry,
    config,
    clock,
    url,
    port: address.port,
    logLines,
    fullKey,
    issue,
    keys,
    send: (path, sent = {}) => send(address.port, path, { key: fullKey, ...sent }),
  };
}

const description = createDescriber();

/**
 * Sends one request to loopback, and compares it and its response with the description of the API.
 * @param path used as it is, under `/api/v1` unless it starts with `//`
 */
export const send = (port: number, path: string, sent: Sent): Promise<TestResponse> =>
  exchange(port, path, sent, description);

/** The same for routes of a test's own. */
export const sendToOwnRoute = (port: number, path: string, sent: Sent): Promise<TestResponse> =>
  exchange(port, path, sent, undefined);

function exchange(
  port: number,
  path: string,
  sent: Sent,
  describer: Describer | undefined,
): Promise<TestResponse> {
  const payload = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body));
  const headers: { [name: string]: string | string[] } = {
    ...(typeof sent.key === 'string' ? { Authorization: `Bearer ${sent.key}` } : {}),
    ...(sent.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(payload === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(payload)) }),
    ...sent.headers,
  };
  const target = path.startsWith('//') ? path.slice(1) : `/api/v1${path}`;
  const method = sent.method ?? 'GET';
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: '127.0.0.1', port, path: target, method, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const status = incoming.statusCode ?? 0;
        const contentType = outgoing.getHeader('content-type')?.toString();
        const sentHeaders = outgoing.getHeaders();
        const body = payload?.toString() ?? '';
        const request = { method, target, contentType, headers: sentHeaders, body };
        try {
          describer?.check(request, { status, headers: incoming.headers, text });
          resolve({
            status,
            headers: incoming.headers,
            text,
            json:
              incoming.headers['content-type'] === 'application/json' && text !== ''
                ? JSON.parse(text)
                : undefined,
          });
        } catch (error) {
          reject(error);
        }
      });
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}
