/** What a write of a loan or payment leaves in the history and in the sequence of changes. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkStorage } from '../../../src/check/check.ts';
import {
  actorOfCode,
  entityOfType,
  fieldsOfBits,
  typeOfCode,
} from '../../../src/registry/changes/event-types.ts';
import { temporaryFolder } from '../../support/app.ts';
import { openStore } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import { fillWithMembers } from '../conformance/loans.ts';
import { pay } from '../conformance/payments.ts';
import { LOAN } from '../conformance/sample.ts';

interface EventRow {
  readonly type: number;
  readonly row_id: number;
  readonly fields: number;
  readonly actor: number;
}

async function open(context: TestContext) {
  const file = join(temporaryFolder(context), 'registry.db');
  const store = openStore(file);
  context.after(() => store.close());
  await fillWithMembers(store);
  const db = store.connection.raw;
  db.exec('DELETE FROM events; DELETE FROM changes');
  return {
    file,
    store,
    db,
    events: () =>
      (db.prepare('SELECT * FROM events ORDER BY sequence').all() as EventRow[]).map(
        ({ type, row_id, fields, actor }) =>
          [
            typeOfCode(type),
            row_id,
            fieldsOfBits(entityOfType(type), fields).join(),
            actorOfCode(actor),
          ].join(' '),
      ),
    changes: () =>
      (
        db
          .prepare('SELECT entity, row_id, field, old, new, at, actor FROM changes ORDER BY id')
          .raw()
          .all() as unknown[][]
      ).map((row) => row.map(String).join(' ')),
  };
}

test('a loan is recorded as it is created and changed, by the names of import columns', async (context) => {
  const { store, events, changes } = await open(context);
  await store.loans.create(LOAN, 5, 'key:1');
  const approved = { ...LOAN, amountMinor: 7, reference: 'L-9', status: 'approved', approvedAt: 6 } as const;
  await store.loans.update(1, () => approved, 6, 'key:2');
  await store.loans.update(1, () => approved, 7, 'key:3');
  assert.deepEqual(events(), [
    'loan.created 1  key:1',
    'loan.updated 1 reference,amount,status,approved_at key:2',
  ]);
  assert.deepEqual(changes(), [
    'loans 1 created null null 5 key:1',
    'loans 1 reference L-1 L-9 6 key:2',
    'loans 1 amount 50000000 7 6 key:2',
    'loans 1 status pending approved 6 key:2',
    'loans 1 approved_at null 6 6 key:2',
  ]);
});

test('a payment is recorded before its loan, which is recorded only when its paid amount changes', async (context) => {
  const { store, db, events, changes } = await open(context);
  await store.loans.create(LOAN, 4, 'key:1');
  db.exec('DELETE FROM events; DELETE FROM changes');
  await pay(store, { amountMinor: 300 }, 5);
  await store.payments.update(1, (stored) => ({ ...stored, method: 'bank', paidAt: 3 }), 6, 'key:3');
  await store.payments.update(1, (stored) => ({ ...stored, status: 'void' }), 7, 'key:4');
  // A void payment counts no longer, whatever its values become.
  await store.payments.update(1, (stored) => ({ ...stored, reference: 'P-9' }), 8, 'key:5');
  await store.payments.update(1, (stored) => stored, 9, 'key:6');
  assert.deepEqual(events(), [
    ...['payment.created 1  key:2', 'loan.updated 1 paid_amount key:2'],
    'payment.updated 1 method,paid_at key:3',
    ...['payment.updated 1 status key:4', 'loan.updated 1 paid_amount key:4'],
    'payment.updated 1 reference key:5',
  ]);
  assert.deepEqual(changes(), [
    ...['payments 1 created null null 5 key:2', 'loans 1 paid_amount 0 300 5 key:2'],
    ...['payments 1 method cash bank 6 key:3', 'payments 1 paid_at 0 3 6 key:3'],
    ...['payments 1 status recorded void 7 key:4', 'loans 1 paid_amount 300 0 7 key:4'],
    'payments 1 reference P-1 P-9 8 key:5',
  ]);
});

test('the check finds a paid amount that is not the opening balance and the recorded payments', async (context) => {
  const { file, store, db } = await open(context);
  await store.loans.create(LOAN, 4, 'key:1');
  await pay(store, { amountMinor: 300 });
  const faults = async () => (await checkStorage(storageAt(file))).filter(({ fault }) => fault !== null);
  const setLoan = (set: string) => db.exec(`UPDATE loans SET ${set}; UPDATE members SET loans = ''`);
  assert.deepEqual(await faults(), []);
  setLoan('opening_balance_minor = 20, paid_until = 1, paid_amount_minor = 320');
  assert.deepEqual(await faults(), []);
  setLoan('paid_amount_minor = 319');
  const wrong = 'wrong: {"id":1,"paid":319,"opening_balance":20,"recorded":300}';
  assert.deepEqual(await faults(), [{ check: 'paid amounts of loans', fault: wrong }]);
  setLoan('paid_amount_minor = 320');
  db.exec('UPDATE payments SET amount_minor = 301');
  assert.deepEqual(
    (await faults()).map(({ check }) => check),
    ['paid amounts of loans'],
  );
});

test('the check finds a loan or payment that is not in the cooperative of its member', async (context) => {
  const { file, store, db } = await open(context);
  await store.loans.create(LOAN, 4, 'key:1');
  await pay(store, {});
  for (const table of ['loans', 'payments']) {
    db.exec(`UPDATE ${table} SET cooperative_id = 2`);
    const found = (await checkStorage(storageAt(file))).filter(({ fault }) => fault !== null);
    const checks =
      table === 'loans' ? ['cooperatives of loans', 'cooperatives of payments'] : ['cooperatives of loans'];
    assert.deepEqual(
      found.map(({ check }) => check),
      checks,
    );
  }
});
