/** Conformance of a store of payments: each changes what is paid on its loan, in the same transaction. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { checkStorage } from '../../../src/check/check.ts';
import type { RegistryStore } from '../../../src/open-registry.ts';
import type { PaymentFilter, PaymentValues } from '../../../src/registry/payments.ts';
import { MAX_MONEY_MINOR } from '../../../src/values/decimal.ts';
import { RegistryError } from '../../../src/values/errors.ts';
import { type Engine, nextIteration, openPlace, openRegistry } from './engine.ts';
import { fillWithMembers, hasCode, refusedWith } from './loans.ts';
import { LOAN, MEMBER, memberOf, PAYMENT } from './sample.ts';

/** It takes payments of any amount. */
const LARGE_LOAN = { ...LOAN, amountMinor: MAX_MONEY_MINOR };

export const pay = (store: RegistryStore, values: Partial<PaymentValues>, nowSeconds = 2) =>
  store.payments.create({ ...PAYMENT, ...values }, () => ({ ...PAYMENT, ...values }), nowSeconds, 'key:2');

export function paymentsConformance(engine: Engine): void {
  const title = (text: string) => `${engine.name}: ${text}`;
  /** Loans 1 to 4 of the members 1 to 4. */
  async function open(context: TestContext): Promise<RegistryStore> {
    const store = openRegistry(context, openPlace(engine, context).storage);
    await fillWithMembers(store);
    for (const memberId of [1, 2, 3, 4]) {
      const values = { ...LARGE_LOAN, memberId, reference: `L-${memberId}`, status: 'approved' } as const;
      await store.loans.create(values, 1, 'key:1');
    }
    return store;
  }
  const paidOn = async (store: RegistryStore, id: number) => {
    await nextIteration();
    const loan = await store.loans.find(id);
    return [loan?.paidAmountMinor, loan?.updatedAt];
  };

  test(
    title('a payment is found as it was written, and its loan has its amount and its time'),
    async (context) => {
      const store = await open(context);
      const written = await pay(store, { amountMinor: 12_345 }, 7);
      assert.deepEqual(written, {
        ...PAYMENT,
        ...{ id: 1, amountMinor: 12_345, createdAt: 7, updatedAt: 7 },
        ...{ memberId: 1, identityCard: memberOf(1).identityCard, fullName: MEMBER.fullName },
        ...{ cooperativeId: 1, cooperativeCode: 'A-1', cooperativeName: 'Abahuje' },
      });
      assert.deepEqual(await paidOn(store, 1), [12_345, 7]);
      assert.deepEqual(await store.payments.find(1), written);
      assert.equal(await store.payments.find(2), undefined);
    },
  );

  test(title('a correction and a void change what is paid, each once'), async (context) => {
    const store = await open(context);
    await pay(store, { reference: 'P-1', amountMinor: 100 });
    const { id } = await pay(store, { reference: 'P-2', amountMinor: 30 });
    assert.deepEqual(await paidOn(store, 1), [130, 2]);
    const update = (values: Partial<PaymentValues>, now: number) =>
      store.payments.update(id, (stored) => ({ ...stored, ...values }), now, 'key:2');
    assert.equal((await update({ amountMinor: 50 }, 5)).updatedAt, 5);
    assert.deepEqual(await paidOn(store, 1), [150, 5]);
    // The loan does not change with what it does not show.
    await update({ method: 'bank' }, 6);
    assert.deepEqual(await paidOn(store, 1), [150, 5]);
    assert.equal((await update({}, 7)).updatedAt, 6);
    await update({ status: 'void' }, 8);
    assert.deepEqual(await paidOn(store, 1), [100, 8]);
    assert.equal((await store.payments.list({ status: 'void' }, { page: 1, pageSize: 5 })).count, 1);
  });

  test(title('what is refused inside the transaction changes neither payment nor loan'), async (context) => {
    const store = await open(context);
    const { id } = await pay(store, { amountMinor: 5 });
    const before = await paidOn(store, 1);
    const refuse = () => {
      throw new RegistryError('invalid', 'no', { fields: { loan_id: ['no'] } });
    };
    await assert.rejects(store.payments.create({ ...PAYMENT, reference: 'P-2' }, refuse, 9, 'key:1'));
    await assert.rejects(store.payments.update(id, refuse, 9, 'key:1'), refusedWith({ loan_id: ['no'] }));
    await assert.rejects(
      store.payments.update(id, () => ({ ...PAYMENT, loanId: 2 }), 9, 'key:1'),
      refusedWith({ loan_id: ['This field cannot be changed.'] }),
    );
    await assert.rejects(
      store.payments.update(7, () => PAYMENT, 9, 'key:1'),
      hasCode('not_found'),
    );
    const unknown = { loan_id: ['Invalid pk "99" - object does not exist.'] };
    assert.deepEqual({ ...(await store.payments.conflicts({ loanId: 99 })) }, unknown);
    await assert.rejects(pay(store, { loanId: 99 }), refusedWith(unknown));
    assert.deepEqual(await paidOn(store, 1), before);
    assert.equal((await store.payments.list({}, { page: 1, pageSize: 5 })).count, 1);
  });

  test(title('what is paid has at most 12 digits before the point'), async (context) => {
    const store = await open(context);
    const { id } = await pay(store, { amountMinor: MAX_MONEY_MINOR });
    const tooMuch = refusedWith({
      amount: ['What is paid on this loan would have more than 12 digits before the decimal point.'],
    });
    await assert.rejects(pay(store, { reference: 'P-2', amountMinor: 1 }), tooMuch);
    assert.deepEqual(await paidOn(store, 1), [MAX_MONEY_MINOR, 2]);
    await store.payments.update(id, (stored) => ({ ...stored, status: 'void' }), 3, 'key:1');
    await pay(store, { reference: 'P-2', amountMinor: 1 });
    assert.deepEqual(await paidOn(store, 1), [1, 2]);
  });

  test(title('a reference belongs to one payment of a cooperative, among void ones too'), async (context) => {
    const store = await open(context);
    const { id } = await pay(store, {});
    await store.payments.update(id, (stored) => ({ ...stored, status: 'void' }), 3, 'key:1');
    const other = await pay(store, { loanId: 2, reference: 'P-2' });
    await pay(store, { loanId: 3 });
    const unique = { reference: ['This field must be unique.'] };
    await assert.rejects(pay(store, { loanId: 2 }), refusedWith(unique));
    await assert.rejects(
      store.payments.update(other.id, (stored) => ({ ...stored, reference: 'P-1' }), 3, 'key:1'),
      refusedWith(unique),
    );
    await nextIteration();
    assert.deepEqual({ ...(await store.payments.conflicts({ reference: 'P-1' }, other.id)) }, unique);
    assert.deepEqual({ ...(await store.payments.conflicts({ reference: 'P-2' }, other.id)) }, {});
  });

  test(
    title('payments are listed in order of id, by any filters together, with an exact count'),
    async (context) => {
      const store = await open(context);
      for (let n = 0; n < 12; n++) await pay(store, { loanId: 1 + (n % 4), reference: `P-${n}` });
      for (const id of [1, 4, 7, 10])
        await store.payments.update(id, (stored) => ({ ...stored, status: 'void' }), 3, 'key:1');
      await nextIteration();
      const ids = async (filter: PaymentFilter, page = 1, pageSize = 5) => {
        const { count, rows } = await store.payments.list(filter, { page, pageSize });
        return [count, rows.map(({ id }) => id)];
      };
      const identityCard = memberOf(1).identityCard;
      assert.deepEqual(await ids({}, 3), [12, [11, 12]]);
      assert.deepEqual(await ids({}, 4), [12, []]);
      assert.deepEqual(await ids({ status: 'void' }), [4, [1, 4, 7, 10]]);
      assert.deepEqual(await ids({ cooperativeId: 2 }), [6, [3, 4, 7, 8, 11]]);
      assert.deepEqual(await ids({ cooperativeId: 2, status: 'void' }), [2, [4, 7]]);
      assert.deepEqual(await ids({ loanId: 4 }), [3, [4, 8, 12]]);
      assert.deepEqual(await ids({ loanId: 4, status: 'void' }), [1, [4]]);
      assert.deepEqual(await ids({ loanId: 4, cooperativeId: 1 }), [0, []]);
      assert.deepEqual(await ids({ identityCard }, 2, 4), [6, [9, 12]]);
      assert.deepEqual(await ids({ identityCard, loanId: 1, status: 'recorded' }), [2, [5, 9]]);
      assert.deepEqual(await ids({ identityCard, loanId: 2 }), [0, []]);
      assert.deepEqual(await ids({ identityCard, cooperativeId: 2, status: 'void' }), [1, [4]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 99, 1] }, 1, 3), [4, [1, 3, 4]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 99, 1] }, 2, 3), [4, [12]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 1], identityCard }), [3, [1, 4, 12]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 1], status: 'void' }), [2, [1, 4]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 1], cooperativeId: 2 }), [3, [3, 4, 12]]);
      assert.deepEqual(await ids({ ids: [12, 3, 4, 1], loanId: 4 }), [2, [4, 12]]);
      const { rows } = await store.payments.list({ loanId: 4 }, { page: 1, pageSize: 1 });
      assert.deepEqual(rows, [await store.payments.find(4)]);
    },
  );

  test(
    title('payments of 64 concurrent writers on a few loans add up to the last digit'),
    async (context) => {
      const { storage, elsewhere } = openPlace(engine, context);
      const stores = [openRegistry(context, storage), openRegistry(context, elsewhere)];
      const [store] = stores as [RegistryStore];
      await fillWithMembers(store);
      for (const memberId of [1, 2, 3])
        await store.loans.create({ ...LARGE_LOAN, memberId, reference: `L-${memberId}` }, 1, 'key:1');
      const expected = [0, 0, 0];
      async function write(writer: number): Promise<void> {
        const own = stores[writer % 2] as RegistryStore;
        for (let n = 0; n < 8; n++) {
          const loan = (writer + n) % 3;
          const amountMinor = 100_000_000_00 + writer * 97 + n;
          const payment = await pay(own, { loanId: loan + 1, reference: `P-${writer}-${n}`, amountMinor });
          // One in four is corrected, one void.
          const change = { 1: { amountMinor: 1 + writer }, 2: { status: 'void' } as const }[n % 4] ?? {};
          await own.payments.update(payment.id, (stored) => ({ ...stored, ...change }), 3, 'key:2');
          const counted = { 1: 1 + writer, 2: 0 }[n % 4] ?? amountMinor;
          expected[loan] = (expected[loan] as number) + counted;
        }
      }
      await Promise.all(Array.from({ length: 64 }, (_, writer) => write(writer)));
      await nextIteration();
      const loans = (await store.loans.list({}, { page: 1, pageSize: 5 })).rows;
      assert.deepEqual(
        loans.map(({ paidAmountMinor }) => paidAmountMinor),
        expected,
      );
      assert.equal((await store.payments.list({ status: 'void' }, { page: 1, pageSize: 1 })).count, 128);
      assert.deepEqual(
        (await checkStorage(elsewhere)).filter(({ fault }) => fault !== null),
        [],
      );
    },
  );

  test(title('a lookup shows what is paid at once, as a registry opened later does'), async (context) => {
    const { storage, elsewhere } = openPlace(engine, context);
    const store = openRegistry(context, storage);
    await fillWithMembers(store);
    const history = async (from: RegistryStore) => {
      await nextIteration();
      const { identityCard } = memberOf(1);
      return (await from.members.findActiveMembership(1, identityCard, 100))?.financials?.loanHistory;
    };
    assert.equal(await history(store), '[]');
    await store.loans.create({ ...LOAN, status: 'approved' }, 1, 'key:1');
    await pay(store, { amountMinor: 250_00 });
    assert.match(String(await history(store)), /"paid_amount":"250\.00"/);
    await store.payments.update(1, (stored) => ({ ...stored, status: 'void' }), 3, 'key:1');
    const last = await history(store);
    assert.match(String(last), /"paid_amount":"0\.00"/);
    assert.equal(await history(openRegistry(context, elsewhere)), last);
  });
}
