/** Lists of loans and payments: every count and page is that of a naive model, whatever wrote the rows. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { isVisible, type Visible } from '../../../src/access/api-keys.ts';
import { checkStorage } from '../../../src/check/check.ts';
import { LOAN_STATUSES } from '../../../src/registry/loans.ts';
import { PAYMENT_STATUSES } from '../../../src/registry/payments.ts';
import type { Page, PageRequest } from '../../../src/values/errors.ts';
import { temporaryFolder } from '../../support/app.ts';
import { type ImportPlace, nid, startedPlace } from '../../support/importing.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { openStore } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import { LOAN, memberOf, PAYMENT } from '../conformance/sample.ts';

type Store = ReturnType<typeof openStore>;

/** What a filter compares, by its name in the filter; `identityCard` of the member. */
interface ModelRow {
  readonly id: number;
  readonly identityCard: string;
  readonly cooperativeId: number;
  readonly memberId: number;
  readonly loanId: number;
  readonly status: string;
  readonly reference: string;
  /** What `updatedSince` compares. */
  readonly updatedAt: number;
}
type Filter = Partial<Omit<ModelRow, 'id' | 'updatedAt'>> & { readonly updatedSince?: number };

/** Compares every page of a list with those of the model. */
async function compare(
  list: (filter: never, request: PageRequest) => Promise<Page<{ id: number }>>,
  rows: readonly ModelRow[],
  filter: Filter,
  pageSize: number,
): Promise<void> {
  const { updatedSince = 0, ...equal } = filter;
  const wanted = Object.entries(equal) as [keyof typeof equal, unknown][];
  const expected = rows.filter(
    (row) => row.updatedAt >= updatedSince && wanted.every(([name, value]) => row[name] === value),
  );
  for (let page = 1; page <= Math.ceil(expected.length / pageSize) + 1; page++) {
    const found = await list(filter as never, { page, pageSize });
    const asked = JSON.stringify({ filter, page, pageSize });
    assert.equal(found.count, expected.length, asked);
    assert.deepEqual(
      found.rows.map(({ id }) => id),
      expected.slice((page - 1) * pageSize, page * pageSize).map(({ id }) => id),
      asked,
    );
  }
}

/** Each combination of values; undefined leaves a filter out. */
function combinations(choices: { readonly [name in keyof Filter]: readonly unknown[] }): Filter[] {
  let all: Filter[] = [{}];
  for (const [name, values] of Object.entries(choices))
    all = all.flatMap((filter) =>
      [undefined, ...values].map((value) => (value === undefined ? filter : { ...filter, [name]: value })),
    );
  return all;
}

const ENTRIES = [
  { statuses: LOAN_STATUSES, table: 'loans' },
  { statuses: PAYMENT_STATUSES, table: 'payments' },
] as const;

// Ids on both sides of the boundaries of blocks, small and large.
const BORDERS = [1, 15, 16, 17, 255, 256, 257, 65_535, 65_536, 65_537, 131_071, 131_072, 200_000];

/** What keys see: all, nothing, one, some in any order. */
const SEEN: readonly Visible[] = [null, [], [2], [1, 3], [3, 99, 2]];

/** Cooperatives 1 to 3, each with a member of the same id and its loan. */
function fillByHand(store: Store): void {
  store.connection.exec(`PRAGMA foreign_keys = OFF;
    WITH n (id) AS (VALUES (1), (2), (3)) INSERT INTO cooperatives (id, code, name, status, created_at,
      updated_at) SELECT id, 'C' || id, 'C', 'active', 1, 1 FROM n;
    INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name, role, status,
      registration_date, created_at, updated_at)
      SELECT id, id, 1198589000000000 + id, 'M', 'N', 'MEMBER', 'active', 0, 1, 1 FROM cooperatives`);
}

const insertByHand = {
  loans: `INSERT INTO loans (id, cooperative_id, member_id, status, reference, amount_minor,
    interest_rate_hundredths, paid_amount_minor, created_at, updated_at)
    VALUES (@id, @group, @group, @value, @reference, 1, 0, 0, 1, @at)`,
  payments: `INSERT INTO payments (id, cooperative_id, loan_id, status, reference, amount_minor, method,
    paid_at, created_at, updated_at)
    VALUES (@id, @group, @group, @value, @reference, 1, 'cash', 1, 1, @at)`,
};

