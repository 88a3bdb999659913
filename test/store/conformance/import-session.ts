/**
 * What an import session does on every engine. An engine registers these tests with a way to open sessions on
 * an empty registry; nothing here knows where it is stored.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ImportSession } from '../../../src/import/staging/import-session.ts';
import { IMPORT_COLUMNS } from '../../../src/import/table/columns.ts';
import { type Awaitable, RegistryError } from '../../../src/values/errors.ts';
import { testChanges } from './import-changes.ts';
import { testChecks } from './import-checks.ts';
import { testPayments } from './import-payments.ts';
import {
  accepted,
  allMembers,
  COOPERATIVES,
  changesOf,
  countsOf,
  faultsOf,
  type ImportPlace,
  NOW,
  nid,
  person,
  RECORD,
  refused,
  rowFault,
  SKIPPING,
  STRICT,
  start,
  type TestStarted,
} from './import-rows.ts';
import { testJournal } from './journal.ts';

/** @param open gives an empty registry, closed after the test */
export function testImportSession(
  engine: string,
  open: (context: TestContext) => Awaitable<ImportPlace>,
): void {
  const testStarted = (title: string, run: (place: ImportPlace, session: ImportSession) => Promise<void>) =>
    test(`${engine}: ${title}`, async (context) => {
      const place = await open(context);
      await start(place);
      const session = await place.openSession();
      context.after(() => session.close());
      await run(place, session);
    });

  testStaging(testStarted);
  testChecks(testStarted);
  testChanges(testStarted);
  testOrderOfCalls(testStarted);
  testOtherWriters(testStarted);
  testJournal(testStarted);
  testPayments(testStarted);

  test(`${engine}: a registry is empty until a file is applied`, async (context) => {
    const place = await open(context);
    const session = await place.openSession();
    context.after(() => session.close());
    assert.equal(await session.isRegistryEmpty(), true);
    const file = await accepted(session, 'cooperatives', COOPERATIVES);
    assert.equal(await session.isRegistryEmpty(), true);
    await file.apply(NOW, RECORD);
    assert.equal(await session.isRegistryEmpty(), false);
  });
}

function testStaging(testStarted: TestStarted): void {
  testStarted('nothing of a file is in the registry until it is applied', async (place, session) => {
    const file = await accepted(session, 'members', [person(4)]);
    assert.equal((await allMembers(place)).length, 3);
    const { lockMs, ...changes } = await file.apply(NOW, RECORD);
    assert.deepEqual([countsOf(changes), lockMs >= 0], [[1, 0, 0], true]);
    assert.equal((await allMembers(place)).length, 4);
  });

  testStarted('rows of many batches get ids in order of line', async (place, session) => {
    const numbers = Array.from({ length: 95 }, (_, i) => 10 + ((i * 37) % 95));
    const staging = await session.stage('members', new Set(Object.keys(person(1))));
    const names = IMPORT_COLUMNS.members.map(({ name }) => name);
    for (const [i, n] of numbers.entries()) {
      const row = person(n);
      await staging.addRows([{ line: i + 2, values: names.map((name) => row[name] ?? null) }]);
    }
    const checked = await staging.check(STRICT);
    assert.ok(!checked.isRefused);
    assert.deepEqual(countsOf(await checked.apply(NOW, RECORD)), [95, 0, 0]);
    const added = (await allMembers(place)).filter(({ id }) => id > 3).sort((a, b) => a.id - b.id);
    assert.deepEqual(
      added.map(({ memberCode }) => memberCode),
      numbers.map((n) => `M-${n}`),
    );
  });

  testStarted('a batch may be empty, and a file without rows changes nothing', async (_place, session) => {
    const file = await accepted(session, 'members', []);
    assert.deepEqual([file.rows, file.faults, countsOf(await file.apply(NOW, RECORD))], [0, 0, [0, 0, 0]]);
  });

  testStarted(
    'faults are listed in order of line, then as they were found, as often as asked',
    async (_, session) => {
      // More than one page of them, however large an engine's pages are.
      const faults = Array.from({ length: 2_600 }, (_value, i) =>
        rowFault(2_600 - i, i % 2 === 0 ? 'x' : 'y'),
      );
      const more = [rowFault(7, 'first'), rowFault(7, 'second')];
      const file = await refused(session, 'members', [], STRICT, [...more, ...faults]);
      const listed = await faultsOf(file);
      assert.deepEqual([file.faults, file.refusedRows, listed.length], [2_602, 2_600, 2_602]);
      assert.deepEqual(
        listed.map(({ line }) => line),
        listed.map(({ line }) => line).sort((a, b) => a - b),
      );
      const seventh = listed.filter(({ line }) => line === 7).map(({ column }) => column);
      assert.deepEqual(seventh, ['first', 'second', 'y']);
      assert.deepEqual(await faultsOf(file), listed);
    },
  );

  testStarted(
    'faults may be listed only in part, and the file applied while they are',
    async (place, session) => {
      const faults = [rowFault(2, 'gender'), rowFault(3, 'gender')];
      const rows = [person(4), person(5), person(6)];
      const file = await accepted(session, 'members', rows, SKIPPING, faults);
      for await (const fault of file.listFaults()) {
        assert.equal(fault.line, 2);
        await file.apply(NOW, RECORD);
        break;
      }
      assert.equal((await allMembers(place)).length, 4);
    },
  );
}

