/** Responses of many parts, many at once. */
import assert from 'node:assert/strict';
import { createHash, randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { gzipped } from '../../src/export/export-routes.ts';
import { BodyParts } from '../../src/http/declare/response.ts';
import { createPartSender } from '../../src/http/server/send.ts';

test('many responses of many parts leave room for other work, and each has its turn', async () => {
  const sendParts = createPartSender();
  let made = 0;
  async function* parts(): AsyncGenerator<string> {
    for (let n = 0; n < 10; n++) {
      made++;
      yield String(n);
    }
  }
  const texts = Array.from({ length: 200 }, () => '');
  const responses = texts.map((_, i) => {
    const outgoing = new Writable({
      write(chunk: Buffer, _encoding, done) {
        texts[i] += chunk.toString();
        done();
      },
    });
    sendParts(new BodyParts(parts()), outgoing as ServerResponse, (error) => assert.ifError(error));
    return finished(outgoing);
  });
  await immediate();
  let most = 0;
  for (let before = made; made < 2_000; before = made) {
    await immediate();
    most = Math.max(most, made - before);
    const lengths = texts.map(({ length }) => length);
    assert.ok(Math.max(...lengths) - Math.min(...lengths) <= 2);
  }
  assert.ok(most <= 20, `${most} at once`);
  await Promise.all(responses);
  assert.deepEqual(new Set(texts), new Set(['0123456789']));
});

test('an error in the middle ends the response and is reported', async () => {
  async function* parts(): AsyncGenerator<string> {
    yield '[';
    throw new Error('disk I/O error');
  }
  const outgoing = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reported = await new Promise((resolve) =>
    createPartSender()(new BodyParts(parts()), outgoing as ServerResponse, resolve),
  );
  assert.match(String(reported), /disk I\/O error/);
  assert.deepEqual([outgoing.destroyed, outgoing.writableFinished], [true, false]);
});

for (const isGzipped of [false, true]) {
  test(`a part may be overwritten when the next is asked for${isGzipped ? ', with gzip' : ''}`, async (context) => {
    const sent = createHash('sha256');
    async function* parts(): AsyncGenerator<Buffer> {
      const buffer = Buffer.alloc(256 * 1024);
      for (let n = 0; n < 24; n++) {
        sent.update(randomFillSync(buffer));
        yield buffer;
      }
    }
    const sendParts = createPartSender();
    const server = createServer((_, outgoing) =>
      sendParts(new BodyParts(isGzipped ? gzipped(parts()) : parts()), outgoing, assert.ifError),
    ).listen(0, '127.0.0.1');
    context.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [incoming] = (await once(get({ port }), 'response')) as [IncomingMessage];
    const received = createHash('sha256');
    // A client that is slower than the service.
    for await (const chunk of isGzipped ? incoming.pipe(createGunzip()) : incoming) {
      received.update(chunk as Buffer);
      await immediate();
    }
    assert.equal(received.digest('hex'), sent.digest('hex'));
  });
}