for (const { statuses, table } of ENTRIES) {
  test(`every list of random ${table} has the right count and the right rows on every page, across blocks`, async (context) => {
    const store = openStore(join(temporaryFolder(context), 'registry.db'));
    context.after(() => store.close());
    fillByHand(store);
    const db = store.connection.raw;
    if (table === 'payments')
      for (const id of [1, 2, 3])
        db.prepare(insertByHand.loans).run({ id, group: id, value: 'approved', reference: `R${id}`, at: 1 });
    const insert = db.prepare(insertByHand[table]);
    const setStatus = db.prepare(`UPDATE ${table} SET status = ? WHERE id = ?`);
    const row = fc.record({
      id: fc.oneof(fc.constantFrom(...BORDERS), fc.integer({ min: 1, max: 200_000 })),
      group: fc.integer({ min: 1, max: 3 }),
      value: fc.constantFrom<string>(...statuses),
      later: fc.constantFrom<string>(...statuses),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(row, { maxLength: 25, selector: ({ id }) => id }),
        fc.constantFrom(1, 2, 3, 7),
        async (rows, pageSize) => {
          // The reads of an iteration share a snapshot.
          await nextTurn();
          db.exec(`BEGIN; DELETE FROM ${table}`);
          const used = new Map<number, number>();
          const model: ModelRow[] = [];
          for (const { id, group, value, later } of rows) {
            // In each cooperative 1, 2, 3 and so on: unique there, and in others too.
            const at = (used.get(group) ?? 0) + 1;
            used.set(group, at);
            const reference = `R${at}`;
            insert.run({ id, group, value, reference, at });
            model.push({
              ...{ id, cooperativeId: group, memberId: group, loanId: group, status: later },
              ...{ identityCard: '', reference, updatedAt: at },
            });
            setStatus.run(later, id);
          }
          db.exec('COMMIT');
          model.sort((a, b) => a.id - b.id);
          for (const visible of SEEN) {
            const seen = model.filter(({ cooperativeId }) => isVisible(visible, cooperativeId));
            const list = async (filter: never, request: PageRequest) =>
              store.narrowedTo(visible)[table].list(filter, request);
            for (const filter of combinations({
              ...{ cooperativeId: [1, 2, 3, 99], status: statuses },
              ...{ reference: ['R1', 'R4', 'R99'], updatedSince: [0, 3, 99] },
            }))
              await compare(list, seen, filter, pageSize);
          }
        },
      ),
      { numRuns: quickOrLong(8, 60) },
    );
  });
}

