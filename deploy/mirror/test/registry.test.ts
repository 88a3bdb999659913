/** The mirror's client of the registry's API. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRegistryClient } from '../src/registry.ts';

test('an export whose characters are divided between chunks arrives as it was sent', async () => {
  const sent = '{"full_name":"Jean Népomuscène"}\n{"full_name":"😀"}\n';
  const server = createServer(async (_, response) => {
    response.writeHead(200, { 'X-Snapshot-Epoch': 'e', 'X-Snapshot-Sequence': '7' });
    for (const byte of Buffer.from(sent)) {
      response.write(Buffer.of(byte));
      await sleep(1);
    }
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = openRegistryClient({
    api: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: 'any',
    signal: new AbortController().signal,
    onFault: async () => {},
  });
  try {
    const texts: string[] = [];
    const snapshot = await client.export('/members/export', async (parts) => {
      for await (const text of parts) texts.push(text);
    });
    assert.equal(texts.join(''), sent);
    assert.ok(texts.length > 10, 'The test needs many chunks.');
    assert.deepEqual(snapshot, { epoch: 'e', sequence: 7 });
  } finally {
    await client.close();
    server.close();
  }
});
