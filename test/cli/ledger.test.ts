/** Commands list the accesses that a service recorded over HTTP (docs/ledger.md). */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SCOPES } from '../../src/access/api-keys.ts';
import { NOON, type Sent, startApp, type TestApp, temporaryFolder, testClock } from '../support/app.ts';
import { command } from '../support/command.ts';
import { testDesk } from '../support/desk.ts';
import { createEmptyRegistry } from '../support/empty-registry.ts';
import { nid } from '../support/importing.ts';
import { startLending } from '../support/lending.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { copyRegistry } from '../support/sample-registry.ts';
import { openFile } from '../support/sqlite.ts';
import { allEntries, ledgerNames, ledgerPlaceIn, reading } from '../support/sqlite-ledger.ts';

const ON = { settings: { ACCESS_LEDGER: 'on' } };
const DAY_MS = 24 * 3600 * 1000;
const WHY = ['--reason', 'Request', '--yes'];

/** The registry of `startLending` with a loan of member 1, as a bank reads it. */
async function start(context: TestContext) {
  const folder = temporaryFolder(context);
  const lending = await startLending(context, { ...ON, folder });
  await lending.lend({ reference: 'L-1' });
  const { app } = lending;
  const bank = app.issue(SCOPES, { name: 'Bank' });
  /** @returns the receipt */
  const read = async (path: string, sent: Sent = {}, service: TestApp = app): Promise<string> => {
    const { status, text, headers } = await service.send(path, { key: bank.key, ...sent });
    assert.ok([200, 404].includes(status), text);
    return String(headers['x-access-receipt']);
  };
  const run = (...args: string[]) => command(args, { REGISTRY_DB: join(folder, 'registry.db') }, app.clock);
  const done = async (...args: string[]): Promise<void> => {
    const { status, out, err } = await run(...args);
    assert.equal(status, 0, `${args.join(' ')}: ${out}${err}`);
  };
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  const json = async (...args: string[]): Promise<any> => {
    const { status, out, err } = await run(...args, '--json');
    assert.equal(status, 0, `${args.join(' ')}: ${out}${err}`);
    return JSON.parse(out);
  };
  /** Accesses of the bank to a person: route, status and reason. */
  const readingsOf = async (person: number): Promise<string[]> => {
    const { entries } = await json('ledger', 'person', nid(person));
    return entries
      .filter((entry: { key_id: number }) => entry.key_id === bank.id)
      .map(({ route, status, read_as }: Record<string, string>) =>
        [route?.replace('GET /api/v1', ''), status, read_as].join(' '),
      );
  };
  return { ...lending, folder, bank, read, run, done, json, readingsOf };
}

const LOOKUP = '/members/{id} 200 number';

test('ledger person has each way in which a person was shown, and nothing else', async (context) => {
  const { read, json, readingsOf } = await start(context);
  const said = { 'X-Purpose': 'Loan 17', 'X-End-User': 'Zoë', 'X-Request-Id': 'r-1' };
  const receipt = await read(`/members/${nid(1)}`, { headers: said });
  for (const path of [
    `/members/${nid(8)}`,
    '/members/1',
    '/members?page_size=1',
    '/members?page_size=1&page=2',
    '/members?search=person',
    `/members?identity_card=${nid(1)}`,
    '/members/3/deliveries',
    '/loans',
    '/loans/1',
    '/members/export?cooperative=2',
    '/statistics',
  ])
    await read(path);
  assert.deepEqual(await readingsOf(1), [
    LOOKUP,
    '/members/{id} 200 member',
    '/members 200 member',
    '/members 200 member',
    '/members 200 number',
    '/members/{id}/deliveries 200 member',
    '/loans 200 member',
    '/loans/{id} 200 member',
    '/members/export 200 everybody',
  ]);
  assert.deepEqual(await readingsOf(2), ['/members 200 member', '/members 200 member']);
  assert.deepEqual(await readingsOf(8), ['/members/{id} 404 number']);
  assert.deepEqual(await readingsOf(7), []);
  const { entries } = await json('ledger', 'person', nid(1));
  const { origin, ...shown } = entries.find((entry: { request_id: string }) => entry.request_id === 'r-1');
  assert.match(origin, /^[0-9a-f]{32}$/);
  assert.deepEqual(shown, {
    ...{ sequence: Number(receipt.split('-')[0]), chain: 1, time: '2025-06-15T12:00:00+02:00' },
    ...{ request_id: 'r-1', key_id: 2, key_name: 'Bank', user: null, route: 'GET /api/v1/members/{id}' },
    ...{ fields: ['identity', 'contact', 'financials'], status: 200, address: '127.0.0.1' },
    ...{ purpose: 'Loan 17', end_user: 'Zoë', receipt, read_as: 'number' },
  });
});

