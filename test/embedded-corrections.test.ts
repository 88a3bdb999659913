/** `registry.corrections`, for programs that embed the registry (docs/embedding.md). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRegistry, RegistryError } from '../src/index.ts';
import { temporaryFolder } from './support/app.ts';
import { importPlace, member, members, nid } from './support/importing.ts';
import { openFile } from './support/sqlite.ts';

test('an embedding program corrects people as the commands do, and undoes it', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await place.load('members', members(member(1), member(2), member(3)));
  const registry = openRegistry({ db: place.databaseFile });
  context.after(() => registry.close());
  const { corrections } = registry;
  const why = { reason: 'test', user: 'back office' };
  const dry = await corrections.replaceIdentityCard(nid(1), nid(9), { ...why, isDryRun: true });
  assert.deepEqual([dry.outcome, dry.outcome === 'done' && dry.correctionId], ['done', null]);
  const ids = [];
  for (const result of [
    await corrections.replaceIdentityCard(nid(1), nid(9), why),
    await corrections.releaseIdentityCard(nid(1), why),
    await corrections.mergeMembers(2, 3, why),
    await corrections.moveMember(1, 'B-2', why),
    await corrections.mergeCooperatives('B-2', 'A-1', why),
  ])
    ids.push(result.outcome === 'done' ? result.correctionId : result.message);
  assert.deepEqual(ids, [3, 4, 5, 6, 7]);
  assert.equal(place.value('SELECT system_user FROM operations WHERE id = 3'), 'back office');
  assert.equal((await corrections.undo(6, { user: 'tester' })).outcome, 'refused');
  for (const id of [7, 6, 5, 4, 3])
    assert.equal((await corrections.undo(id, { user: 'tester' })).outcome, 'undone');
  assert.equal((await corrections.mergeMembers(1, 1, why)).outcome, 'refused');
  await assert.rejects(corrections.mergeMembers(1, 2, { ...why, reason: '' }), RegistryError);
});

test('an embedding program says that two people are one, and gives one membership another number', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await place.load('members', members(member(1), member(1, 'B-2'), `B-2,${nid(2)},M-2,Uwase Rose`));
  const registry = openRegistry({ db: place.databaseFile });
  context.after(() => registry.close());
  const { replaceIdentityCard } = registry.corrections;
  const why = { reason: 'test', user: 'back office' };
  const contradictions = ['names without a common word'];
  for (const more of [{}, { samePerson: false }, { isDryRun: true }]) {
    const refused = await replaceIdentityCard(nid(1), nid(2), { ...why, ...more });
    assert.equal(refused.outcome, 'refused');
    assert.deepEqual(refused.compared, { memberIds: [[1, 2], [3]], contradictions });
  }
  assert.equal((await registry.members.get(1))?.identity_card, nid(1));
  const split = await replaceIdentityCard(nid(1), nid(9), { ...why, memberId: '2' });
  assert.equal(split.outcome, 'done', JSON.stringify(split));
  assert.equal((await registry.members.get(2))?.identity_card, nid(9));
  const joined = await replaceIdentityCard(nid(1), nid(2), { ...why, samePerson: true });
  assert.deepEqual([joined.outcome, joined.compared?.memberIds], ['done', [[1], [3]]]);
  assert.equal((await registry.members.get(1))?.identity_card, nid(2));
  for (const [options, fault] of [
    [{ ...why, samePerson: 'yes' }, 'samePerson: Expected a value of type boolean.'],
    [{ ...why, memberId: 'x' }, 'memberId: Expected an id: 1 to 12 digits.'],
  ] as const) {
    const error = await replaceIdentityCard(nid(1), nid(2), options as never).catch(
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof RegistryError && error.message === fault, String(error));
  }
});

test('an embedding program transfers a member, records a death and erases a person', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  await place.load('members', members(member(1), member(2)));
  const registry = openRegistry({ db: place.databaseFile });
  context.after(() => registry.close());
  const { corrections } = registry;
  const why = { reason: 'test', user: 'back office' };
  const [one] = (await registry.members.list({ identity_card: nid(1) })).results;
  assert.ok(one);
  const transfer = { to: 'B-2', memberCode: 'B-9', on: '2025-06-16' };
  assert.equal((await corrections.transferMember(one.id, transfer, why)).outcome, 'done');
  const [membership] = (await registry.lookUp(nid(1)))?.memberships ?? [];
  assert.deepEqual(
    [membership?.cooperative.code, membership?.member_code, membership?.registration_date],
    ['B-2', 'B-9', '2025-06-16T00:00:00+02:00'],
  );
  assert.equal((await corrections.recordDeath(nid(2), '2025-06-17', why)).outcome, 'done');
  assert.equal((await registry.members.get(2))?.status, 'deceased');
  assert.equal((await corrections.erasePerson(nid(2), { ...why, isDryRun: true })).outcome, 'done');
  await registry.members.get(2);
  const erased = await corrections.erasePerson(nid(2), why);
  assert.ok(erased.outcome === 'done' && !erased.notes.some((note) => note.includes('Another process')));
  assert.equal(await registry.lookUp(nid(2)), undefined);

  for (const [work, fault] of [
    [
      () => corrections.transferMember(1, { ...transfer, on: '2999-01-01' }, why),
      'on: This date is in the future.',
    ],
    [
      () => corrections.transferMember(1, { to: 'B-2' } as never, why),
      'memberCode: It is required. on: It is required.',
    ],
    [() => corrections.recordDeath(nid(1), '3 May', why), 'on: Date has wrong format.'],
    [() => corrections.erasePerson(5 as never, why), 'nid: Not a valid string.'],
    [() => corrections.mergeMembers('A-1', 2, why), 'fromId: Expected an id: 1 to 12 digits.'],
    [() => corrections.moveMember(1, '', why), 'code: '],
    [() => corrections.moveMember(1, 'B-2', { reason: 'x' } as never), 'user: It is required.'],
    [
      () => corrections.moveMember(1, 'B-2', { ...why, dryRun: true } as never),
      'dryRun: There is no such option.',
    ],
    [
      () => corrections.moveMember(1, 'B-2', undefined as never),
      'reason: It is required. user: It is required.',
    ],
    [
      () => corrections.erasePerson(nid(1), { ...why, user: `clerk for ${nid(1)}` }),
      'user: Write a name without a national ID.',
    ],
    [() => corrections.erasePerson(nid(1), { ...why, user: 'a\u0007b' }), 'user: Control, text-direction'],
    [() => corrections.erasePerson(nid(1), { ...why, user: 'x'.repeat(101) }), 'user: Ensure this field'],
    [
      () => corrections.erasePerson(nid(1), { ...why, reason: `asked by ${nid(1)}` }),
      'reason: Write the reason without national IDs.',
    ],
    [
      () => Reflect.apply(corrections.undo, undefined, [1, { user: 'tester', isDryRun: true }]),
      'isDryRun: There is no such option.',
    ],
    [() => corrections.undo('x', { user: 'tester' }), 'id: Expected an id: 1 to 12 digits.'],
  ] as const) {
    const error = await work().catch((reason: unknown) => reason);
    assert.ok(error instanceof RegistryError && error.code === 'invalid', `${fault} ${error}`);
    assert.ok(error.message.startsWith(fault), `${error.message} instead of ${fault}`);
  }
});

test('every function of an embedding program refuses an argument too many, such as an option that it has not', async (context) => {
  const registry = openRegistry({ db: join(temporaryFolder(context), 'registry.db') });
  context.after(() => registry.close());
  const { handler, failed, listen, close, ...functions } = registry;
  let count = 0;
  const tryAll = async (object: object): Promise<void> => {
    for (const [name, each] of Object.entries(object)) {
      if (typeof each !== 'function') await tryAll(each);
      else {
        count++;
        const call = async () => each(...Array(5).fill({}));
        await assert.rejects(call, /^RegistryError: arguments: Expected \d at most\.$/, name);
      }
    }
  };
  await tryAll(functions);
  assert.ok(count >= 30, `${count} functions`);
});

test('a correction of an embedding program does not wait while another process has the lock', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  const registry = openRegistry({ db: file });
  context.after(() => registry.close());
  const other = openFile(file);
  other.exec('BEGIN IMMEDIATE');
  const startedMs = performance.now();
  const isUnavailable = (error: unknown) => error instanceof RegistryError && error.code === 'unavailable';
  await assert.rejects(registry.corrections.mergeMembers(1, 2, { reason: 'x', user: 'y' }), isUnavailable);
  await assert.rejects(registry.corrections.undo(1, { user: 'tester' }), isUnavailable);
  assert.ok(performance.now() - startedMs < 2_000);
  other.exec('ROLLBACK');
  other.close();
});
