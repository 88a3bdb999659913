/** The steps of a loan's status, and what may change when. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decideLoan,
  decideLoanStatus,
  decideNewLoan,
  LOAN_STATUSES,
  type LoanInput,
  type LoanRecord,
  refuseLoanEnd,
  selectLoanHistory,
} from '../../src/registry/loans.ts';
import { RegistryError } from '../../src/values/errors.ts';

const GIVEN = {
  ...{ memberId: 3, reference: 'L-1', amountMinor: 500_000_00, interestRateHundredths: 18_00 },
  ...{ loanStartDate: null, loanEndDate: null },
} as const satisfies LoanInput;

const STORED: LoanRecord = {
  ...GIVEN,
  ...{ id: 1, status: 'pending', approvedAt: null, paidAmountMinor: 0 },
  ...{ openingBalanceMinor: 0, paidUntil: null, createdAt: 5, updatedAt: 5 },
  ...{ memberId: 3, identityCard: '1198589000123042', fullName: 'Uwase' },
  ...{ cooperativeId: 1, cooperativeCode: 'A-1', cooperativeName: 'Abahuje' },
};

const faultsOf = (work: () => unknown): object => {
  try {
    work();
    return {};
  } catch (error) {
    assert.ok(error instanceof RegistryError && error.code === 'invalid');
    return { ...error.fields };
  }
};

test('a loan goes from pending to approved, rejected or cancelled, then to paid or defaulted, no other way', () => {
  const steps = LOAN_STATUSES.flatMap((from) =>
    LOAN_STATUSES.filter((to) => from !== to && decideLoanStatus(from, to) === undefined).map(
      (to) => `${from} ${to}`,
    ),
  );
  assert.deepEqual(steps, [
    ...['pending approved', 'pending rejected', 'pending cancelled'],
    ...['approved paid', 'approved defaulted', 'defaulted paid'],
  ]);
  for (const status of LOAN_STATUSES) assert.equal(decideLoanStatus(status, status), undefined);
  assert.equal(decideLoanStatus('paid', 'pending'), 'A loan cannot go from paid to pending.');
});

test('a new loan is pending unless it is given as approved, which sets when', () => {
  assert.deepEqual(decideNewLoan(GIVEN, 9), { ...GIVEN, status: 'pending', approvedAt: null });
  assert.equal(decideNewLoan({ ...GIVEN, status: 'approved' }, 9).approvedAt, 9);
  for (const status of LOAN_STATUSES.slice(2)) {
    const faults = faultsOf(() => decideNewLoan({ ...GIVEN, status }, 9));
    assert.deepEqual(faults, { status: [`"${status}" is not a valid choice.`] });
  }
});

test('the step to approved sets when, and nothing else does', () => {
  const decide = (status: LoanRecord['status'] | undefined, stored: Partial<LoanRecord>) =>
    decideLoan({ ...STORED, ...stored }, { ...GIVEN, status }, 9);
  assert.equal(decide('approved', {}).approvedAt, 9);
  assert.equal(decide('rejected', {}).approvedAt, null);
  for (const status of ['approved', 'paid', 'defaulted', undefined] as const)
    assert.equal(decide(status, { status: 'approved', approvedAt: 4 }).approvedAt, 4);
  // An import may have left it out.
  assert.equal(decide('approved', { status: 'approved', approvedAt: null }).approvedAt, null);
});

test('without a status or a member a loan keeps its own, and the member never changes', () => {
  const { memberId: _memberId, ...withoutMember } = GIVEN;
  const values = decideLoan({ ...STORED, status: 'defaulted' }, withoutMember, 9);
  assert.deepEqual([values.memberId, values.status], [3, 'defaulted']);
  assert.deepEqual(
    faultsOf(() => decideLoan(STORED, { ...GIVEN, memberId: 4 }, 9)),
    { member_id: ['This field cannot be changed.'] },
  );
});

test('amount and interest rate change only while a loan is pending, and all faults come together', () => {
  const other = { ...GIVEN, amountMinor: 1, interestRateHundredths: 0, reference: 'L-2' };
  assert.equal(decideLoan(STORED, { ...other, status: 'approved' }, 9).amountMinor, 1);
  const fixed = ['This field cannot be changed once the loan is approved.'];
  for (const status of LOAN_STATUSES.slice(1))
    assert.deepEqual(
      faultsOf(() => decideLoan({ ...STORED, status }, { ...other, status: 'pending' }, 9)),
      {
        status: [`A loan cannot go from ${status} to pending.`],
        amount: fixed,
        interest_rate: fixed,
      },
    );
  assert.equal(decideLoan({ ...STORED, status: 'paid' }, { ...GIVEN, reference: 'L-2' }, 9).reference, 'L-2');
});

test('an end before the start that is stored already stays until one of the two is changed', () => {
  const stored = { loanStartDate: 20, loanEndDate: 10 };
  const message = 'Ensure this is not before loan_start_date.';
  assert.equal(refuseLoanEnd(stored), message);
  assert.equal(refuseLoanEnd(stored, stored), undefined);
  assert.equal(refuseLoanEnd({ ...stored, loanEndDate: 11 }, stored), message);
  assert.equal(refuseLoanEnd({ ...stored, loanStartDate: 19 }, stored), message);
  for (const dates of [{ loanEndDate: 20 }, { loanEndDate: null }, { loanStartDate: null }])
    assert.equal(refuseLoanEnd({ ...stored, ...dates }), undefined);
});

test('ten applications never hide a debt: what was granted comes first in a loan history', () => {
  const loan = (id: number, status: (typeof LOAN_STATUSES)[number], loanStartDate: number | null) => ({
    id,
    status,
    loanStartDate,
  });
  const granted = [loan(3, 'approved', null), loan(1, 'defaulted', 20), loan(2, 'paid', 10)];
  const applications = Array.from({ length: 10 }, (_, i) => loan(20 - i, 'pending', null));
  const refused = [loan(30, 'rejected', 99), loan(31, 'cancelled', null)];
  const shown = selectLoanHistory([...refused, ...applications, ...granted]);
  assert.deepEqual(shown, [...granted, ...applications].slice(0, 10));
  assert.deepEqual(
    selectLoanHistory([...refused, ...granted]).map(({ id }) => id),
    [3, 1, 2, 31, 30],
  );
});