test('of many lookups at once each number was read by itself, found or not, and no page of a list', async (context) => {
  const { app, bank, done, json, readingsOf } = await start(context);
  await app.send('/members/2', { method: 'PATCH', body: { status: 'inactive' } });
  const numbers = [nid(1), nid(2), nid(7), nid(8)];
  const look = async (identityCards: readonly string[]) => {
    const body = { identity_cards: identityCards };
    const response = await app.send('/members/lookups', { method: 'POST', key: bank.key, body });
    assert.equal(response.status, 200, response.text);
  };
  await look(numbers);
  const batch = 'POST /api/v1/members/lookups 200 number';
  for (const person of [1, 2, 7]) assert.deepEqual(await readingsOf(person), [batch]);
  assert.deepEqual(await readingsOf(9), []);
  const { persons, pages, unknown } = await json('ledger', 'key', String(bank.id));
  const found = (persons as Record<string, unknown>[]).map(({ identity_card, times }) => [
    identity_card,
    times,
  ]);
  assert.deepEqual(found.sort(), [
    [nid(1), 1],
    [nid(2), 1],
  ]);
  assert.deepEqual([pages, unknown], [0, 2]);
  // A request for a former number shows its former holder, under the present number.
  await done('nid', 'replace', nid(1), nid(11), ...WHY);
  await done('nid', 'release', nid(1), ...WHY);
  app.clock.advance(1000);
  const later = { cooperative_id: '1', identity_card: nid(1), member_code: 'M-9', full_name: 'Later Holder' };
  assert.equal((await app.send('/members', { method: 'POST', body: later })).status, 201);
  await app.send('/members/4', { method: 'PATCH', body: { status: 'inactive' } });
  await look([nid(1), nid(11)]);
  assert.deepEqual(await readingsOf(1), [batch]);
});

test('ledger person says who has entered the person, which is no reading', async (context) => {
  const { app, json, run } = await start(context);
  const body = { cooperative_id: '1', identity_card: nid(6), member_code: 'M-6', full_name: 'Person 6' };
  assert.equal((await app.send('/members', { method: 'POST', body })).status, 201);
  const { entered, entries } = await json('ledger', 'person', nid(6));
  assert.deepEqual(entries, []);
  assert.deepEqual(entered, [{ row: 'M-6', at: '2025-06-15T12:00:00+02:00', actor: 'key:1', user: null }]);
  const { out } = await run('ledger', 'person', nid(6));
  assert.match(out, /^Entered as M-6 at 2025-06-15T12:00:00\+02:00 by key 1\.\n/);
});

test('the purpose of a key is shown with its readings', async (context) => {
  const { app, bank, read, run, json } = await start(context);
  app.keys.update(bank.id, { purpose: 'credit checks' }, 0);
  await read(`/members/${nid(2)}`);
  const { entries } = await json('ledger', 'person', nid(2));
  assert.equal(entries.at(-1).purpose, 'credit checks');
  const shown = await Promise.all([run('ledger', 'person', nid(2)), run('persons', 'show', nid(2))]);
  for (const { out } of shown) assert.match(out, /key 2 \(Bank\).* {2}credit checks {2}/);
});

