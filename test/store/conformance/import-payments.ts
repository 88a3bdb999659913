/** What imports of loans and payments do to what is paid on loans, on every engine. */
import assert from 'node:assert/strict';
import { decideNewPayment, type PaymentValues } from '../../../src/registry/payments.ts';
import { KIGALI } from '../../../src/values/date-time.ts';
import {
  accepted,
  type Cells,
  check,
  faultsOf,
  type ImportPlace,
  LATER,
  loan,
  NOW,
  nextIteration,
  RECORD,
  type TestStarted,
} from './import-rows.ts';

const approved = (more: Cells = {}): Cells => ({ ...loan(1, 'L-1', 100_000), status: 'approved', ...more });
const payment = (reference: string, amount: number, more: Cells = {}): Cells => ({
  ...{ cooperative_code: 'A-1', loan_reference: 'L-1', reference, amount, method: 'cash' },
  paid_at: NOW - 60,
  ...more,
});
const values = (amountMinor: number): PaymentValues => ({
  ...{ loanId: 1, amountMinor, method: 'bank', reference: `H-${amountMinor}`, status: 'recorded' },
  paidAt: NOW,
});
/** What the service does for a key. */
const record = ({ registry }: ImportPlace, amountMinor: number) =>
  registry.payments.create(
    values(amountMinor),
    (stored) => decideNewPayment(stored, values(amountMinor), KIGALI),
    LATER,
    'key:1',
  );

/** Of the first loan: paid amount, opening balance, its end, and when the loan last changed. */
async function loanOf({ registry }: ImportPlace): Promise<unknown[]> {
  await nextIteration();
  const found = await registry.loans.find(1);
  return [found?.paidAmountMinor, found?.openingBalanceMinor, found?.paidUntil, found?.updatedAt];
}

export function testPayments(testStarted: TestStarted): void {
  testStarted(
    'what is paid on a loan is its opening balance and its recorded payments',
    async (place, session) => {
      const end = NOW - 3_600;
      await (await accepted(session, 'loans', [approved({ paid_amount: 700, paid_until: end })])).apply(
        NOW,
        RECORD,
      );
      assert.deepEqual(await loanOf(place), [700, 700, end, NOW]);
      const rows = [payment('P-1', 50), payment('P-2', 8, { status: 'void' })];
      const first = await (await accepted(session, 'payments', rows)).apply(LATER, RECORD);
      assert.deepEqual(await loanOf(place), [750, 700, end, LATER]);
      await record(place, 5);
      assert.deepEqual(await loanOf(place), [755, 700, end, LATER]);
      const again = await accepted(session, 'payments', rows);
      assert.deepEqual([again.changes.created, again.changes.changed], [0, 0]);
      const log = await place.openJournal();
      assert.equal(
        (await log.undo(first.importId, 9, { systemUser: 'tester', nowSeconds: LATER + 1 })).outcome,
        'undone',
      );
      await log.close();
      assert.deepEqual(await loanOf(place), [705, 700, end, LATER + 1]);
    },
  );

  testStarted('a list of payments shows those of a file, counted', async (place, session) => {
    await (await accepted(session, 'loans', [approved()])).apply(NOW, RECORD);
    const rows = [payment('P-1', 50), payment('P-2', 8, { status: 'void', method: 'deduction' })];
    await (await accepted(session, 'payments', rows)).apply(NOW, RECORD);
    await nextIteration();
    const page = await place.registry.payments.list(
      { cooperativeId: 1, status: 'void' },
      { page: 1, pageSize: 5 },
    );
    assert.equal(page.count, 1);
    const { id, loanId, reference, amountMinor, method, status, paidAt } = page.rows[0] ?? {};
    assert.deepEqual(
      [id, loanId, reference, amountMinor, method, status, paidAt],
      [2, 1, 'P-2', 8, 'deduction', 'void', NOW - 60],
    );
  });

  testStarted(
    'an opening balance is not applied over a payment that was recorded after its check',
    async (place, session) => {
      await (await accepted(session, 'loans', [approved()])).apply(NOW, RECORD);
      const checked = await accepted(session, 'loans', [approved({ paid_amount: 700, paid_until: NOW })]);
      await record(place, 5);
      await assert.rejects(async () => checked.apply(LATER, RECORD), /no longer agrees/);
      assert.deepEqual((await loanOf(place)).slice(0, 3), [5, 0, null]);
    },
  );

  testStarted('payments are added to those that were recorded after the check', async (place, session) => {
    await (await accepted(session, 'loans', [approved()])).apply(NOW, RECORD);
    const checked = await accepted(session, 'payments', [payment('P-1', 50)]);
    await record(place, 5);
    await checked.apply(LATER, RECORD);
    assert.deepEqual((await loanOf(place)).slice(0, 2), [55, 0]);
  });

  testStarted(
    'a payment for a loan that stopped taking payments after the check is not applied',
    async (place, session) => {
      await (await accepted(session, 'loans', [approved()])).apply(NOW, RECORD);
      const checked = await accepted(session, 'payments', [payment('P-1', 50)]);
      const other = await place.openSession();
      await (await accepted(other, 'loans', [approved({ status: 'cancelled' })])).apply(LATER, RECORD);
      await other.close();
      await assert.rejects(async () => checked.apply(LATER, RECORD), /no longer agrees/);
      const refused = await check(session, 'payments', [payment('P-1', 50)]);
      assert.deepEqual(
        (await faultsOf(refused)).map(({ column, message }) => [column, message]),
        [['loan_reference', 'This loan takes no payments: it is cancelled.']],
      );
    },
  );
}
