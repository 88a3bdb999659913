/** Loans and payments over HTTP against a naive model: which fields are refused, and what is stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { nid } from '../support/importing.ts';
import { type Lending, startLending } from '../support/lending.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

interface Loan {
  readonly memberId: number;
  reference: string;
  amount: number;
  rate: number;
  status: string;
}

interface Payment {
  readonly loan: Loan;
  reference: string;
  amount: number;
  method: string;
  status: string;
  paidAt: string;
}

const LARGEST = 99_999_999_999_999;
/** Hundredths by what is sent; others are wrong. */
const AMOUNTS = new Map([
  ...(['1', '250.10', '0.01'] as const).map((text): [string, number] => [text, Math.round(+text * 100)]),
  ['999999999999.90', 99_999_999_999_990] as [string, number],
]);
const RATES = new Map([
  ['0', 0],
  ['18.5', 1850],
]);
const DAYS = ['2025-06-01T00:00:00+02:00', '2025-06-15T12:00:00+02:00'];
const NOW = DAYS[1] as string;
const STEPS = ['pending approved', 'pending rejected', 'pending cancelled'].concat(
  'approved paid',
  'approved defaulted',
  'defaulted paid',
);
const LOAN_STATUSES = ['pending', 'approved', 'rejected', 'cancelled', 'paid', 'defaulted'];

const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values);
/** Mostly what is right, or hardly a body would be accepted. */
const mostly = <T, U>(right: readonly T[], wrong: readonly U[]): fc.Arbitrary<T | U> =>
  fc.oneof({ weight: 14, arbitrary: oneOf(...right) }, { weight: 1, arbitrary: oneOf(...wrong) });
const reference = mostly(
  Array.from({ length: 20 }, (_, i) => `R-${i}`),
  [undefined],
);
const loanBody = fc.record({
  member_id: mostly(['1', '1', '2', '3', undefined], ['9']),
  reference,
  amount: mostly(['250.10', '250.10', '999999999999.90'], ['1', '0', undefined]),
  interest_rate: mostly(['18.5'], ['0', '101']),
  status: mostly(
    ['approved', 'approved', undefined, undefined, 'paid', 'defaulted'],
    [...LOAN_STATUSES, 'lent'],
  ),
});
const paymentBody = fc.record({
  loan_id: mostly(['1', '1', '2', undefined], ['3', '99']),
  reference,
  amount: mostly([...AMOUNTS.keys(), '1', '250.10'], ['0', 'x', undefined]),
  method: mostly(['cash', 'bank'], ['gold']),
  status: mostly(['recorded', undefined], ['void', 'lost']),
  paid_at: mostly([...DAYS, undefined], ['2999-01-01']),
});
const operation = fc.oneof(
  fc.record({ path: fc.constant('loans'), id: fc.constant(0), body: loanBody }),
  fc.record({ path: fc.constant('loans'), id: fc.integer({ min: 1, max: 4 }), body: loanBody }),
  fc.record({ path: fc.constant('payments'), id: fc.constant(0), body: paymentBody }),
  fc.record({ path: fc.constant('payments'), id: fc.integer({ min: 1, max: 6 }), body: paymentBody }),
);
type Sent = { readonly [field: string]: string | undefined };

class Model {
  readonly loans: Loan[] = [];
  readonly payments: Payment[] = [];

  private cooperative = (memberId: number): number => (memberId === 3 ? 2 : 1);

  paid(loan: Loan, without?: Payment): number {
    const counted = this.payments.filter(
      (each) => each.loan === loan && each.status === 'recorded' && each !== without,
    );
    return counted.reduce((sum, each) => sum + each.amount, 0);
  }

  private isTooMuch(loan: Loan, paid: number): boolean {
    return paid > LARGEST || (paid > this.paid(loan) && paid > 3 * loan.amount);
  }

  /** Whether another row of the cooperative has the reference. */
  private isTaken(kind: 'loans' | 'payments', text: string | undefined, memberId: number, own?: object) {
    return (this[kind] as (Loan | Payment)[]).some(
      (each) =>
        each !== own &&
        each.reference === text &&
        this.cooperative('loan' in each ? each.loan.memberId : each.memberId) === this.cooperative(memberId),
    );
  }

  /** @returns the fields that are refused, or undefined when nothing has this id */
  writeLoan(id: number, body: Sent): string[] | undefined {
    const stored = this.loans[id - 1];
    if (id > 0 && stored === undefined) return undefined;
    const wrong = new Set<string>();
    const memberId = Number(body.member_id ?? stored?.memberId ?? 9);
    if (stored === undefined ? memberId === 9 : memberId !== stored.memberId) wrong.add('member_id');
    const home = stored?.memberId ?? memberId;
    if (body.reference === undefined) wrong.add('reference');
    else if (home !== 9 && this.isTaken('loans', body.reference, home, stored)) wrong.add('reference');
    const [newAmount, rate] = [AMOUNTS.get(body.amount ?? ''), RATES.get(body.interest_rate ?? '')];
    const isFixed = stored !== undefined && stored.status !== 'pending';
    if (newAmount === undefined || (isFixed && newAmount !== stored.amount)) wrong.add('amount');
    if (rate === undefined || (isFixed && rate !== stored.rate)) wrong.add('interest_rate');
    const status = body.status ?? stored?.status ?? 'pending';
    const isStep =
      stored === undefined
        ? ['pending', 'approved'].includes(status)
        : status === stored.status || STEPS.includes(`${stored.status} ${status}`);
    if (!isStep) wrong.add('status');
    if (wrong.size === 0) {
      const values = { reference: body.reference as string, amount: newAmount as number, status };
      if (stored === undefined) this.loans.push({ memberId, rate: rate as number, ...values });
      else Object.assign(stored, { rate, ...values });
    }
    return [...wrong].sort();
  }

