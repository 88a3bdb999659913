/** The mirror equals the registry, whatever changes and whatever is killed (docs/mirror.md). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, ROOT } from '../../../test/torture/faults.ts';
import { openDatabase } from '../src/database.ts';
import { Changes, randomOf } from './changes.ts';
import { Cluster, POSTGRES } from './cluster.ts';
import { differences } from './compare.ts';
import {
  CRASHING,
  EARLIER_RELEASE,
  ERASURE_IGNORED,
  KILLED_AT_COMMIT,
  MERGED_KEPT,
  NOT_VACUUMED,
  POSITION_OUTSIDE,
  SHAPE_IGNORED,
} from './faults.ts';
import { FlakyProxy } from './flaky-proxy.ts';
import { MirrorProcess, Registry } from './processes.ts';

const skip = POSTGRES === undefined && 'This machine lacks PostgreSQL: apt-get install postgresql.';
const SEED = Number(process.env.MIRROR_SEED ?? Date.now() % 100_000);
const ROUNDS = Number(process.env.MIRROR_ROUNDS ?? 2);

const cluster = new Cluster();
const registry = new Registry();

before(async () => {
  if (skip === false) await Promise.all([cluster.create(), registry.create()]);
});
after(async () => {
  await registry.remove();
  await cluster.remove();
});

/** @param most persons who are looked up */
const same = async (most?: number) => assert.deepEqual(await differences(cluster, registry, most), []);

test('after random changes and kills of all three, the mirror equals the registry', {
  skip,
}, async (context) => {
  const changes = new Changes(registry, SEED);
  const proxy = new FlakyProxy(() => registry.port, randomOf(SEED));
  const address = { REGISTRY_URL: `http://127.0.0.1:${await proxy.start()}` };
  const mirror = new MirrorProcess(cluster, registry, [], address);
  context.diagnostic(`MIRROR_SEED=${SEED}`);
  mirror.start();
  try {
    await mirror.caughtUp();
    await same(200);
    // Each kind of change, in an order of its own, and random ones between them.
    const names = Object.keys(changes.kinds).sort(() => changes.below(3) - 1);
    const perRound = Math.ceil(names.length / ROUNDS);
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of names.slice(round * perRound, (round + 1) * perRound)) {
        await changes.make(name);
        await changes.make();
        await killSome(changes.below, mirror);
      }
      await mirror.caughtUp();
      await same(round === ROUNDS - 1 ? undefined : 200);
    }
  } finally {
    await mirror.kill();
    proxy.stop();
    const texts = [changes.made, changes.refused].map((counts) => JSON.stringify(Object.fromEntries(counts)));
    context.diagnostic(`made ${texts[0]}, refused ${texts[1]}`);
    context.diagnostic(`the proxy refused ${proxy.refused} requests and broke off ${proxy.broken} answers`);
  }
  assert.doesNotMatch(mirror.output, /crs_|[0-9]{16}/);
});

/** At a random instant after a change: the mirror, the service, the database, or nothing. */
async function killSome(below: (end: number) => number, mirror: MirrorProcess): Promise<void> {
  const killed = below(8);
  await sleep(killed <= 2 ? below(400) : 0);
  if (killed === 0) {
    await mirror.kill();
    mirror.start();
  } else if (killed === 1) {
    await registry.kill();
    await registry.start();
  } else if (killed === 2) {
    await cluster.kill();
    await cluster.start();
  }
}

/** Follows one change with some faults, then without. @returns what differs */
async function afterFault(faults: readonly Fault[], ...names: readonly string[]): Promise<string[]> {
  const healthy = new MirrorProcess(cluster, registry);
  const faulty = new MirrorProcess(cluster, registry, faults);
  const changes = new Changes(registry, SEED + names.length);
  healthy.start();
  await healthy.caughtUp();
  await healthy.kill();
  for (const name of names) while (!changes.made.has(name)) await changes.make(name);
  const running = faulty.start();
  if (faults.includes(KILLED_AT_COMMIT)) await running.ended;
  else await faulty.caughtUp();
  await faulty.kill();
  healthy.start();
  try {
    await healthy.caughtUp();
    return await differences(cluster, registry, 100);
  } finally {
    await healthy.kill();
    await cluster.ask(
      'UPDATE registry.mirror_state SET epoch = NULL, must_vacuum = false',
      [],
      cluster.url(),
    );
  }
}