test('readings under numbers and memberships that a person had are found after each correction', async (context) => {
  const { app, read, done, readingsOf } = await start(context);
  await read(`/members/${nid(2)}`);
  await done('nid', 'replace', nid(2), nid(12), ...WHY);
  await read(`/members/${nid(12)}`);
  await read(`/members/${nid(2)}`);
  for (const number of [2, 12]) assert.deepEqual(await readingsOf(number), [LOOKUP, LOOKUP, LOOKUP]);

  // Merged: the removed member was shown as a person of its own.
  await read('/members/2');
  await read('/members/1');
  await done('members', 'merge', '2', '1', ...WHY);
  const both = [LOOKUP, LOOKUP, LOOKUP, '/members/{id} 200 member', '/members/{id} 200 member'];
  assert.deepEqual(await readingsOf(1), both);
  for (const number of [2, 12]) assert.deepEqual(await readingsOf(number), both);

  // Transferred: exports of each cooperative could show the person while the person belonged to it.
  const body = { cooperative_id: '2', identity_card: nid(4), member_code: 'M-4', full_name: 'Person 4' };
  assert.equal((await app.send('/members', { method: 'POST', body })).status, 201);
  app.clock.advance(DAY_MS);
  await read('/members/4');
  await read('/members/export?cooperative=2');
  await read('/members/export?cooperative=1');
  await done('members', 'transfer', '4', '--to', 'A-1', '--code', 'M-9', '--on', '2025-06-16', ...WHY);
  await read('/members/5');
  await read('/members/export?cooperative=1');
  assert.deepEqual(await readingsOf(4), [
    '/members/{id} 200 member',
    '/members/export 200 everybody',
    '/members/export 200 everybody',
    '/members/{id} 200 member',
    '/members/export 200 everybody',
  ]);
});

test('readings of a number belong to whoever held it then, not to whom it was given later', async (context) => {
  const { app, read, done, json, readingsOf, bank } = await start(context);
  const narrow = app.issue(SCOPES, { cooperatives: [2] }).key;
  const lookup = `/members/${nid(2)}`;
  await read(lookup);
  await read(lookup, { key: narrow });
  await done('ledger', 'person', nid(2));
  app.clock.advance(DAY_MS);
  await done('nid', 'replace', nid(2), nid(12), '--release', ...WHY);
  app.clock.advance(DAY_MS);
  await read(lookup);
  const NOBODY = '/members/{id} 404 number';
  assert.deepEqual([await readingsOf(2), await readingsOf(12)], [[NOBODY], [LOOKUP, NOBODY]]);
  app.clock.advance(DAY_MS);
  const body = { cooperative_id: '2', identity_card: nid(2), member_code: 'M-4', full_name: 'Person 4' };
  assert.equal((await app.send('/members', { method: 'POST', body })).status, 201);
  app.clock.advance(DAY_MS);
  await read(lookup);
  assert.deepEqual(await readingsOf(2), [NOBODY, LOOKUP]);
  assert.deepEqual(await readingsOf(12), [LOOKUP, NOBODY]);
  // Entries without a member are assigned by their time: a lookup that showed nobody, and a command.
  const othersOf = async (number: string): Promise<string[]> =>
    (await json('ledger', 'person', number)).entries
      .filter(
        (entry: { key_id: number; time: string }) => entry.key_id !== bank.id && entry.time < '2025-06-16',
      )
      .map(({ route }: { route: string }) => route);
  assert.deepEqual(await othersOf(nid(12)), ['GET /api/v1/members/{id}', 'ledger person']);
  assert.deepEqual(await othersOf(nid(2)), []);
  const { persons, unknown } = await json('ledger', 'key', String(bank.id));
  const times = persons.map((person: { identity_card: string; times: number }) => [
    person.identity_card,
    person.times,
  ]);
  assert.deepEqual(
    [times, unknown],
    [
      [
        [nid(12), 1],
        [nid(2), 2],
      ],
      0,
    ],
  );
  const ofNarrow = await json('ledger', 'key', String(bank.id + 1));
  assert.deepEqual(
    ofNarrow.persons.map((person: { identity_card: string }) => person.identity_card),
    [nid(12)],
  );
});

test('of an erased person, lookups and exports before the erasure are found by the number', async (context) => {
  const { app, read, done, readingsOf } = await start(context);
  await read(`/members/${nid(2)}`);
  await read('/members/2');
  await read('/members/export?cooperative=1');
  await done('persons', 'erase', nid(2), ...WHY);
  app.clock.advance(DAY_MS);
  await read('/members/export?cooperative=1');
  await read(`/members/${nid(2)}`);
  assert.deepEqual(await readingsOf(2), [
    LOOKUP,
    '/members/export 200 everybody',
    '/members/{id} 404 number',
  ]);
});