function testOrderOfCalls(testStarted: TestStarted): void {
  testStarted('a checked file takes no more rows and is not checked again', async (_place, session) => {
    const staging = await session.stage('cooperatives', new Set(['code', 'name']));
    await staging.check(STRICT);
    await assert.rejects(async () => staging.addRows([]));
    await assert.rejects(async () => staging.addFaults([]));
    await assert.rejects(async () => staging.check(STRICT));
  });

  testStarted('a file is applied or kept once', async (place, session) => {
    const applied = await accepted(session, 'members', [person(4)]);
    await applied.apply(NOW, RECORD);
    await assert.rejects(async () => applied.apply(NOW, RECORD));
    await assert.rejects(async () => changesOf(applied));
    const kept = await accepted(session, 'members', [person(5)]);
    await kept.referToFromNextFiles();
    await assert.rejects(async () => kept.apply(NOW, RECORD));
    assert.equal((await allMembers(place)).length, 4);
  });

  testStarted('staging another file discards the one before', async (place, session) => {
    const first = await accepted(session, 'members', [person(4)]);
    const second = await session.stage('members', new Set(Object.keys(person(1))));
    await assert.rejects(async () => first.apply(NOW, RECORD));
    await second.check(STRICT);
    assert.equal((await allMembers(place)).length, 3);
  });
}

function testOtherWriters(testStarted: TestStarted): void {
  const create = ({ registry }: ImportPlace, n: number, memberCode: string) =>
    registry.members.create(
      {
        ...{ cooperativeId: 1, identityCard: nid(n), memberCode, fullName: 'Meanwhile' },
        ...{ firstName: null, lastName: null, gender: null, dateOfBirth: null, mobile: null },
        ...{ role: 'MEMBER', status: 'active', registrationDate: NOW },
      },
      NOW,
      'key:1',
    );

  testStarted(
    'a code that was taken since the check refuses the file, and nothing of it is written',
    async (place, session) => {
      for (const options of [STRICT, SKIPPING]) {
        const taken = options === STRICT ? 10 : 11;
        const file = await accepted(session, 'members', [person(20), person(taken)], options);
        await create(place, taken + 500, `M-${taken}`);
        await assert.rejects(
          async () => file.apply(NOW, RECORD),
          (error) => error instanceof RegistryError && error.code === 'unavailable',
        );
        const codes = (await allMembers(place)).map(({ memberCode }) => memberCode);
        assert.equal(codes.includes('M-20'), false);
      }
    },
  );

  testStarted('a person who was added since the check is updated', async (place, session) => {
    const file = await accepted(session, 'members', [person(10), person(11)]);
    await create(place, 10, 'M-10');
    assert.deepEqual(countsOf(await file.apply(NOW, RECORD)), [1, 1, 0]);
    const found = (await allMembers(place)).filter(({ identityCard }) => identityCard === nid(10));
    assert.deepEqual(
      found.map(({ fullName }) => fullName),
      ['Person 10'],
    );
  });

  testStarted('the service writes while a file is staged and checked', async (place, session) => {
    const staging = await session.stage('members', new Set(Object.keys(person(1))));
    await create(place, 30, 'M-30');
    await staging.check(STRICT);
    await create(place, 31, 'M-31');
    assert.equal((await allMembers(place)).length, 5);
  });
}