test('a mirror that is killed before its commit loses nothing, and its position is in that commit', {
  skip,
}, async () => {
  assert.deepEqual(await afterFault([KILLED_AT_COMMIT], 'new member', 'delivery'), []);
  assert.notDeepEqual(await afterFault([KILLED_AT_COMMIT, POSITION_OUTSIDE], 'new member', 'delivery'), []);
});

test('this comparison sees an erasure that is ignored, and a merge that keeps the old member', {
  skip,
}, async () => {
  assert.notDeepEqual(await afterFault([ERASURE_IGNORED], 'erasure'), []);
  assert.notDeepEqual(await afterFault([MERGED_KEPT], 'merge'), []);
  assert.deepEqual(await afterFault([], 'erasure', 'merge'), []);
});

test('the example queries have answers', { skip }, async () => {
  // Random changes may have settled every loan that was late.
  const { rows: members } = await registry.export('members');
  const late = { reference: 'LATE', status: 'approved', amount: '1000', loan_end_date: '2025-01-31' };
  const body = {
    ...late,
    interest_rate: '5',
    member_id: members.find(({ status }) => status === 'active').id,
  };
  assert.equal((await registry.ask('POST', '/loans', body)).status, 201);
  const mirror = new MirrorProcess(cluster, registry);
  mirror.start();
  await mirror.caughtUp();
  await mirror.kill();
  const examples = readFileSync(join(ROOT, 'deploy/mirror/examples.sql'), 'utf8');
  const queries = examples.split(/;\n/).filter((query) => query.trim() !== '');
  assert.equal(queries.length, 8);
  for (const query of queries) {
    const rows = await cluster.ask(`SET ROLE analyst; ${query}`, [], cluster.url());
    assert.ok(rows.length > 0, query);
  }
});

/** Whether a text is in a file of the tables. */
function isOnDisk(text: string): boolean {
  const folder = join(cluster.data, 'base');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text));
}

test('the national ID of an erased person is in no file of the tables', { skip }, async () => {
  for (const faults of [[NOT_VACUUMED], []]) {
    const mirror = new MirrorProcess(cluster, registry, faults);
    mirror.start();
    await mirror.caughtUp();
    const { rows } = await registry.export('members');
    const { identity_card } = rows.at(-1);
    await cluster.ask('CHECKPOINT');
    assert.ok(isOnDisk(identity_card));
    await registry.run('persons', 'erase', identity_card, '--reason', 'Test', '--yes');
    await mirror.caughtUp();
    await mirror.kill();
    await cluster.ask('CHECKPOINT');
    assert.equal(isOnDisk(identity_card), faults.length > 0);
  }
});

test('tables of another release get the columns of this one, and the views of others stay', {
  skip,
}, async () => {
  const changes = new Changes(registry, SEED);
  const run = async (...faults: Fault[]) => {
    const mirror = new MirrorProcess(cluster, registry, faults);
    await changes.make('new member');
    mirror.start();
    await mirror.caughtUp();
    await mirror.kill();
  };
  const find = () =>
    cluster.ask(
      `SELECT attname FROM pg_attribute
       WHERE attrelid = 'registry.savings_transactions'::regclass AND attname = 'reference'`,
      [],
      cluster.url(),
    );
  await run();
  await cluster.ask(
    `CREATE SCHEMA ours; CREATE VIEW ours.savings AS
       SELECT member_id, sum(amount) AS amount FROM registry.savings_transactions GROUP BY member_id`,
    [],
    cluster.url(),
  );
  await run(EARLIER_RELEASE);
  assert.deepEqual(await find(), []);
  await run(SHAPE_IGNORED);
  assert.deepEqual(await find(), []);
  await run();
  assert.equal((await find()).length, 1);
  await same(100);
  assert.ok((await cluster.ask('SELECT * FROM ours.savings', [], cluster.url())).length > 0);
});

