/** Which loan takes a payment, what may change of one, and what is paid then. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOAN_STATUSES } from '../../src/registry/loans.ts';
import {
  decideNewPayment,
  decidePayment,
  OVERPAID,
  type PaidLoan,
  type PaymentRecord,
  type PaymentValues,
  paidAfter,
} from '../../src/registry/payments.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { MAX_MONEY_MINOR } from '../../src/values/decimal.ts';
import { RegistryError } from '../../src/values/errors.ts';

const VALUES: PaymentValues = {
  ...{ loanId: 1, amountMinor: 1_000, method: 'cash', reference: 'P-1', status: 'recorded', paidAt: 500 },
};
const STORED: PaymentRecord = {
  ...VALUES,
  ...{ id: 1, createdAt: 600, updatedAt: 600 },
  ...{ memberId: 3, identityCard: '1198589000123042', fullName: 'Uwase' },
  ...{ cooperativeId: 1, cooperativeCode: 'A-1', cooperativeName: 'Abahuje' },
};
const LOAN: PaidLoan = { status: 'approved', paidUntil: null, paidAmountMinor: 1_000, amountMinor: 1_000 };

const faultsOf = (work: () => unknown): object => {
  try {
    work();
    return {};
  } catch (error) {
    assert.ok(error instanceof RegistryError && error.code === 'invalid');
    return { ...error.fields };
  }
};

test('only an approved or defaulted loan takes a new payment', () => {
  const refused = LOAN_STATUSES.filter((status) => {
    const faults = faultsOf(() => decideNewPayment({ ...LOAN, status }, VALUES, KIGALI));
    if (Object.keys(faults).length === 0) return false;
    assert.deepEqual(faults, { loan_id: [`This loan takes no payments: it is ${status}.`] });
    return true;
  });
  assert.deepEqual(refused, ['pending', 'rejected', 'cancelled', 'paid']);
});

test('a payment dated at or before the end of the opening balance is refused, with the end in the zone', () => {
  const paidUntil = Date.UTC(2026, 10, 21, 8) / 1000;
  const decide = (paidAt: number) =>
    faultsOf(() => decideNewPayment({ ...LOAN, paidUntil }, { ...VALUES, paidAt }, KIGALI));
  const counted =
    'Already counted in the opening balance of this loan, which runs until 2026-11-21T10:00:00+02:00.';
  assert.deepEqual(decide(paidUntil), { paid_at: [counted] });
  assert.deepEqual(decide(paidUntil - 1), { paid_at: [counted] });
  assert.deepEqual(decide(paidUntil + 1), {});
  const correct = (more: object) =>
    faultsOf(() => decidePayment(STORED, { ...LOAN, paidUntil: 400 }, { ...VALUES, ...more }, KIGALI));
  assert.deepEqual(Object.keys(correct({ paidAt: 400 })), ['paid_at']);
  assert.deepEqual(correct({ paidAt: 401 }), {});
});

test('a new payment cannot be void', () => {
  const faults = faultsOf(() => decideNewPayment(LOAN, { ...VALUES, status: 'void' }, KIGALI));
  assert.deepEqual(faults, { status: ['"void" is not a valid choice.'] });
});

test('a recorded payment is corrected or voided on a loan of any status, and keeps what is not given', () => {
  const { loanId: _loanId, status: _status, paidAt: _paidAt, ...given } = VALUES;
  for (const status of LOAN_STATUSES) {
    const values = decidePayment(STORED, { ...LOAN, status }, { ...given, amountMinor: 7 }, KIGALI);
    assert.deepEqual(values, { ...VALUES, amountMinor: 7 });
    assert.equal(
      decidePayment(STORED, { ...LOAN, status }, { ...given, status: 'void' }, KIGALI).status,
      'void',
    );
  }
  assert.deepEqual(
    faultsOf(() => decidePayment(STORED, LOAN, { ...VALUES, loanId: 2 }, KIGALI)),
    { loan_id: ['This field cannot be changed.'] },
  );
});

test('a void payment does not change any more; the same values are not a change', () => {
  const stored: PaymentRecord = { ...STORED, status: 'void' };
  const { status: _status, ...given } = VALUES;
  assert.deepEqual(decidePayment(stored, LOAN, given, KIGALI), { ...VALUES, status: 'void' });
  const fixed = ['This field cannot be changed once the payment is void.'];
  const other = { amountMinor: 1, method: 'bank', reference: 'P-2', status: 'recorded', paidAt: 1 } as const;
  assert.deepEqual(
    faultsOf(() => decidePayment(stored, LOAN, other, KIGALI)),
    { amount: fixed, method: fixed, reference: fixed, status: fixed, paid_at: fixed },
  );
});

test('what is paid follows each new, corrected and void payment, up to 12 digits before the point', () => {
  assert.equal(paidAfter(LOAN, undefined, VALUES), 2_000);
  assert.equal(paidAfter(LOAN, STORED, { ...VALUES, amountMinor: 300 }), 300);
  assert.equal(paidAfter(LOAN, STORED, { ...VALUES, status: 'void' }), 0);
  assert.equal(paidAfter(LOAN, { ...STORED, status: 'void' }, { ...VALUES, status: 'void' }), 1_000);
  const full = { amountMinor: MAX_MONEY_MINOR, paidAmountMinor: MAX_MONEY_MINOR - 1_000 };
  assert.equal(paidAfter(full, undefined, VALUES), 999_999_999_999_99);
  assert.deepEqual(
    faultsOf(() => paidAfter(full, undefined, { ...VALUES, amountMinor: 1_001 })),
    { amount: ['What is paid on this loan would have more than 12 digits before the decimal point.'] },
  );
});

test('beyond three times the amount of a loan, what is paid only becomes less', () => {
  const overpaid = [OVERPAID];
  assert.equal(paidAfter(LOAN, undefined, { ...VALUES, amountMinor: 2_000 }), 3_000);
  assert.deepEqual(
    faultsOf(() => paidAfter(LOAN, undefined, { ...VALUES, amountMinor: 2_001 })),
    { amount: overpaid },
  );
  const imported = { amountMinor: 1_000, paidAmountMinor: 9_000 };
  assert.equal(paidAfter(imported, STORED, VALUES), 9_000);
  assert.equal(paidAfter(imported, STORED, { ...VALUES, amountMinor: 999 }), 8_999);
  assert.deepEqual(
    faultsOf(() => paidAfter(imported, STORED, { ...VALUES, amountMinor: 1_001 })),
    { amount: overpaid },
  );
});
