/** What every engine lists of one member's entries, compared with a naive model. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { DeliveryFilter, Period } from '../../../src/registry/entries.ts';
import type { Awaitable, Page, PageRequest } from '../../../src/values/errors.ts';
import {
  accepted,
  type Cells,
  delivery,
  deposit,
  type ImportPlace,
  NOW,
  nextIteration,
  RECORD,
  start,
} from './import-rows.ts';

// Few moments, so that many entries have the same one.
const MOMENTS = [NOW - 500, NOW - 400, NOW - 300, NOW - 200];
const PRODUCTS = [null, 'Café', 'CAFÉ', 'cafe', 'Thé'];

const entry = fc.record({
  member: fc.integer({ min: 1, max: 3 }),
  at: fc.constantFrom(...MOMENTS),
  product: fc.constantFrom(...PRODUCTS),
  account: fc.constantFrom('1', '2'),
});
type Entry = typeof entry extends fc.Arbitrary<infer T> ? T & { readonly id: number } : never;

const limit = fc.option(fc.constantFrom(...MOMENTS.flatMap((at) => [at - 1, at, at + 1])), {
  nil: undefined,
});
const filterOf = fc.record(
  {
    from: limit,
    to: limit,
    product: fc.option(fc.constantFrom('café', 'CAFE', 'thé', 'x'), { nil: undefined }),
  },
  { requiredKeys: [] },
);

const given = <T extends object>(filter: T) =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as {
    [name in keyof T]: Exclude<T[name], undefined>;
  };

const inPeriod = ({ at }: Entry, { from = 0, to = NOW }: Period): boolean => at >= from && at <= to;
const newestFirst = (a: Entry, b: Entry): number => b.at - a.at || b.id - a.id;

/** @param open gives an empty registry, closed after the test */
export function testEntries(engine: string, open: (context: TestContext) => Awaitable<ImportPlace>): void {
  async function load(context: TestContext, drawn: readonly Omit<Entry, 'id'>[]) {
    const place = await open(context);
    await start(place);
    const entries: Entry[] = drawn.map((each, i) => ({ ...each, id: i + 1 }));
    const session = await place.openSession();
    const rows: [kind: 'production' | 'savings', rows: Cells[]][] = [
      [
        'production',
        entries.map(({ id, member, at, product }) => ({
          ...delivery(member, `D-${id}`, id * 1_000),
          ...{ delivered_at: at, product },
        })),
      ],
      [
        'savings',
        entries.map(({ id, member, at, account }) => ({
          ...deposit(member, `S-${member}-${account}`, `T-${id}`, id * 100),
          ...{ transacted_at: at, kind: id % 2 === 0 ? 'withdrawal' : 'contribution' },
        })),
      ],
    ];
    for (const [kind, each] of rows) await (await accepted(session, kind, each)).apply(NOW, RECORD);
    await session.close();
    await nextIteration();
    return { entries, store: place.registry.entries, registry: place.registry };
  }

  async function comparePages<Row extends { readonly id: number }>(
    list: (request: PageRequest) => Awaitable<Page<Row>>,
    expected: readonly Entry[],
  ): Promise<void> {
    for (const pageSize of [2, 50])
      for (let page = 1; page <= expected.length / pageSize + 2; page++) {
        const { count, rows } = await list({ page, pageSize });
        assert.equal(count, expected.length);
        const shown = expected.slice((page - 1) * pageSize, page * pageSize);
        assert.deepEqual(
          rows.map(({ id }) => id),
          shown.map(({ id }) => id),
        );
      }
  }

  test(`${engine}: the entries of a member are exactly those of the period and product, newest first`, async (context) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 1, maxLength: 12 }),
        filterOf,
        async (drawn, drawnFilter) => {
          const { entries, store } = await load(context, drawn);
          const filter: DeliveryFilter = given(drawnFilter);
          const wanted = filter.product?.toUpperCase();
          for (const member of [1, 2, 3, 99]) {
            const own = entries.filter((each) => each.member === member && inPeriod(each, filter));
            own.sort(newestFirst);
            await comparePages(
              (request) => store.deliveries.list(member, filter, request),
              own.filter(({ product }) => wanted === undefined || product?.toUpperCase() === wanted),
            );
            await comparePages((request) => store.savingsTransactions.list(member, filter, request), own);
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  test(`${engine}: an entry is listed with all its values`, async (context) => {
    const { store, registry } = await load(context, [
      { member: 2, at: NOW - 400, product: 'Café', account: '2' },
    ]);
    const request = { page: 1, pageSize: 9 };
    assert.deepEqual(await store.deliveries.list(2, {}, request), {
      count: 1,
      rows: [{ id: 1, reference: 'D-1', deliveredAt: NOW - 400, grams: 1_000, product: 'Café' }],
    });
    assert.deepEqual(await store.savingsTransactions.list(2, {}, request), {
      count: 1,
      rows: [
        {
          ...{ id: 1, accountNumber: 'S-2-2', reference: 'T-1', kind: 'contribution', amountMinor: 100 },
          transactedAt: NOW - 400,
        },
      ],
    });
    for (const [visible, count] of [
      [[1], 1],
      [[2], 0],
      [[], 0],
    ] as const) {
      const narrowed = registry.narrowedTo(visible).entries;
      assert.equal((await narrowed.deliveries.list(2, {}, request)).count, count);
      assert.equal((await narrowed.savingsTransactions.list(2, {}, request)).count, count);
    }
  });
}