test('what a role sets for its sessions neither ends a statement nor changes how dates are read', {
  skip,
}, async () => {
  const settings = {
    datestyle: 'German',
    statement_timeout: '300ms',
    idle_session_timeout: '300ms',
    idle_in_transaction_session_timeout: '300ms',
  };
  const alter = (end: (name: string, value: string) => string) =>
    cluster.ask(
      Object.entries(settings)
        .map(([name, value]) => `ALTER ROLE mirror ${end(name, value)}`)
        .join('; '),
    );
  await alter((name, value) => `SET ${name} = '${value}'`);
  const database = await openDatabase(cluster.url(), () => {}, new AbortController().signal);
  try {
    await database.setState({ current_at: new Date() });
    assert.ok((await database.state()).current_at instanceof Date);
    await database.transaction(async () => {
      await database.query('SELECT pg_sleep(0.7)');
      await sleep(700);
    });
    await sleep(700);
    await database.state();
  } finally {
    await database.client.end();
    await alter((name) => `RESET ${name}`);
  }
});

test('of two mirrors one waits, and takes over when the other is killed', { skip }, async () => {
  const mirrors = [new MirrorProcess(cluster, registry), new MirrorProcess(cluster, registry)] as const;
  const waiting = mirrors.map((mirror) => mirror.start().waitFor('another mirror keeps this database'));
  // Of the one that keeps it, the promise rejects at its end.
  const second = await Promise.any(waiting.map((each, i) => each.then(() => i)));
  await (mirrors[1 - second] as MirrorProcess).kill();
  await new Changes(registry, SEED).make('new member');
  await mirrors[second]?.caughtUp();
  assert.equal(await mirrors[second]?.kill('SIGTERM'), 0);
  await same(100);
});

test('what stays ends it with status 1, wrong settings with status 2 and all of them at once', {
  skip,
}, async () => {
  const run = async (env: NodeJS.ProcessEnv) => {
    const running = new MirrorProcess(cluster, registry).start(env);
    return [await running.ended, running.output()] as const;
  };
  const [status, output] = await run({ REGISTRY_URL: 'registry', REGISTRY_KEY: '', DATABASE_URL: 'x' });
  assert.equal(status, 2);
  assert.deepEqual(output.match(/^\w+(?=:)/gm), ['REGISTRY_URL', 'REGISTRY_KEY', 'DATABASE_URL']);
  const lacking = await registry.createKey('members:read,webhooks:receive');
  const disabled = await registry.createKey('members:read');
  await registry.run('keys', 'disable', registry.newestKeyId);
  const cases: [NodeJS.ProcessEnv, RegExp][] = [
    [{ REGISTRY_KEY: `crs_${'x'.repeat(36)}` }, /status 401/],
    [{ REGISTRY_KEY: lacking }, /lacks cooperatives:read, .*--allow-export/],
    [{ REGISTRY_KEY: disabled }, /status 401|lacks/],
    [{ DATABASE_URL: cluster.url('mirror', 'nothing') }, /3D000 \(no such database\)/],
  ];
  for (const [env, text] of cases) {
    const [ended, said] = await run(env);
    assert.equal(ended, 1, said);
    assert.match(said, text);
    assert.doesNotMatch(said, /crs_/);
  }
});

test('an unexpected error ends it with a status after which systemd starts it again', { skip }, async () => {
  const crashing = new MirrorProcess(cluster, registry, [CRASHING]).start();
  const status = await crashing.ended;
  assert.match(crashing.output(), /TypeError: planted/);
  const unit = readFileSync(join(ROOT, 'deploy/mirror/registry-mirror.service'), 'utf8');
  const stays = /^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1]?.split(' ');
  assert.ok(status !== 0 && !stays?.includes(String(status)), `status ${status}, stays down after ${stays}`);
});

test('an analyst sees the record of a person, and no national ID', { skip }, async () => {
  const url = cluster.url();
  const ask = (text: string) => cluster.ask(`SET ROLE analyst; ${text}`, [], url);
  await ask('SELECT count(*) FROM registry.people');
  for (const table of ['national_ids', 'people'])
    await assert.rejects(ask(`SELECT * FROM registry_private.${table}`), { code: '42501' });
  const columns = await cluster.ask(
    "SELECT column_name FROM information_schema.columns WHERE table_schema = 'registry'",
    [],
    url,
  );
  assert.ok(columns.length > 50);
  assert.ok(!columns.some(({ column_name }) => column_name === 'identity_card'));
  const uncommented = await cluster.ask(
    `SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
     WHERE c.relkind = 'r' AND c.relnamespace = 'registry'::regnamespace AND c.relname NOT LIKE '%empty%'
     AND a.attname <> 'id' AND NOT a.attisdropped AND col_description(c.oid, a.attnum) IS NULL`,
    [],
    url,
  );
  assert.deepEqual(uncommented, []);
});
