/** When the secret in use ends: `/me` and `X-Key-Expires` (docs/keys.md#change-disable-rotate). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueSecret } from '../../src/access/api-keys.ts';
import { NOON, startApp } from '../support/app.ts';

const DAY = 86_400;
const NOW = NOON / 1000;
const END = 'Mon, 23 Jun 2025 10:00:00 GMT';

test('a secret that a rotation ends shows its end: in /me at once, in each response within 7 days', async (context) => {
  const app = await startApp(context);
  const { id, key: old } = app.issue(['members:read'], { limits: { perHour: 9, perDay: 90 } });
  const { text: current, ...secret } = issueSecret();
  const ask = async (path: string, key = old) => {
    const { status, headers } = await app.send(path, { key });
    return [status, headers['x-key-expires']];
  };
  const endOf = async (key: string) => (await app.send('/me', { key })).json.expires_at;
  assert.equal(await endOf(old), null);
  app.keys.rotate(id, secret, 8 * DAY, NOW);
  assert.equal(await endOf(old), '2025-06-23T12:00:00+02:00');
  assert.equal(await endOf(current), null);
  app.clock.advance((DAY - 1) * 1000);
  assert.deepEqual(await ask('/me'), [200, undefined]);
  app.clock.advance(1_000);
  for (const [path, status] of [
    ['/members', 200],
    ['/members/99', 404],
    ['/members/x', 400],
    ['/loans', 403],
  ] as const)
    assert.deepEqual(await ask(path), [status, END], path);
  assert.deepEqual(await ask('/me', current), [200, undefined]);
  for (let i = 0; i < 5; i++) await ask('/me');
  assert.deepEqual(await ask('/me'), [429, END]);
  app.clock.advance(7 * DAY * 1000);
  assert.deepEqual(await ask('/me'), [401, undefined]);
});

test('the end of the key counts where it is earlier; a refused key is not told it', async (context) => {
  const app = await startApp(context);
  const { id, key } = app.issue(['members:read'], { expiresAt: NOW + 2 * DAY });
  const { text, ...secret } = issueSecret();
  app.keys.rotate(id, secret, 3 * DAY, NOW);
  for (const each of [key, text]) {
    const { headers, json } = await app.send('/me', { key: each });
    assert.deepEqual(
      [headers['x-key-expires'], json.expires_at],
      ['Tue, 17 Jun 2025 10:00:00 GMT', '2025-06-17T12:00:00+02:00'],
    );
  }
  app.keys.update(id, { isActive: false }, NOW);
  const disabled = await app.send('/me', { key });
  assert.deepEqual([disabled.status, disabled.headers['x-key-expires']], [401, undefined]);
  app.keys.update(id, { isActive: true }, NOW);
  app.clock.advance(2 * DAY * 1000);
  const expired = await app.send('/me', { key: text });
  assert.deepEqual([expired.status, expired.headers['x-key-expires']], [401, undefined]);
});
