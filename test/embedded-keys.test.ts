/** `registry.keys`, for programs that embed the registry (docs/embedding.md). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RegistryError } from '../src/index.ts';
import { startApp } from './support/app.ts';

test('a program issues a key, changes it, rotates it and disables it, from the next request on', async (context) => {
  const { registry, send } = await startApp(context);
  const { keys } = registry.embedded;
  const body = { code: 'A-1', name: 'Abahuje' };
  assert.equal((await send('/cooperatives', { method: 'POST', body })).status, 201);
  const statusOf = async (key: string) => (await send('/members', { key })).status;

  const { id, key, warnings, ...issued } = await keys.create({
    ...{ name: ' Union portal ', scopes: ['members:read'], allowedAddresses: ['127.0.0.0/8'] },
    ...{ cooperatives: ['1'], purpose: 'credit checks', perHour: 100, expires: '2030-12-31' },
  });
  assert.deepEqual(issued, {
    ...{
      name: 'Union portal',
      scopes: ['members:read'],
      allowedAddresses: ['127.0.0.0/8'],
      allowedHosts: [],
    },
    ...{ isLookupOnly: false, mayExport: false, cooperatives: ['1'], perHour: 100, perDay: 10_000 },
    ...{ purpose: 'credit checks', requiresPurpose: false },
    ...{ isActive: true, expiresAt: '2031-01-01T00:00:00+02:00' },
    ...{ prefix: key.slice(0, 10), prefixes: [key.slice(0, 10)] },
  });
  assert.equal(await statusOf(key), 200);
  assert.deepEqual(warnings, []);
  const { prefix: _, ...stored } = issued;
  assert.deepEqual(await keys.get(id), { id, ...stored });
  assert.deepEqual((await keys.list()).at(-1), { id, ...stored });

  const changed = await keys.update(id, {
    scopes: ['loans:read'],
    cooperatives: null,
    expires: null,
    perDay: 9,
  });
  assert.deepEqual(changed, {
    ...{ id, ...stored, scopes: ['loans:read'], cooperatives: null, expiresAt: null, perDay: 9 },
    warnings: ['The limit of an hour, 100, is above that of a day, 9, which counts.'],
  });
  assert.equal(await statusOf(key), 403);
  await keys.update(id, { scopes: ['members:read'] });
  const rotated = await keys.rotate(id, { overlap: '1h' });
  assert.deepEqual([await statusOf(key), await statusOf(rotated.key)], [200, 200]);
  const last = await keys.rotate(id);
  assert.deepEqual([await statusOf(key), await statusOf(last.key)], [401, 200]);
  assert.equal((await keys.disable(id)).isActive, false);
  assert.equal(await statusOf(last.key), 401);
  assert.equal((await keys.enable(id)).isActive, true);
  assert.equal(await statusOf(last.key), 200);
});

test('what makes no key is an error that names it', async (context) => {
  const { keys } = (await startApp(context)).registry.embedded;
  const good = { name: 'Portal', scopes: ['members:read'] } as const;
  const faults: [() => Promise<unknown>, string][] = [
    [() => keys.create({} as never), 'name: It is required. scopes: It is required.'],
    [() => keys.create({ ...good, scopes: [] }), 'scopes: Name at least one.'],
    [() => keys.create({ ...good, scopes: ['members'] as never }), 'scopes: Known scopes: '],
    [() => keys.create({ ...good, name: '\u0000' }), 'name: Expected a name of 1 to 100 characters.'],
    [() => keys.create({ ...good, scope: ['members:read'] } as never), 'scope: There is no such option.'],
    [() => keys.create({ ...good, purpose: 'a\tb' }), 'purpose: Expected one text of 1 to 200'],
    [() => keys.create({ ...good, perHour: 0 }), 'perHour: Expected a number from 1 to '],
    [() => keys.create({ ...good, expires: '2020-01-01' }), 'expires: This is over already.'],
    [
      () => keys.create({ ...good, cooperatives: [7] }),
      'cooperatives: There is no cooperative with the id 7.',
    ],
    [() => keys.create({ ...good, cooperatives: [] }), 'cooperatives: Name at least one, or null for all.'],
    [() => keys.create({ ...good, allowedAddresses: ['10.0.0.0/33'] }), 'allowedAddresses: '],
    [() => keys.create({ ...good, allowedHosts: [5] as never }), 'allowedHosts: Expected strings.'],
    [() => keys.create({ ...good, name: null as never }), 'name: Expected a value of type string.'],
    [() => keys.rotate(1, { overlap: '1y' }), 'overlap: Expected a time such as 24h or 7d'],
    [() => keys.disable('x'), 'id: Expected an id: 1 to 12 digits.'],
  ];
  for (const [work, fault] of faults) {
    const error = await work().catch((reason: unknown) => reason);
    assert.ok(error instanceof RegistryError && error.code === 'invalid', `${fault} ${error}`);
    assert.ok(error.message.startsWith(fault), `${error.message} instead of ${fault}`);
  }
  await assert.rejects(keys.update(99, good), { name: 'RegistryError', code: 'not_found' });
  assert.equal(await keys.get(99), undefined);
});
