/** Payments over HTTP: fields, which loan takes them, voiding (docs/api.md#loans-and-payments). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAYMENT_METHODS } from '../../src/registry/payments.ts';
import { startApp } from '../support/app.ts';
import { COOPERATIVES, importPlace, member, members, nid } from '../support/importing.ts';
import { startLending } from '../support/lending.ts';

const NOW = '2025-06-15T12:00:00+02:00';
const NOT_UNIQUE = ['This field must be unique.'];
const ONCE_VOID = ['This field cannot be changed once the payment is void.'];
const PAYMENT = { amount: '100', method: 'cash', reference: 'P' };

test('a payment is recorded as of now, returned in full, and found at its Location', async (context) => {
  const { get, lend, post } = await startLending(context);
  await lend({ status: 'approved', member_id: '2', amount: '200000' });
  const body = { loan_id: '1', amount: '105000.5', method: 'mobile_money', reference: ' HUY  12 ' };
  const response = await post('/payments', body);
  assert.equal(response.status, 201, response.text);
  assert.equal(response.headers.location, '/api/v1/payments/1');
  assert.equal(
    response.text,
    JSON.stringify({
      id: '1',
      loan_id: '1',
      amount: '105000.50',
      method: 'mobile_money',
      reference: 'HUY 12',
      status: 'recorded',
      paid_at: NOW,
      created_at: NOW,
      updated_at: NOW,
      member: { id: '2', identity_card: nid(2), full_name: 'Person 2' },
      cooperative: { id: '1', code: 'A-1', name: 'Coop A-1' },
    }),
  );
  assert.equal((await get('/payments/1')).text, response.text);
  assert.equal((await get('/payments/1/')).text, response.text);
  assert.deepEqual((await get('/payments')).json.results, [response.json]);
});

test('the lookup shows what is paid as soon as a payment is recorded, corrected or void', async (context) => {
  const { get, post, put } = await startLending(context);
  const loan = (
    await post('/loans', { member_id: '1', reference: 'L', amount: '300000', interest_rate: '18' })
  ).json;
  const shown = async () => {
    const person = (await get(`/members/${nid(1)}/`)).json;
    const inOne = (await get(`/cooperatives/1/members/${nid(1)}/`)).json;
    const history = inOne.loan_history;
    assert.deepEqual(
      person.memberships.find((each: typeof inOne) => each.cooperative.id === '1').loan_history,
      history,
    );
    const { member, cooperative, reference, created_at, updated_at, ...rest } = (await get('/loans/1')).json;
    assert.deepEqual(history, [rest]);
    return [rest.status, rest.paid_amount];
  };
  assert.deepEqual(await shown(), ['pending', '0.00']);
  await put(`/loans/${loan.id}`, { ...loan, status: 'approved' });
  assert.deepEqual(await shown(), ['approved', '0.00']);
  const paid = async (reference: string, amount: string) => {
    const response = await post('/payments', { loan_id: loan.id, amount, method: 'bank', reference });
    assert.equal(response.status, 201, response.text);
    return response.json;
  };
  await paid('P-1', '100000.01');
  assert.deepEqual(await shown(), ['approved', '100000.01']);
  const second = await paid('P-2', '0.09');
  assert.deepEqual(await shown(), ['approved', '100000.10']);
  const third = await paid('P-3', '50000');
  assert.deepEqual(await shown(), ['approved', '150000.10']);
  assert.equal((await put(`/payments/${third.id}`, { ...third, status: 'void' })).json.status, 'void');
  assert.deepEqual(await shown(), ['approved', '100000.10']);
  assert.equal((await put(`/payments/${second.id}`, { ...second, amount: '0.10' })).status, 200);
  assert.deepEqual(await shown(), ['approved', '100000.11']);
  // More than was lent, which may be interest, ends nothing by itself.
  await paid('P-4', '799999.89');
  assert.deepEqual(await shown(), ['approved', '900000.00']);
});

test('a loan of a large amount is paid back exactly, to at most 12 digits before the point', async (context) => {
  const { get, lend, pay, post, put } = await startLending(context);
  const { id } = await lend({ status: 'approved', amount: '500000000000' });
  const first = await pay(id, { amount: '999999999999.98' });
  const one = { ...PAYMENT, loan_id: id, amount: '0.01' };
  assert.equal((await post('/payments', one)).status, 201);
  assert.equal((await get(`/loans/${id}`)).json.paid_amount, '999999999999.99');
  const tooMuch = {
    amount: ['What is paid on this loan would have more than 12 digits before the decimal point.'],
  };
  assert.deepEqual((await post('/payments', { ...one, reference: 'Q' })).json, tooMuch);
  assert.deepEqual((await put('/payments/2', { ...one, amount: '0.02' })).json, tooMuch);
  assert.equal((await put(`/payments/${first.id}`, { ...first, amount: '999999999999.97' })).status, 200);
  assert.equal((await get(`/loans/${id}`)).json.paid_amount, '999999999999.98');
});

test('a payment beyond three times the amount of its loan is left to an import', async (context) => {
  const { app, get, lend, pay, post, put } = await startLending(context);
  const { id } = await lend({ status: 'approved' });
  const first = await pay(id, { amount: '2900' });
  const second = await pay(id, { amount: '100' });
  const refused = {
    amount: [
      'What is paid on this loan would be more than three times its amount. ' +
        'If that is right, an operator can import it.',
    ],
  };
  const patch = (path: string, body: unknown) => app.send(path, { method: 'PATCH', body });
  const more = { ...PAYMENT, loan_id: id, amount: '100.01' };
  for (const response of [
    await post('/payments', { ...more, amount: '0.01' }),
    await put(`/payments/${second.id}`, { ...second, amount: '100.01' }),
    await patch(`/payments/${second.id}`, { amount: '100.01' }),
  ])
    assert.deepEqual([response.status, response.json], [400, refused]);
  assert.equal((await get(`/loans/${id}`)).json.paid_amount, '3000.00');
  assert.equal((await patch(`/payments/${first.id}`, { status: 'void' })).status, 200);
  assert.equal((await post('/payments', more)).status, 201);
});

test('a payment begins as recorded, and the only step leads to void, which is final', async (context) => {
  const { app, get, lend, pay, post, put } = await startLending(context);
  const loan = await lend({ status: 'approved' });
  const body = { ...PAYMENT, loan_id: loan.id };
  for (const status of ['void', 'lost']) {
    assert.deepEqual((await post('/payments', { ...body, status })).json, {
      status: [`"${status}" is not a valid choice.`],
    });
  }
  assert.equal((await post('/payments', { ...body, status: 'recorded' })).status, 201);
  const payment = await pay(loan.id);
  const { loan_id: _, status: __, paid_at: ___, ...without } = payment;
  const gone = (await put(`/payments/${payment.id}`, { ...without, status: 'void' })).json;
  assert.equal(gone.status, 'void');
  app.clock.advance(60_000);
  const changes = {
    ...{ status: 'recorded', amount: '1', method: 'bank', reference: 'other' },
    paid_at: '2025-06-01T00:00:00+02:00',
  };
  assert.deepEqual((await put(`/payments/${payment.id}`, { ...gone, ...changes })).json, {
    ...{ status: ONCE_VOID, amount: ONCE_VOID, method: ONCE_VOID, reference: ONCE_VOID, paid_at: ONCE_VOID },
  });
  assert.deepEqual((await put(`/payments/${payment.id}`, gone)).json, gone);
  assert.deepEqual((await get(`/payments/${payment.id}`)).json, gone);
});

test('loan_id is a string or a whole number, must be that of a loan, and never changes', async (context) => {
  const { lend, pay, post, put } = await startLending(context);
  const [loan, other] = [await lend({ status: 'approved' }), await lend({ status: 'approved' })];
  const payment = await pay(loan.id, { loan_id: 1 });
  assert.equal(payment.loan_id, '1');
  for (const [loan_id, message] of [
    ['9', 'Invalid pk "9" - object does not exist.'],
    [9, 'Invalid pk "9" - object does not exist.'],
    ['L-1', 'Invalid pk "L-1" - object does not exist.'],
    [nid(1), 'Invalid pk - object does not exist.'],
    [{}, 'Incorrect type. Expected pk value.'],
    [null, 'This field may not be null.'],
    [undefined, 'This field is required.'],
  ] as const) {
    const response = await post('/payments', { ...PAYMENT, loan_id });
    assert.deepEqual([response.status, response.json], [400, { loan_id: [message] }], String(loan_id));
  }
  for (const loan_id of [1, '1', undefined])
    assert.equal((await put(`/payments/${payment.id}`, { ...payment, loan_id })).status, 200);
  for (const loan_id of [other.id, '9'])
    assert.deepEqual((await put(`/payments/${payment.id}`, { ...payment, loan_id })).json, {
      loan_id: ['This field cannot be changed.'],
    });
});

test('paid_at lies in the past, is now when it is omitted, and stays when PUT omits it', async (context) => {
  const { app, lend, pay, post, put } = await startLending(context);
  const loan = await lend({ status: 'approved' });
  const payment = await pay(loan.id, { paid_at: '2025-06-01' });
  assert.equal(payment.paid_at, '2025-06-01T00:00:00+02:00');
  app.clock.advance(60_000);
  const { paid_at: _, ...without } = payment;
  const changed = (await put(`/payments/${payment.id}`, { ...without, method: 'deduction' })).json;
  assert.deepEqual([changed.paid_at, changed.status], [payment.paid_at, 'recorded']);
  for (const [paid_at, message] of [
    ['2025-06-15T12:01:01+02:00', 'This date is in the future.'],
    [null, 'This field may not be null.'],
  ])
    assert.deepEqual((await post('/payments', { ...PAYMENT, loan_id: loan.id, paid_at })).json, {
      paid_at: [message],
    });
});

test('the amount of a payment is more than 0, and its method is one of the list', async (context) => {
  const { lend, pay, post } = await startLending(context);
  const loan = await lend({ status: 'approved' });
  for (const method of PAYMENT_METHODS) assert.equal((await pay(loan.id, { method })).method, method);
  for (const [field, value, message] of [
    ['amount', '0', 'Ensure this value is greater than 0.'],
    ['amount', '-5', 'Ensure this value is greater than 0.'],
    ['amount', '0.001', 'Ensure that there are no more than 2 decimal places.'],
    ['amount', 5, 'Not a valid string.'],
    ['method', 'CASH', '"CASH" is not a valid choice.'],
    ['method', '', 'This field may not be blank.'],
    ['reference', ' ', 'This field may not be blank.'],
    ['reference', 'x'.repeat(65), 'Ensure this field has no more than 64 characters.'],
  ] as const) {
    const body = { ...PAYMENT, loan_id: loan.id, [field]: value };
    assert.deepEqual((await post('/payments', body)).json, { [field]: [message] }, String(value));
  }
});

test('a reference belongs to one payment of a cooperative, void ones included', async (context) => {
  const { lend, pay, post, put } = await startLending(context);
  const [loan, same, other] = [
    await lend({ status: 'approved' }),
    await lend({ status: 'approved', member_id: '2' }),
    await lend({ status: 'approved', member_id: '3' }),
  ];
  const payment = await pay(loan.id, { reference: 'P' });
  await put(`/payments/${payment.id}`, { ...payment, status: 'void' });
  assert.deepEqual((await post('/payments', { ...PAYMENT, loan_id: same.id })).json, {
    reference: NOT_UNIQUE,
  });
  assert.equal((await post('/payments', { ...PAYMENT, loan_id: other.id })).status, 201);
  const another = await pay(loan.id);
  assert.deepEqual((await put(`/payments/${another.id}`, { ...another, reference: 'P' })).json, {
    reference: NOT_UNIQUE,
  });
});

test('every fault of a payment is reported at once: of fields, of rules and of conflicts', async (context) => {
  const { lend, pay, post, put } = await startLending(context);
  const pending = await lend();
  const loan = await lend({ status: 'approved', amount: '500000000000' });
  const payment = await pay(loan.id, { reference: 'P' });
  assert.deepEqual((await post('/payments', { loan_id: pending.id, reference: 'P', by: 'x' })).json, {
    amount: ['This field is required.'],
    method: ['This field is required.'],
    by: ['Unknown field.'],
    loan_id: ['This loan takes no payments: it is pending.'],
    reference: NOT_UNIQUE,
  });
  assert.deepEqual((await post('/payments', { ...PAYMENT, loan_id: pending.id })).json, {
    loan_id: ['This loan takes no payments: it is pending.'],
    reference: NOT_UNIQUE,
  });
  assert.deepEqual((await post('/payments', { ...PAYMENT, loan_id: '9', amount: 'x' })).json, {
    amount: ['A valid number is required.'],
    loan_id: ['Invalid pk "9" - object does not exist.'],
  });
  const second = await pay(loan.id, { amount: '999999999000' });
  assert.deepEqual((await post('/payments', { ...PAYMENT, loan_id: loan.id, amount: '999999999999' })).json, {
    amount: ['What is paid on this loan would have more than 12 digits before the decimal point.'],
    reference: NOT_UNIQUE,
  });
  const wrong = { ...second, loan_id: pending.id, reference: 'P', amount: '999999999999', method: 'x' };
  assert.deepEqual((await put(`/payments/${second.id}`, wrong)).json, {
    method: ['"x" is not a valid choice.'],
    loan_id: ['This field cannot be changed.'],
    amount: ['What is paid on this loan would have more than 12 digits before the decimal point.'],
    reference: NOT_UNIQUE,
  });
  await put(`/payments/${payment.id}`, { ...payment, status: 'void' });
  assert.deepEqual((await put(`/payments/${payment.id}`, { ...payment, amount: 'x', method: 'bank' })).json, {
    amount: ['A valid number is required.'],
    method: ONCE_VOID,
    status: ONCE_VOID,
  });
});

test('filters narrow the list of payments, any of them together', async (context) => {
  const { get, lend, pay, put } = await startLending(context);
  for (const member_id of ['1', '2', '3']) await lend({ member_id, status: 'approved' });
  for (const [i, loan] of ['1', '1', '2', '3', '3'].entries()) {
    const payment = await pay(loan);
    if (i % 3 === 1) await put(`/payments/${payment.id}`, { ...payment, status: 'void' });
  }
  const ids = async (query: string) =>
    (await get(`/payments?${query}`)).json.results.map(({ id }: { id: string }) => id).join('');
  assert.equal(await ids(''), '12345');
  assert.equal(await ids('status=void'), '25');
  assert.equal(await ids('cooperative=1'), '123');
  assert.equal(await ids('cooperative=2&status=recorded'), '4');
  assert.equal(await ids('loan=1'), '12');
  assert.equal(await ids('loan=1&status=recorded'), '1');
  assert.equal(await ids(`identity_card=${nid(1)}`), '1245');
  assert.equal(await ids(`identity_card=${nid(1)}&cooperative=2&status=void&loan=3`), '5');
  assert.equal(await ids('loan=1&cooperative=2'), '');
  for (const query of ['cooperative=9', 'loan=9', `identity_card=${nid(7)}`])
    assert.deepEqual((await get(`/payments?${query}`)).json, {
      ...{ count: 0, next: null, previous: null, results: [] },
    });
  for (const [query, expected] of [
    [
      'cooperative=A-1',
      { cooperative: ['Expected the id of a cooperative; a code goes into /cooperatives?code='] },
    ],
    ['loan=L-1', { loan: ['Expected the id of a loan.'] }],
    ['loan=', { loan: ['Expected the id of a loan.'] }],
    ['status=lost', { status: ['"lost" is not a valid choice.'] }],
    ['member=1', { member: ['Unknown parameter.'] }],
  ] as const) {
    const response = await get(`/payments?${query}`);
    assert.deepEqual([response.status, response.json], [400, expected], query);
  }
});

test('a payment that does not exist, or whose id is malformed, is 404', async (context) => {
  const { get, lend, pay, put } = await startLending(context);
  const loan = await lend({ status: 'approved' });
  const payment = await pay(loan.id);
  for (const id of ['2', '999999999999', '1234567890123', 'x', '-1']) {
    assert.deepEqual((await get(`/payments/${id}`)).json, { detail: 'Not found.' }, id);
    assert.deepEqual((await put(`/payments/${id}`, payment)).json, { detail: 'Not found.' }, id);
  }
});

test('64 payments sent at once are all paid, and of 16 with the same reference one', async (context) => {
  const { get, lend, post } = await startLending(context);
  const loan = await lend({ status: 'approved' });
  const body = { ...PAYMENT, loan_id: loan.id, amount: '0.01' };
  const sent = await Promise.all(
    Array.from({ length: 64 }, (_, i) => post('/payments', { ...body, reference: `P-${i}` })),
  );
  assert.deepEqual([...new Set(sent.map(({ status }) => status))], [201]);
  const same = await Promise.all(Array.from({ length: 16 }, () => post('/payments', body)));
  assert.equal(same.filter(({ status }) => status === 201).length, 1);
  assert.equal((await get(`/loans/${loan.id}`)).json.paid_amount, '0.65');
  assert.equal((await get('/payments')).json.count, 65);
});

test('of two steps of a loan sent at once, the second is decided from what the first has stored', async (context) => {
  const { get, lend, put } = await startLending(context);
  for (let round = 0; round < 10; round++) {
    const loan = await lend();
    const steps = ['rejected', 'approved'];
    const responses = await Promise.all(steps.map((status) => put(`/loans/${loan.id}`, { ...loan, status })));
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 400]);
    const taken = steps[responses.findIndex(({ status }) => status === 200)];
    assert.equal((await get(`/loans/${loan.id}`)).json.status, taken);
  }
});

test('a payment within the opening balance of its loan is refused, with where the balance ends', async (context) => {
  const place = importPlace(context);
  await place.load('cooperatives', COOPERATIVES, '--create');
  await place.load('members', members(member(1)));
  const loans = (...rows: string[]) =>
    [
      'cooperative_code,member_code,reference,amount,interest_rate,status,paid_amount,paid_until',
      ...rows,
    ].join('\n');
  // The second balance runs until the import, which is the moment of the requests.
  const imported = await place.load(
    'loans',
    loans('A-1,M-1,L-1,1000,18,approved,400,2025-06-01', 'A-1,M-1,L-2,1000,18,approved,300,'),
  );
  assert.equal(imported.status, 0, imported.err);
  const app = await startApp(context, { folder: place.folder });
  const post = (body: unknown) => app.send('/payments', { method: 'POST', body });
  const until = (moment: string) => ({
    paid_at: [`Already counted in the opening balance of this loan, which runs until ${moment}.`],
  });
  const first = { ...PAYMENT, loan_id: '1' };
  for (const paid_at of ['2025-06-01', '2025-05-31T22:00:00Z', '2020-01-01']) {
    assert.deepEqual((await post({ ...first, paid_at })).json, until('2025-06-01T00:00:00+02:00'));
  }
  assert.equal((await post({ ...first, paid_at: '2025-06-01T00:00:01' })).status, 201);
  assert.equal((await app.send('/loans/1')).json.paid_amount, '500.00');
  const payment = (await app.send('/payments/1')).json;
  const earlier = { ...payment, paid_at: '2025-05-01', reference: '' };
  assert.deepEqual((await app.send('/payments/1', { method: 'PUT', body: earlier })).json, {
    reference: ['This field may not be blank.'],
    ...until('2025-06-01T00:00:00+02:00'),
  });
  const second = { ...PAYMENT, loan_id: '2', reference: 'Q' };
  assert.deepEqual((await post(second)).json, until(NOW));
  // What is wrong with a field is not joined by what is wrong with its substitute.
  assert.deepEqual((await post({ ...second, paid_at: '2999-01-01' })).json, {
    paid_at: ['This date is in the future.'],
  });
  app.clock.advance(1000);
  assert.equal((await post(second)).status, 201);
  assert.equal((await app.send('/loans/2')).json.paid_amount, '400.00');
  const gone = { ...payment, status: 'void', paid_at: '2025-06-02' };
  assert.equal((await app.send('/payments/1', { method: 'PUT', body: gone })).status, 200);
  assert.equal((await app.send('/loans/1')).json.paid_amount, '400.00');
});