test('ledger key names everybody whom the key has read, by the number of now, within the days given', async (context) => {
  const { app, bank, read, done, json, run } = await start(context);
  // 23:59:59 in Kigali of the day before, and 00:00:00.
  const midnightMs = Date.parse('2025-06-18T00:00:00+02:00');
  app.clock.advance(midnightMs - 1000 - app.clock.now());
  await read(`/members/${nid(2)}`);
  app.clock.advance(1000);
  await read(`/members/${nid(2)}`);
  await done('nid', 'replace', nid(2), nid(12), ...WHY);
  app.clock.advance(1000);
  await read(`/members/${nid(12)}`);
  await read(`/members/${nid(8)}`);
  await read('/members?cooperative=2');
  await read(`/loans?identity_card=${nid(1)}`);
  await read('/members/export?cooperative=1');
  app.clock.advance(DAY_MS - 2000);
  await read('/members/3');
  app.clock.advance(1000);
  await read('/members/1');
  const [two, one] = [
    (times: number, first: string) => ({
      identity_card: nid(12),
      times,
      first,
      last: '2025-06-18T00:00:01+02:00',
    }),
    (times: number, last: string) => ({
      identity_card: nid(1),
      times,
      first: '2025-06-18T00:00:01+02:00',
      last,
    }),
  ];
  const id = String(bank.id);
  assert.deepEqual(await json('ledger', 'key', id), {
    persons: [two(3, '2025-06-17T23:59:59+02:00'), one(4, '2025-06-19T00:00:00+02:00')],
    ...{ pages: 2, exports: 1, exported_cooperatives: ['A-1'], unknown: 1, without_key: 0 },
  });
  const day = ['--from', '2025-06-18', '--to', '2025-06-18'];
  assert.deepEqual(await json('ledger', 'key', id, ...day), {
    persons: [two(2, '2025-06-18T00:00:00+02:00'), one(3, '2025-06-18T23:59:59+02:00')],
    ...{ pages: 2, exports: 1, exported_cooperatives: ['A-1'], unknown: 1, without_key: 0 },
  });
  const { persons } = await json('ledger', 'key', id, '--to', '2025-06-17T23:59:59+02:00');
  assert.deepEqual(persons, [{ ...two(1, '2025-06-17T23:59:59+02:00'), last: '2025-06-17T23:59:59+02:00' }]);
  const unused = app.issue(SCOPES, { name: 'Unused' });
  const nobody = { exported_cooperatives: [], unknown: 0, without_key: 0 };
  assert.deepEqual(await json('ledger', 'key', String(unused.id)), {
    ...{ persons: [], pages: 0, exports: 0, ...nobody },
  });
  const { out } = await run('ledger', 'key', id, ...day);
  assert.match(out, new RegExp(`${nid(12)} +2 +2025-06-18T00:00:00\\+02:00`));
  assert.match(out, /^Data of 2 persons were accessed\.$/m);
  assert.match(out, /^Add all persons of an export, in: A-1\.$/m);
  assert.match(out, /^1 access was to numbers or members that no longer exist\.$/m);
});

test('readings of two services on one database are found, verified and exported together', async (context) => {
  const { app, bank, folder, read, json, run, readingsOf } = await start(context);
  const other = await startApp(context, { ...ON, folder, startMs: app.clock.now() });
  await read(`/members/${nid(1)}`);
  other.clock.advance(1000);
  await read(`/members/${nid(1)}`, {}, other);
  app.clock.advance(2000);
  await read('/members/1');
  assert.deepEqual(await readingsOf(1), [LOOKUP, LOOKUP, '/members/{id} 200 member']);
  const { persons } = await json('ledger', 'key', String(bank.id));
  assert.deepEqual(
    persons.map(({ times }: { times: number }) => times),
    [3],
  );
  const { out } = await run('ledger', 'export', '--key', String(bank.id));
  const chains = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    chains.map(({ chain, key_id }) => [chain, key_id]),
    [1, 1, 1].map((chain) => [chain, bank.id]),
  );
  assert.ok(!out.includes(nid(1)));
  const { sound, chains: verified } = await json('ledger', 'verify');
  assert.deepEqual([sound, verified.length], [true, 1]);
});

