/** Responses of many parts, many at once. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { BodyParts } from '../../src/http/declare/response.ts';
import { createPartSender } from '../../src/http/server/send-streamed.ts';

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
