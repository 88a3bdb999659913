/** What `keys` shows of the requests of a key (docs/keys.md#change-disable-rotate). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nowSeconds } from '../../src/runtime/scheduler.ts';
import { startApp } from '../support/app.ts';
import { command } from '../support/command.ts';

test('list and show say when a key was last used, how often it was refused and why', async (context) => {
  const app = await startApp(context);
  const { key } = app.issue(['members:read'], {
    allowedAddresses: ['127.0.0.1', '10.0.0.0/8', '192.0.2.1'],
    allowedHosts: ['127.0.0.1'],
    expiresAt: nowSeconds(app.clock) + 86_400,
  });
  const id = app.issue([], {}).id - 1;
  const run = (...args: string[]) => command(['keys', ...args, '--db', app.config.storage], {}, app.clock);
  assert.equal((await app.send('/members', { key })).status, 200);
  for (let i = 0; i < 3; i++) assert.equal((await app.send('/loans', { key })).status, 403);
  const headers = { Origin: 'https://elsewhere.example' };
  assert.equal((await app.send('/members', { key, headers })).status, 403);
  assert.equal((await app.send('/members/1190000000000000', { key })).status, 404);
  await app.registry.close();

  const list = await run('list');
  assert.match(list.out, / EXPORTS {2}ADDRESSES {5}HOSTS {6}EXPIRES +LAST USED +REFUSED\n/);
  const [from, hosts] = ['127.0.0.1 +2', '127.0.0.1'];
  const at = '2025-06-15T12:00:00+02:00';
  assert.ok(
    list.out.includes(`  ${from}  ${hosts}  2025-06-16T12:00:00+02:00  ${at}  4 (scope)\n`),
    list.out,
  );
  const shown = (await run('show', String(id))).out;
  assert.ok(shown.includes(`\nlast used    ${at}\n`), shown);
  assert.ok(shown.includes(`\nrefused      scope: 3 requests in the last day, last at ${at}\n`));
  const described = JSON.parse((await run('list', '--json')).out).keys;
  assert.equal(described.at(-2).last_used_at, at);
  assert.deepEqual(described.at(-2).refused_last_day, [
    { reason: 'host', requests: 1, last_at: at },
    { reason: 'scope', requests: 3, last_at: at },
  ]);
  assert.equal(described.at(-1).last_used_at, null);
});