test('verify says whether all is sound, and whether it holds the reading of a receipt', async (context) => {
  const { app, folder, read, run, json } = await start(context);
  const receipt = await read(`/members/${nid(1)}`);
  const last = await read('/members/2');
  const { status, out } = await run('ledger', 'verify');
  assert.equal(status, 0);
  const [, sequence, hash] =
    /^Chain 1 of [0-9a-f]{32}: up to (3), hash ([0-9a-f]{64})\n3 entries are sound, in 1 chain.\n$/.exec(
      out,
    ) ?? [];
  assert.equal(`${sequence}-${hash?.slice(0, 32)}`, last);
  const { found, entry } = await json('ledger', 'verify', '--receipt', receipt);
  assert.deepEqual([found, entry.receipt, entry.route], [true, receipt, 'GET /api/v1/members/{id}']);
  const held = await run('ledger', 'verify', '--receipt', receipt.toUpperCase());
  assert.equal(held.status, 0);
  assert.match(held.out, /Bank[\s\S]*The ledger has this access/);
  assert.ok(!held.out.includes(nid(1)));
  const stranger = await startLending(context, ON);
  const foreign = (await stranger.get('/members/1')).headers['x-access-receipt'] as string;
  const changed = receipt.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
  for (const [text, why] of [
    [foreign, /The ledger does not have this access/],
    [changed, /The ledger does not have this access/],
    ['7', /This is not a receipt/],
  ] as const) {
    const refused = await run('ledger', 'verify', '--receipt', text);
    assert.equal(refused.status, 1, text);
    assert.match(refused.out, why);
  }
  await app.registry.close();
  const file = openFile(ledgerPlaceIn(folder).ledgerFile);
  file.run(`UPDATE ledger_batches SET entries = replace(entries, '"members":[2]', '"members":[1]')`);
  file.close();
  const unsound = await run('ledger', 'verify');
  assert.equal(unsound.status, 1);
  assert.match(unsound.out, /^Chain 1, after \d+: the batch of \d+ was changed after it was written/m);
  assert.equal((await run('ledger', 'verify', '--receipt', last)).status, 1);
});

test('readings of everybody come after those that showed the person, with what they mean', async (context) => {
  const { app, folder, read, run, json } = await start(context);
  await read('/members/export');
  app.clock.advance(1000);
  const row = ['members', join(folder, 'members.csv'), '--dry-run'];
  writeFileSync(
    row[1] as string,
    `cooperative_code,identity_card,member_code,full_name\nA-1,${nid(2)},M-2,Person 2\n`,
  );
  assert.equal((await run('import', ...row)).status, 0);
  app.clock.advance(1000);
  await read(`/members/${nid(2)}`);
  const { out } = await run('ledger', 'person', nid(2));
  const [entered, own, others] = out.split('\n\n');
  assert.match(entered ?? '', /^Entered as M-2 at .+ by key 1\.$/);
  assert.match(own ?? '', /^.+\n.+the person.+$/);
  assert.match(others ?? '', /^2 accesses covered all persons.+\n.+\n.+\/export.+\n.+ import /);
  const { entries } = await json('ledger', 'person', nid(2));
  const how = entries.map((entry: { read_as: string }) => entry.read_as);
  assert.deepEqual(how, ['everybody', 'everybody', 'number', 'number'], 'the oldest first');
  const { readings } = await json('persons', 'show', nid(2));
  assert.deepEqual([readings.count, readings.everybody, readings.last.length], [3, 2, 3]);
  assert.match(
    (await run('persons', 'show', nid(2))).out,
    /Accesses, the last 4 of 4\n[\s\S]+2 accesses covered all persons/,
  );
  const onlyExport = await run('ledger', 'person', nid(3));
  assert.match(onlyExport.out, /no entry for this person/);
});

test('verify says that nothing was recorded yet, and without a registry ends with 2', async (context) => {
  const db = join(temporaryFolder(context), 'registry.db');
  const verify = (...more: string[]) => command(['ledger', 'verify', '--db', db, ...more]);
  for (const receipt of [[], ['--receipt', `1-${'0'.repeat(32)}`]])
    assert.deepEqual(await verify(...receipt), {
      ...{ status: 2, out: '', err: `There is no database at ${db}.\n` },
    });
  createEmptyRegistry(db);
  assert.deepEqual(await verify(), { status: 0, out: 'Nothing has been recorded yet.\n', err: '' });
});

