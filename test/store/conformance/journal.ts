/** What is recorded of imports and writes, and how an import is undone, on every engine. */
import assert from 'node:assert/strict';
import type { ImportSession } from '../../../src/import/staging/import-session.ts';
import type { History, RowHistory } from '../../../src/journal/history-commands.ts';
import type { Journal, RecordedChange } from '../../../src/journal/undo.ts';
import type { ImportKind } from '../../../src/registry/file-columns.ts';
import type { Member } from '../../../src/registry/members.ts';
import type { Actor } from '../../../src/sqlite/entity-store.ts';
import {
  accepted,
  allMembers,
  type Cells,
  COOPERATIVES,
  delivery,
  deposit,
  type ImportPlace,
  LATER,
  loan,
  NOW,
  nextIteration,
  nid,
  person,
  RECORD,
  type TestStarted,
} from './import-rows.ts';

/** @returns the id of the import */
const load = async (
  session: ImportSession,
  kind: ImportKind,
  rows: readonly Cells[],
  sha256 = RECORD.sha256,
) => (await (await accepted(session, kind, rows)).apply(NOW, { ...RECORD, sha256 })).importId;

async function withLog<T>(place: ImportPlace, work: (log: Journal) => Promise<T>): Promise<T> {
  const log = await place.openJournal();
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

const undo = (place: ImportPlace, id: number, listed = 20) =>
  withLog(place, async (log) => log.undo(id, listed, { systemUser: 'tester', nowSeconds: LATER }));
const outcomeOf = async (place: ImportPlace, id: number) => (await undo(place, id)).outcome;

async function historyOf(
  place: ImportPlace,
  find: (history: History) => readonly RowHistory[],
): Promise<unknown[][]> {
  const history = await place.openHistory();
  try {
    return (find(history)[0]?.entries ?? []).map(({ field, old, new: value, at, actor }) => [
      field,
      old,
      value,
      at,
      actor,
    ]);
  } finally {
    await history.close();
  }
}

const rename = ({ registry }: ImportPlace, id: number, fullName: string, actor: Actor): Promise<Member> =>
  registry.members.update(id, (stored) => ({ ...stored, fullName }), LATER, actor);

export function testJournal(testStarted: TestStarted): void {
  testRecords(testStarted);
  testUndo(testStarted);
  testRefusals(testStarted);
  testHistory(testStarted);
}

function testRecords(testStarted: TestStarted): void {
  testStarted(
    'an import is recorded with its file, its counts and each value it changed',
    async (place, session) => {
      const record = { ...RECORD, fileName: 'list.csv', map: { kind: 'members' }, notes: [{ count: 2 }] };
      const rows = [person(1), person(2, { mobile: '+250781234567' }), person(4)];
      const { importId } = await (await accepted(session, 'members', rows)).apply(NOW, record);
      await withLog(place, async (log) => {
        const found = await log.find(importId);
        assert.deepEqual(found, {
          ...{
            id: importId,
            kind: 'members',
            importedAt: NOW,
            undoneAt: null,
            undoneBy: null,
            reason: null,
            ...record,
          },
          ...{
            created: 1,
            changed: 1,
            unchanged: 1,
            removed: 0,
            kept: 0,
            refusedRows: 0,
            replaces: null,
            replacedBy: null,
            firstChange: 1,
            lastChange: 1,
          },
        });
        assert.deepEqual((await log.list()).at(-1), found);
        assert.deepEqual(
          (await log.list()).map(({ id }) => id),
          [1, 2, 3],
        );
        const changes: RecordedChange[] = [];
        for await (const change of log.listChanges(importId)) changes.push(change);
        assert.deepEqual(changes, [
          { line: 3, row: 'M-2', column: 'mobile', old: null, new: '+250781234567' },
        ]);
        assert.equal(await log.find(99), undefined);
      });
    },
  );

  testStarted('the same bytes are found until their import is undone', async (place, session) => {
    const sha256 = 'b'.repeat(64);
    assert.equal(await session.findSameImport('members', sha256), undefined);
    const id = await load(session, 'members', [person(4)], sha256);
    assert.equal(await session.findSameImport('members', sha256), id);
    assert.equal(await session.findSameImport('loans', sha256), undefined);
    await undo(place, id);
    assert.equal(await session.findSameImport('members', sha256), undefined);
  });
}

function testUndo(testStarted: TestStarted): void {
  testStarted(
    'an undo removes what was created and puts back what was changed, with its own time of change',
    async (place, session) => {
      const before = await allMembers(place);
      const id = await load(session, 'members', [
        ...[person(1, { full_name: 'Renamed', mobile: '+250781234567', status: 'suspended' }), person(2)],
        ...[person(4), person(5, { status: 'withdrawn' })],
      ]);
      const result = await undo(place, id);
      assert.ok(result.outcome === 'undone');
      assert.deepEqual([result.removed, result.restored], [2, 1]);
      const expected = before.map((each) => (each.id === 1 ? { ...each, updatedAt: LATER } : each));
      assert.deepEqual(await allMembers(place), expected);
      const count = async (status?: Member['status']) =>
        (await place.registry.members.list(status === undefined ? {} : { status }, { page: 1, pageSize: 1 }))
          .count;
      assert.deepEqual([await count(), await count('active'), await count('withdrawn')], [3, 3, 0]);
      assert.equal((await withLog(place, async (log) => log.find(id)))?.undoneAt, LATER);
    },
  );

  testStarted('lookups are as before an import of entries that was undone', async (place, session) => {
    await load(session, 'production', [delivery(1, 'P-1', 5)]);
    await load(session, 'savings', [deposit(1, 'S-1', 'R-1', 5)]);
    const financials = async (n: number) => {
      await nextIteration();
      const found = (await place.registry.members.findActiveMembership(1, nid(n), LATER))?.financials;
      const { entriesCount, totalGrams, lastDeliveryAt } = found?.production ?? {};
      return [entriesCount, totalGrams, lastDeliveryAt, found?.loanHistory, found?.savingsSummary];
    };
    const before = [await financials(1), await financials(2)];
    const ids = [
      await load(session, 'production', [
        delivery(1, 'P-1', 6),
        delivery(1, 'P-2', 7),
        delivery(2, 'P-3', 8),
      ]),
      await load(session, 'loans', [loan(1, 'L-1', 500), loan(2, 'L-2', 500)]),
      await load(session, 'savings', [deposit(1, 'S-2', 'R-1', 6), deposit(2, 'S-3', 'R-2', 7)]),
    ];
    assert.notDeepEqual([await financials(1), await financials(2)], before);
    for (const id of ids) assert.equal(await outcomeOf(place, id), 'undone');
    assert.deepEqual([await financials(1), await financials(2)], before);
  });

  testStarted('the ids of removed rows are not used again', async (place, session) => {
    const idsOf = async () => (await allMembers(place)).map(({ id }) => id).sort();
    const first = await load(session, 'members', [person(4), person(5)]);
    await undo(place, first);
    const second = await load(session, 'members', [person(6), person(7)]);
    assert.deepEqual(await idsOf(), [1, 2, 3, 6, 7]);
    await undo(place, second);
    const values = {
      ...((await allMembers(place))[0] as Member),
      identityCard: nid(8),
      memberCode: 'M-8',
    };
    assert.equal((await place.registry.members.create(values, NOW, 'key:1')).id, 8);
    const cooperatives = await load(session, 'cooperatives', [{ code: 'C-3', name: 'New' }]);
    await undo(place, cooperatives);
    const cooperative = await place.registry.cooperatives.find(1);
    assert.ok(cooperative !== undefined);
    const created = await place.registry.cooperatives.create({ ...cooperative, code: 'D-4' }, NOW, 'key:1');
    assert.equal(created.id, 4);
  });

  testStarted(
    'an import may be undone after others that changed its rows were undone',
    async (place, session) => {
      const first = await load(session, 'members', [person(4)]);
      const second = await load(session, 'members', [person(4, { full_name: 'Renamed' })]);
      assert.equal(await outcomeOf(place, first), 'refused');
      assert.equal(await outcomeOf(place, second), 'undone');
      assert.equal(await outcomeOf(place, first), 'undone');
      assert.equal((await allMembers(place)).length, 3);
    },
  );
}

function testRefusals(testStarted: TestStarted): void {
  testStarted('an import that is unknown or was undone before is not undone', async (place, session) => {
    const id = await load(session, 'members', [person(4)]);
    assert.equal(await outcomeOf(place, 99), 'unknown');
    assert.equal(await outcomeOf(place, id), 'undone');
    assert.deepEqual(await undo(place, id), { outcome: 'undone_before', undoneAt: LATER });
  });

  testStarted(
    'an undo is refused with the rows that build on the import, and changes nothing',
    async (place, session) => {
      const [cooperatives, members] = [1, 2];
      await rename(place, 2, 'By hand', 'key:7');
      const production = await load(session, 'production', [delivery(1, 'P-1', 5)]);
      const before = await allMembers(place);
      assert.deepEqual(await undo(place, members), {
        ...{ outcome: 'refused', count: 2 },
        blockers: [
          { kind: 'members', row: 'M-2', reason: 'changed', actor: 'key:7' },
          { kind: 'production', row: 'P-1', reason: 'refers', actor: `import:${production}` },
        ],
        ...{ first: [production], obstacle: 'other' },
      });
      const result = await undo(place, cooperatives, 1);
      assert.ok(result.outcome === 'refused');
      assert.deepEqual([result.count, result.blockers.length], [4, 1]);
      // Also what builds on the import that builds on it.
      assert.deepEqual(result.first, [production, members]);
      assert.deepEqual(await allMembers(place), before);
      assert.equal((await place.registry.cooperatives.find(1))?.code, COOPERATIVES[0]?.code);
    },
  );

  testStarted('a member code that somebody has taken since is not put back', async (place, session) => {
    const id = await load(session, 'members', [person(1, { member_code: 'M-100' })]);
    const taken = await load(session, 'members', [person(9, { member_code: 'M-1' })]);
    const result = await undo(place, id);
    assert.ok(result.outcome === 'refused');
    assert.deepEqual(result.blockers, [
      { kind: 'members', row: 'M-1', reason: 'taken', actor: `import:${taken}` },
    ]);
    assert.equal(await outcomeOf(place, taken), 'undone');
    assert.equal(await outcomeOf(place, id), 'undone');
  });

  testStarted('an account stays as long as another import needs it', async (place, session) => {
    const opened = await load(session, 'savings', [deposit(1, 'S-1', 'R-1', 5)]);
    const used = await load(session, 'savings', [deposit(1, 'S-1', 'R-2', 5)]);
    assert.equal(await outcomeOf(place, opened), 'refused');
    const moved = await load(session, 'savings', [deposit(1, 'S-9', 'R-2', 5)]);
    assert.equal(await outcomeOf(place, opened), 'refused');
    for (const id of [moved, used, opened]) assert.equal(await outcomeOf(place, id), 'undone');
  });
}

function testHistory(testStarted: TestStarted): void {
  testStarted(
    'the history of a member names its origin and each changed value, the newest last',
    async (place, session) => {
      const of = (id: number) => historyOf(place, (history) => history.ofMember(id));
      assert.deepEqual(await of(1), [['created', null, null, NOW, 'import:2']]);
      const id = await load(session, 'members', [person(1, { mobile: '+250781234567' })]);
      await undo(place, id);
      await rename(place, 1, 'By hand', 'key:7');
      await rename(place, 1, 'By hand', 'key:8');
      assert.deepEqual(await of(1), [
        ['created', null, null, NOW, 'import:2'],
        ['mobile', null, '+250781234567', NOW, `import:${id}`],
        ['mobile', '+250781234567', null, LATER, `undo:${id}`],
        ['full_name', 'Person 1', 'By hand', LATER, 'key:7'],
      ]);
      assert.deepEqual(await of(99), []);
    },
  );

  testStarted('a row that a key created names the key', async (place) => {
    const values = {
      ...((await allMembers(place))[0] as Member),
      identityCard: nid(8),
      memberCode: 'M-8',
    };
    const { id } = await place.registry.members.create(values, NOW, 'key:7');
    const created = ['created', null, null, NOW, 'key:7'];
    assert.deepEqual(await historyOf(place, (history) => history.ofMember(id)), [created]);
    const ofPerson = await historyOf(place, (history) => history.ofPerson(nid(8)));
    assert.deepEqual(ofPerson, [created]);
    const stored = await place.registry.cooperatives.find(2);
    assert.ok(stored !== undefined);
    await place.registry.cooperatives.update(
      2,
      () => ({ ...stored, name: 'New', sector: 'agriculture' }),
      LATER,
      'key:7',
    );
    assert.deepEqual(await historyOf(place, (history) => history.ofCooperative('B-2')), [
      ['created', null, null, NOW, 'import:1'],
      ['name', 'Biringaniye', 'New', LATER, 'key:7'],
      ['sector', null, 'agriculture', LATER, 'key:7'],
    ]);
  });
}