  /** As writeLoan. */
  writePayment(id: number, body: Sent): string[] | undefined {
    const stored = this.payments[id - 1];
    if (id > 0 && stored === undefined) return undefined;
    const wrong = new Set<string>();
    const given = body.loan_id === undefined ? undefined : this.loans[Number(body.loan_id) - 1];
    const loan = stored?.loan ?? given;
    if (stored === undefined) {
      if (given === undefined || !['approved', 'defaulted'].includes(given.status)) wrong.add('loan_id');
    } else if (body.loan_id !== undefined && given !== stored.loan) wrong.add('loan_id');
    if (body.reference === undefined) wrong.add('reference');
    else if (loan !== undefined && this.isTaken('payments', body.reference, loan.memberId, stored))
      wrong.add('reference');
    const newAmount = AMOUNTS.get(body.amount ?? '');
    if (newAmount === undefined) wrong.add('amount');
    const method = body.method as string;
    if (method === 'gold') wrong.add('method');
    const status = body.status ?? stored?.status ?? 'recorded';
    if (status === 'lost' || (stored === undefined && status === 'void')) wrong.add('status');
    const paidAt = body.paid_at ?? stored?.paidAt ?? NOW;
    if (!DAYS.includes(paidAt)) wrong.add('paid_at');
    const values = {
      reference: body.reference as string,
      amount: newAmount as number,
      method,
      status,
      paidAt,
    };
    if (stored?.status === 'void') {
      for (const [field, name] of Object.entries({ ...NAMES }))
        if (values[field as keyof typeof NAMES] !== stored[field as keyof typeof NAMES]) wrong.add(name);
    } else if (loan !== undefined && newAmount !== undefined && status !== 'void') {
      const counts = status === 'lost' && stored !== undefined ? stored.status === 'recorded' : true;
      if (counts && this.isTooMuch(loan, this.paid(loan, stored) + newAmount)) wrong.add('amount');
    } else if (loan !== undefined && stored === undefined && newAmount !== undefined) {
      if (this.isTooMuch(loan, this.paid(loan) + newAmount)) wrong.add('amount');
    }
    if (wrong.size === 0) {
      if (stored === undefined) this.payments.push({ loan: loan as Loan, ...values });
      else Object.assign(stored, values);
    }
    return [...wrong].sort();
  }
}

const NAMES = {
  ...{ reference: 'reference', amount: 'amount', method: 'method' },
  ...{ status: 'status', paidAt: 'paid_at' },
} as const;

const RUNS = quickOrLong(8, 30);

const money = (minor: number): string => (minor / 100).toFixed(2);

/** Compares every loan and payment, and the history of loans in the lookups. */
async function compare({ get }: Lending, model: Model): Promise<void> {
  const loans = (await get('/loans')).json.results;
  assert.deepEqual(
    loans.map((loan: { [field: string]: unknown }) => [
      ...[loan.reference, loan.amount, loan.interest_rate, loan.status, loan.paid_amount],
      (loan.member as { id: string }).id,
    ]),
    model.loans.map((loan) => [
      ...[loan.reference, money(loan.amount), money(loan.rate), loan.status, money(model.paid(loan))],
      String(loan.memberId),
    ]),
  );
  const payments = (await get('/payments')).json.results;
  assert.deepEqual(
    payments.map((payment: { [field: string]: unknown }) => [
      ...[
        payment.reference,
        payment.loan_id,
        payment.amount,
        payment.method,
        payment.status,
        payment.paid_at,
      ],
    ]),
    model.payments.map(({ loan, ...payment }) => [
      ...[payment.reference, String(model.loans.indexOf(loan) + 1), money(payment.amount), payment.method],
      ...[payment.status, payment.paidAt],
    ]),
  );
  for (const person of [1, 2]) {
    const { memberships } = (await get(`/members/${nid(person)}`)).json;
    const shown = memberships.flatMap((each: { loan_history: { id: string; paid_amount: string }[] }) =>
      each.loan_history.map(({ id, paid_amount }) => [id, paid_amount]),
    );
    for (const [id, paid] of shown) assert.equal(paid, money(model.paid(model.loans[+id - 1] as Loan)));
    const owned = model.loans.filter(({ memberId }) => (person === 2 ? memberId === 2 : memberId !== 2));
    assert.equal(shown.length, owned.length);
  }
}

test('random loans and payments are refused for the fields, and stored with the values, of the rules', async (context) => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 20, maxLength: 60 }), async (operations) => {
      const lending = await startLending(context);
      const model = new Model();
      for (const { path, id, body } of operations) {
        const write = id === 0 ? lending.post(`/${path}`, body) : lending.put(`/${path}/${id}`, body);
        const response = await write;
        const refused =
          path === 'loans' ? model.writeLoan(id, body as Sent) : model.writePayment(id, body as Sent);
        const what = `${id === 0 ? 'POST' : 'PUT'} /${path}/${id} ${JSON.stringify(body)}: ${response.text}`;
        if (refused === undefined) assert.equal(response.status, 404, what);
        else if (refused.length === 0) assert.equal(response.status, id === 0 ? 201 : 200, what);
        else assert.deepEqual([response.status, Object.keys(response.json).sort()], [400, refused], what);
        if (refused?.length === 0) accepted++;
      }
      await compare(lending, model);
      await lending.app.registry.close();
    }),
    { numRuns: RUNS },
  );
  assert.ok(accepted > 2 * RUNS, `${accepted} accepted`);
});