test('keys that are gone are named by status and backup, also once their file was begun anew', async (context) => {
  const { app, folder, read, run } = await start(context);
  const gone = /Keys that were in use are missing: \S+registry\.keys\.db was lost or created again\./;
  const said = async (name: string) => {
    const backup = await run('backup', join(folder, name));
    assert.equal(backup.status, 0);
    return [backup.err, (await run('status')).out].map((text) => gone.test(text.replace(/\s+/g, ' ')));
  };
  await read(`/members/${nid(1)}`);
  await app.registry.close();
  assert.deepEqual(await said('before'), [false, false]);
  for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `registry.keys.db${end}`), { force: true });
  assert.deepEqual(await said('without'), [true, true]);
  assert.equal((await run('ledger', 'person', nid(1))).status, 0);
  assert.ok(existsSync(join(folder, 'registry.keys.db')));
  assert.deepEqual(await said('anew'), [true, true]);
});

test('an unknown key, days in the wrong order and a day that is none are refused', async (context) => {
  const { run } = await start(context);
  const expected = 'Expected a day such as 2026-03-01, or an instant such as 2026-03-01T08:00.\n';
  for (const command of [
    ['key', '2'],
    ['export', '--key', '2'],
  ])
    for (const [status, said, ...options] of [
      [2, '--from is later than --to.\n', '--from', '2026-03-02', '--to', '2026-03-01'],
      [2, `--from: ${expected}`, '--from', '2026-13-01'],
      [2, '--to: Dates before 1850-01-01 are not accepted.\n', '--to', '0001-01-01'],
    ] as const) {
      const refused = await run('ledger', ...command, ...options);
      assert.deepEqual(refused, { status, out: '', err: said });
    }
  for (const command of [
    ['key', '99'],
    ['export', '--key', '99'],
  ]) {
    const { status, out, err } = await run('ledger', ...command);
    assert.deepEqual([status, out, err], [1, '', 'There is no key with this id. `keys list` shows all.\n']);
  }
});

test('prune removes nothing once a restore has begun while it asked', async (context) => {
  const place = ledgerPlaceIn(join(await copyRegistry(temporaryFolder(context)), '..'));
  const ledger = place.openLedger();
  for (const days of [1000, 969, 938]) await ledger.record([reading({ timeMs: NOON - days * DAY_MS })]);
  await ledger.close();
  const before = ledgerNames(place);
  const ask = async () => {
    mkdirSync(`${place.databaseFile}.restoring`);
    return 'y';
  };
  const args = ['ledger', 'prune', '--db', place.databaseFile];
  const { status, err } = await command(args, {}, testClock(), { ask });
  assert.match(err, /A restore into .* is running or was interrupted/);
  assert.equal(status, 2);
  assert.deepEqual(
    before.filter((name) => !ledgerNames(place).includes(name)),
    [],
  );
});

test('exports over HTTP, by the command and at the desk are recorded with the same groups of fields', async (context) => {
  const { folder, read, done } = await start(context);
  const { databaseFile } = ledgerPlaceIn(folder);
  const ledger = memoryLedger();
  const browser = await (await testDesk(context, databaseFile, { ledger })).enter();
  const kinds = {
    members: { path: 'members', fields: ['identity', 'contact'] },
    production: { path: 'deliveries', fields: ['identity', 'financials'] },
  };
  for (const [kind, { path, fields }] of Object.entries(kinds)) {
    await read(`/${path}/export`);
    await done('export', kind);
    const saved = await browser.post('/cooperative/A-1', { action: 'export', kind, format: 'csv' });
    assert.equal(saved.status, 200);
    const recorded = [...allEntries({ databaseFile }).slice(-2), ledger.readings.at(-1)];
    assert.deepEqual(
      recorded.map((access) => [access?.route, access?.fields]),
      [`GET /api/v1/${path}/export`, 'export', 'desk /cooperative/:code'].map((route) => [route, fields]),
    );
  }
  await done('export', 'all', '--out', join(folder, 'exported'));
  assert.deepEqual(allEntries({ databaseFile }).at(-1)?.fields, ['identity', 'contact', 'financials']);
});
