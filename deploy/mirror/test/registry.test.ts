/** The mirror's client of the registry's API. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../../../test/torture/faults.ts';
import { openRegistryClient } from '../src/registry.ts';

/** A client of a registry that answers so. */
async function clientOf(context: TestContext, answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = openRegistryClient({
    api: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: 'any',
    signal: new AbortController().signal,
    onFault: async () => {},
  });
  context.after(async () => {
    await client.close();
    server.close();
  });
  return client;
}

test('an export whose characters are divided between chunks arrives as it was sent', async (context) => {
  const sent = '{"full_name":"Jean Népomuscène"}\n{"full_name":"😀"}\n';
  const client = await clientOf(context, async (_, response) => {
    response.writeHead(200, { 'X-Snapshot-Epoch': 'e', 'X-Snapshot-Sequence': '7' });
    for (const byte of Buffer.from(sent)) {
      response.write(Buffer.of(byte));
      await sleep(1);
    }
    response.end();
  });
  const texts: string[] = [];
  const snapshot = await client.export('/members/export', async (parts) => {
    for await (const text of parts) texts.push(text);
  });
  assert.equal(texts.join(''), sent);
  assert.ok(texts.length > 10, 'The test needs many chunks.');
  assert.deepEqual(snapshot, { epoch: 'e', sequence: 7 });
});

test('fewer requests are under way than nginx.conf lets one address have', async (context) => {
  const config = readFileSync(join(ROOT, 'deploy/nginx.conf'), 'utf8');
  const most = Number(/limit_conn registry (\d+);/.exec(config)?.[1]);
  let [open, highest] = [0, 0];
  const client = await clientOf(context, async (_, response) => {
    highest = Math.max(highest, ++open);
    await sleep(20);
    open--;
    response.end('{}');
  });
  await Promise.all(Array.from({ length: 3 * most }, (_, id) => client.read(`/members/${id}`, 'members')));
  assert.ok(highest > 10 && highest < most, `${highest} of ${most}`);
});
