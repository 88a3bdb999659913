/** What an import session finds in a file, on every engine. */
import assert from 'node:assert/strict';
import type { ImportFault } from '../../../src/import/files/records.ts';
import {
  accepted,
  allMembers,
  countsOf,
  delivery,
  deposit,
  faultsOf,
  NOW,
  nid,
  person,
  placesOf,
  RECORD,
  refused,
  rowFault,
  SKIPPING,
  STRICT,
  type TestStarted,
} from './import-rows.ts';

export function testChecks(testStarted: TestStarted): void {
  testStarted('one refused row refuses the file', async (_place, session) => {
    const rows = [person(4), person(5, { cooperative_code: 'Z-9' })];
    const file = await refused(session, 'members', rows);
    assert.deepEqual([file.rows, file.refusedRows, file.isFileFaulty], [2, 1, false]);
    assert.deepEqual(await placesOf(file), [[3, 'cooperative_code']]);
  });

  testStarted('refused rows are left out where that is allowed, and still listed', async (place, session) => {
    const rows = [person(4), person(5, { cooperative_code: 'Z-9' }), person(6, { gender: null })];
    const file = await accepted(session, 'members', rows, SKIPPING, [rowFault(4, 'gender')]);
    assert.deepEqual([file.rows, file.refusedRows], [3, 2]);
    assert.deepEqual(await placesOf(file), [
      [3, 'cooperative_code'],
      [4, 'gender'],
    ]);
    assert.deepEqual(countsOf(await file.apply(NOW, RECORD)), [1, 0, 0]);
    assert.equal((await allMembers(place)).length, 4);
  });

  testStarted('a fault of the file refuses it, whatever rows may be left out', async (_place, session) => {
    const fault: ImportFault = { line: 1, column: '', message: 'Wrong.', refuses: 'file' };
    const file = await refused(session, 'members', [person(4)], SKIPPING, [fault]);
    assert.deepEqual([file.isFileFaulty, await faultsOf(file)], [true, [fault]]);
  });

  testStarted(
    'a key that appears twice refuses the later row and names the earlier one',
    async (_, session) => {
      const file = await refused(session, 'members', [person(4), person(5), person(4)]);
      const [fault] = await faultsOf(file);
      assert.deepEqual([fault?.line, fault?.column, fault?.message], [4, 'identity_card', 'Same as line 2.']);
    },
  );

  testStarted('a code, an account and a reference keep their member', async (_place, session) => {
    await (await accepted(session, 'production', [delivery(1, 'P-1', 5)])).apply(NOW, RECORD);
    await (await accepted(session, 'savings', [deposit(1, 'S-1', 'R-1', 5)])).apply(NOW, RECORD);
    for (const [kind, row, column] of [
      ['members', person(2, { member_code: 'M-1' }), 'member_code'],
      ['production', delivery(2, 'P-1', 5), 'reference'],
      ['savings', deposit(2, 'S-1', 'R-2', 5), 'account_number'],
    ] as const) {
      assert.deepEqual(await placesOf(await refused(session, kind, [row])), [[2, column]], kind);
    }
  });

  testStarted(
    'an account keeps its member also where its first row names nobody',
    async (_place, session) => {
      const rows = [7, 1, 2].map((n) => {
        const { member_code: _, ...row } = deposit(n, 'S-1', `R-${n}`, 5);
        return { ...row, identity_card: nid(n) };
      });
      const file = await accepted(session, 'savings', rows, SKIPPING);
      assert.deepEqual(await placesOf(file), [
        [2, 'identity_card'],
        [4, 'account_number'],
      ]);
    },
  );

  testStarted(
    '20 national IDs that all end in 0 refuse the file, unless they are accepted',
    async (_, session) => {
      const rows = Array.from({ length: 20 }, (_value, i) =>
        person(100 + i, { identity_card: `11985890001${String(i).padStart(2, '0')}040` }),
      );
      const file = await refused(session, 'members', rows, SKIPPING);
      assert.equal(file.isFileFaulty, true);
      assert.equal((await refused(session, 'members', rows)).faults, 1);
      await accepted(session, 'members', rows, { ...STRICT, acceptTrailingZero: true });
      await accepted(session, 'members', rows.slice(1));
    },
  );

  testStarted(
    'a file that is kept for reference lets the next ones refer to it, and is not written',
    async (place, session) => {
      await (
        await accepted(session, 'cooperatives', [{ code: 'C-3', name: 'Cyuzuzo' }])
      ).referToFromNextFiles();
      const fourth = person(4, { cooperative_code: 'C-3' });
      await (await accepted(session, 'members', [fourth])).referToFromNextFiles();
      await accepted(session, 'production', [{ ...delivery(4, 'P-1', 5), cooperative_code: 'C-3' }]);
      const another = person(5, { cooperative_code: 'C-3', member_code: 'M-4' });
      assert.deepEqual(await placesOf(await refused(session, 'members', [another])), [[2, 'member_code']]);
      const next = await place.openSession();
      await refused(next, 'members', [fourth]);
      await next.close();
      assert.equal((await allMembers(place)).length, 3);
    },
  );
}
