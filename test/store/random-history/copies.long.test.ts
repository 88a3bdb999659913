/** Whatever is copied, restored, taken over, killed or done at a wrong time. */
import { test } from 'node:test';
import fc from 'fast-check';
import { Copies, type Step } from './copies.ts';

const at = fc.constantFrom(0 as const, 1 as const);
const which = fc.nat({ max: 20 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), at }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('read' as const), at, which, isByNumber: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('backup' as const), at }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('restore' as const), at, which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('take over' as const, 'start' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('kill' as const),
      at,
      which,
      afterMs: fc.integer({ min: 200, max: 900 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('damage' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('take ledger away' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      byHours: fc.constantFrom(1, -1, 30, -30, 8_766 * 30, -8_766 * 30),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('zone' as const),
      at,
      zone: fc.constantFrom('+02:00', '-03:30', 'Z'),
    }),
  },
);

test('copies, restores, kills, damaged ledgers and clock steps lose and misattribute nothing', async (context) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
      const copies = new Copies(context);
      await copies.start();
      for (const each of steps) await copies.take(each);
      await copies.verify();
    }),
    { numRuns: 25, endOnFailure: false },
  );
});
