/** A request with an Idempotency-Key whose server is killed at any instant: it is done once, and answered. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { temporaryFolder } from '../support/app.ts';
import { issueWriter, serveProcess } from '../support/serving.ts';
import { openFile } from '../support/sqlite.ts';

const ROUNDS = 16;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly isReplay: boolean;
}

test('after a kill -9 at any instant a retry gets the first answer, and there is one row', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  const key = await issueWriter(file);
  let done = 0;
  let undone = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `round-${round}`,
    };
    const body = JSON.stringify({ code: `A-${round}`, name: 'Abahuje' });
    const send = async (port: number): Promise<Answer> => {
      const url = `http://127.0.0.1:${port}/api/v1/cooperatives`;
      const response = await fetch(url, { method: 'POST', headers, body });
      const isReplay = response.headers.has('idempotency-replayed');
      return { status: response.status, text: await response.text(), isReplay };
    };
    const { server, port } = await serveProcess(context, file);
    // A first one, so that code and connections are warm.
    await fetch(`http://127.0.0.1:${port}/readyz`);
    const first = send(port).catch(() => undefined);
    await setTimeout(randomInt(30));
    server.child.kill('SIGKILL');
    await server.ended;
    const acknowledged = await first;
    const next = await serveProcess(context, file);
    const again = await send(next.port);
    assert.equal(again.status, 201, again.text);
    if (acknowledged !== undefined) {
      assert.ok(again.isReplay);
      assert.equal(again.text, acknowledged.text);
    }
    if (again.isReplay) done++;
    else undone++;
    next.server.child.kill('SIGKILL');
    await next.server.ended;
  }
  context.diagnostic(`${done} were done before the kill, ${undone} were not`);
  const db = openFile(file);
  context.after(() => db.close());
  const rows = db.raw
    .prepare('SELECT count(*) AS rows, count(DISTINCT code) AS codes FROM cooperatives')
    .get();
  assert.deepEqual(rows, { rows: ROUNDS, codes: ROUNDS });
});