test('changed rows are counted up to 10,000, and more are refused, by what a key sees', async (context) => {
  const store = openStore(join(temporaryFolder(context), 'registry.db'));
  context.after(() => store.close());
  fillByHand(store);
  store.connection.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
    INSERT INTO loans (cooperative_id, member_id, status, reference, amount_minor, interest_rate_hundredths,
      paid_amount_minor, created_at, updated_at)
    SELECT 1 + i % 2, 1 + i % 2, 'paid', i, 1, 0, 0, 1, i FROM n`);
  const page = { page: 1, pageSize: 2 };
  const list = async (updatedSince: number, more: object = {}, visible: Visible = null) =>
    store.narrowedTo(visible).loans.list({ updatedSince, ...more }, page);
  assert.equal((await list(2)).count, 10_000);
  const isRefused = ({ fields }: { fields?: object }) =>
    JSON.stringify(fields).startsWith('{"updated_since":["More than 10,000 have changed since then.');
  await assert.rejects(list(1), isRefused);
  await assert.rejects(list(1, { status: 'pending' }), isRefused);
  assert.equal((await list(1, { cooperativeId: 1 })).count, 5_000);
  assert.equal((await list(1, {}, [2])).count, 5_001);
  assert.equal((await list(1, { memberId: 2 })).count, 5_001);
  assert.equal((await list(1, { reference: '7' })).count, 1);
});

test('counters of a cooperative that do not match its blocks are an error, never served', async (context) => {
  const store = openStore(join(temporaryFolder(context), 'registry.db'));
  context.after(() => store.close());
  fillByHand(store);
  store.connection.exec("INSERT INTO payment_counts VALUES (1, 'void', 0, 5)");
  for (const page of [1, 2])
    assert.throws(
      () => store.payments.list({ cooperativeId: 1 }, { page, pageSize: 2 }),
      /Run npm run -s registry -- check/,
    );
});

/** One step of a random mixture; numbers choose among what there is then. */
const step = fc.oneof(
  fc.record({
    do: fc.constant('lend' as const),
    member: fc.nat(4),
    status: fc.constantFrom(...LOAN_STATUSES),
  }),
  fc.record({
    do: fc.constant('decide' as const),
    loan: fc.nat(9),
    status: fc.constantFrom(...LOAN_STATUSES),
  }),
  fc.record({ do: fc.constant('pay' as const), loan: fc.nat(9), amount: fc.integer({ min: 1, max: 999 }) }),
  fc.record({ do: fc.constant('void' as const), payment: fc.nat(2) }),
  fc.record({
    do: fc.constant('import' as const),
    rows: fc.array(fc.record({ loan: fc.nat(3), status: fc.constantFrom(...LOAN_STATUSES) }), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
  fc.record({ do: fc.constant('undo' as const), import: fc.nat(3) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Does a step through the store, or by a command as another process; what is refused changes nothing. */
async function perform(place: ImportPlace, store: Store, todo: Step, n: number): Promise<void> {
  const pick = (table: string, index: number): number | undefined => {
    const ids = place.query<{ id: number }>(`SELECT id FROM ${table} ORDER BY id`);
    return ids[index % Math.max(1, ids.length)]?.id;
  };
  if (todo.do === 'import') {
    const lines = todo.rows.map(
      ({ loan, status }) => `A-1,M-${1 + (loan % 3)},I-${loan},${100 + loan},1,${status}`,
    );
    const header = 'cooperative_code,member_code,reference,amount,interest_rate,status\n';
    await place.load('loans', header + lines.join('\n'), '--skip-invalid', '--yes');
  } else if (todo.do === 'undo') {
    const id = pick("operations WHERE kind = 'loans' AND undone_at IS NULL", todo.import);
    if (id !== undefined) await place.command('imports', 'undo', '--yes', String(id));
  } else if (todo.do === 'lend') {
    const memberId = pick('members', todo.member) as number;
    await store.loans.create({ ...LOAN, memberId, reference: `L-${n}`, status: todo.status }, n, 'key:1');
  } else if (todo.do === 'decide') {
    const id = pick('loans', todo.loan);
    if (id !== undefined)
      await store.loans.update(id, (stored) => ({ ...LOAN, ...stored, status: todo.status }), n, 'key:1');
  } else if (todo.do === 'pay') {
    const loanId = pick('loans', todo.loan);
    const values = { ...PAYMENT, loanId: loanId ?? 0, reference: `P-${n}`, amountMinor: todo.amount };
    if (loanId !== undefined) await store.payments.create(values, () => values, n, 'key:2');
  } else {
    const id = pick('payments', todo.payment);
    if (id !== undefined)
      await store.payments.update(id, (stored) => ({ ...stored, status: 'void' }), n, 'key:2');
  }
}

/** A started place with its registry open: persons 1 to 3 in A-1, and person 1 in B-2, too. */
async function openStarted(context: TestContext): Promise<[ImportPlace, Store]> {
  const place = await startedPlace(context);
  const store = openStore(place.databaseFile);
  await store.members.create(memberOf(1, { cooperativeId: 2 }), 1, 'key:1');
  return [place, store];
}

test('after any writes, imports of loans and their undo lists, counters and read model are right', async (context) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 15, maxLength: 25 }),
      fc.constantFrom(1, 3),
      async (steps, pageSize) => {
        const [place, store] = await openStarted(context);
        try {
          for (const [n, todo] of steps.entries()) {
            await perform(place, store, todo, n + 1);
            // Whatever was written: no lookup has to compute a loan history.
            assert.equal(place.value("SELECT count(*) FROM members WHERE loans = ''"), 0, todo.do);
          }
          await nextTurn();
          const owner = `m.identity_card AS identityCard, l.member_id AS memberId, l.id AS loanId`;
          const loans = place.query<ModelRow>(
            `SELECT l.id, ${owner}, l.cooperative_id AS cooperativeId, l.status,
               l.reference, l.updated_at AS updatedAt FROM loans l
           JOIN members m ON m.id = l.member_id ORDER BY l.id`,
          );
          const payments = place.query<ModelRow>(
            `SELECT p.id, ${owner}, p.cooperative_id AS cooperativeId, p.status,
               p.reference, p.updated_at AS updatedAt FROM payments p
           JOIN loans l ON l.id = p.loan_id JOIN members m ON m.id = l.member_id ORDER BY p.id`,
          );
          const people = { identityCard: [nid(1), nid(2), nid(9)], cooperativeId: [1, 2, 99] };
          const of = (rows: readonly ModelRow[], statuses: readonly string[]) => {
            const [row] = rows.slice(-1);
            return {
              status: statuses.slice(0, 3),
              reference: [row?.reference ?? 'L-1'],
              updatedSince: [row?.updatedAt ?? 5],
            };
          };
          for (const visible of [null, [2], [2, 1]]) {
            const narrowed = store.narrowedTo(visible);
            const seen = ({ cooperativeId }: ModelRow) => isVisible(visible, cooperativeId);
            for (const filter of combinations({
              ...people,
              memberId: [1, 4, 99],
              ...of(loans, LOAN_STATUSES),
            }))
              await compare(
                async (...given) => narrowed.loans.list(...given),
                loans.filter(seen),
                filter,
                pageSize,
              );
            for (const filter of combinations({
              ...people,
              loanId: [1, 2, 99],
              ...of(payments, PAYMENT_STATUSES),
            }))
              await compare(
                async (...given) => narrowed.payments.list(...given),
                payments.filter(seen),
                filter,
                pageSize,
              );
          }
          const faults = (await checkStorage(storageAt(place.databaseFile))).filter(
            ({ fault }) => fault !== null,
          );
          assert.deepEqual(faults, []);
        } finally {
          await store.close();
        }
      },
    ),
    { numRuns: quickOrLong(2, 20) },
  );
});
