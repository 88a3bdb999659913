/** A registry belongs to the time zone of the program that created it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp, temporaryFolder } from '../support/app.ts';
import { command } from '../support/command.ts';
import { copyRegistry } from '../support/sample-registry.ts';

const ELSEWHERE = { TIME_ZONE_OFFSET: '-03:30' };

async function start(context: TestContext) {
  const db = await copyRegistry(temporaryFolder(context));
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}, answer?: string) =>
    command([...args, '--db', db], env, undefined, answer === undefined ? {} : { ask: async () => answer });
  return { db, run };
}

const REFUSED =
  / is in the time zone \+02:00, and TIME_ZONE_OFFSET is -03:30\. Set TIME_ZONE_OFFSET=\+02:00, or move /;

test('a command of another time zone changes nothing, and says which one to set', async (context) => {
  const { run, db } = await start(context);
  const before = await run(['statistics', '--json']);
  assert.equal(before.status, 0, before.err);
  for (const args of [['members', 'find', 'Uwase'], ['statistics'], ['check'], ['status'], ['summarize']]) {
    const { status, out, err } = await run(args, ELSEWHERE);
    assert.deepEqual([status, out], [2, ''], args.join(' '));
    assert.match(err, REFUSED);
  }
  await assert.rejects(startApp(context, { folder: join(db, '..'), settings: ELSEWHERE }), /time zone/);
  const after = await run(['statistics', '--json']);
  const sums = ({ out }: typeof after) => ({ ...JSON.parse(out), as_of: '' });
  assert.deepEqual(sums(after), sums(before));
});

test('time-zone shows the zone, asks before it moves the registry, and moves it', async (context) => {
  const { run, db } = await start(context);
  assert.deepEqual(await run(['time-zone'], ELSEWHERE), {
    ...{ status: 0, err: '', out: `${db} is in the time zone +02:00.\n` },
  });
  const move = ['time-zone', '--to', '-03:30'];
  const unasked = await run(move);
  assert.deepEqual([unasked.status, unasked.out], [1, '']);
  assert.match(unasked.err, /would move from \+02:00 to -03:30:\n- [\s\S]*add --yes/);
  assert.equal((await run(move, {}, 'n')).status, 1);
  const dry = await run([...move, '--dry-run', '--json']);
  assert.deepEqual(JSON.parse(dry.out), { database: db, timeZone: '+02:00' });
  assert.equal((await run(['check'])).status, 0);

  const moved = await run(move, {}, 'y');
  assert.deepEqual([moved.status, moved.out], [0, `${db} is in the time zone -03:30.\n`]);
  const check = await run(['check'], ELSEWHERE);
  assert.equal(check.status, 0, check.out);
  assert.match(check.out, /read model out of date +ok, 0\n/);
  // Without a setting, that of the registry counts; one that differs is refused.
  assert.equal((await run(['check'])).status, 0);
  assert.equal((await run(['check'], { TIME_ZONE_OFFSET: '+02:00' })).status, 2);
});

test('a registry that is served is not moved', async (context) => {
  const { run, db } = await start(context);
  await startApp(context, { folder: join(db, '..') });
  const { status, err } = await run(['time-zone', '--to', 'Z', '--yes']);
  assert.equal(status, 1);
  assert.match(err, /has \S+ open\. Stop the service and every command on it, then try again\.\n$/);
});

test('a backup is restored only under its own time zone', async (context) => {
  const { run, db } = await start(context);
  const backup = join(db, '..', '..', 'backup');
  assert.equal((await run(['backup', backup])).status, 0);
  const { status, err } = await run(['restore', backup, '--replace'], ELSEWHERE);
  assert.equal(status, 2);
  const ours = 'The backup is in the time zone +02:00, and TIME_ZONE_OFFSET is -03:30.';
  assert.ok(err.includes(`${ours} Restore it without this setting.\n`), err);
  assert.equal((await run(['check'])).status, 0);
  assert.equal((await run(['restore', backup, '--replace'])).status, 0);
});

test('without a setting a process takes the zone of the registry, and a restore that of the backup', async (context) => {
  const { run, db } = await start(context);
  const backup = join(db, '..', '..', 'backup');
  assert.equal((await run(['backup', backup])).status, 0);
  assert.equal((await run(['time-zone', '--to', '-03:30', '--yes'])).status, 0);
  const restored = await run(['restore', backup, '--replace', '--json']);
  assert.equal(restored.status, 0, restored.err);
  assert.equal(JSON.parse(restored.out).sound, true);
  assert.match((await run(['time-zone'])).out, /is in the time zone \+02:00/);
  assert.equal((await run(['time-zone', '--to', '-03:30', '--yes'])).status, 0);
  const app = await startApp(context, { folder: join(db, '..') });
  const { key } = app.issue(['cooperatives:read'], {});
  const { json } = await app.send('/cooperatives/1', { key });
  assert.match(JSON.stringify(json), /-03:30"/);
});

test('there is no zone to show where there is no registry', async (context) => {
  const { status, err } = await command(['time-zone', '--db', join(temporaryFolder(context), 'x.db')]);
  assert.deepEqual([status, /^No registry .* can be read at/.test(err)], [2, true]);
});
