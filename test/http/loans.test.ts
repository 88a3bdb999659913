/** Loans over HTTP: fields, steps of status, what changes when, filters (docs/api.md#loans-and-payments). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nid } from '../support/importing.ts';
import { LOAN_TERMS, startLending } from '../support/lending.ts';

const NOW = '2025-06-15T12:00:00+02:00';
const NOT_UNIQUE = ['This field must be unique.'];
const ONCE_APPROVED = ['This field cannot be changed once the loan is approved.'];

test('a loan is recorded as pending, returned in full, and found at its Location', async (context) => {
  const { get, post } = await startLending(context);
  const response = await post('/loans', {
    member_id: '2',
    reference: '  HUY \t 7',
    amount: '1680000.5',
    interest_rate: '19.5',
    loan_start_date: '2025-07-01',
    loan_end_date: '2026-12-31T23:59:59Z',
  });
  assert.equal(response.status, 201, response.text);
  assert.equal(response.headers.location, '/api/v1/loans/1');
  assert.equal(
    response.text,
    JSON.stringify({
      id: '1',
      amount: '1680000.50',
      interest_rate: '19.50',
      status: 'pending',
      paid_amount: '0.00',
      loan_start_date: '2025-07-01T00:00:00+02:00',
      loan_end_date: '2027-01-01T01:59:59+02:00',
      approved_at: null,
      member: { id: '2', identity_card: nid(2), full_name: 'Person 2' },
      cooperative: { id: '1', code: 'A-1', name: 'Coop A-1' },
      reference: 'HUY 7',
      created_at: NOW,
      updated_at: NOW,
    }),
  );
  assert.equal((await get('/loans/1')).text, response.text);
  assert.equal((await get('/loans/1/')).text, response.text);
  assert.deepEqual((await get('/loans')).json.results, [response.json]);
});

test('a loan may begin as approved, then approved_at is the moment of the request', async (context) => {
  const { lend, post } = await startLending(context);
  const loan = await lend({ status: 'approved' });
  assert.deepEqual([loan.status, loan.approved_at], ['approved', NOW]);
  for (const status of ['paid', 'rejected', 'lent']) {
    const response = await post('/loans', { member_id: '1', reference: 'X', ...LOAN_TERMS, status });
    assert.deepEqual(response.json, { status: [`"${status}" is not a valid choice.`] });
  }
});

test('member_id is a string or a whole number, and must be that of a member', async (context) => {
  const { lend, post } = await startLending(context);
  assert.equal((await lend({ member_id: 2 })).member.id, '2');
  const unknown = (shown: string) => ({ member_id: [`Invalid pk ${shown}- object does not exist.`] });
  for (const [member_id, expected] of [
    ['9', unknown('"9" ')],
    [9, unknown('"9" ')],
    ['M-1', unknown('"M-1" ')],
    [nid(1), unknown('')],
    [1.5, { member_id: ['Incorrect type. Expected pk value.'] }],
    [null, { member_id: ['This field may not be null.'] }],
    [undefined, { member_id: ['This field is required.'] }],
  ] as const) {
    const response = await post('/loans', { member_id, reference: 'X', ...LOAN_TERMS });
    assert.deepEqual([response.status, response.json], [400, expected], String(member_id));
  }
});

test('amounts and rates are decimal strings, exact to the last digit', async (context) => {
  const { lend, post } = await startLending(context);
  const large = await lend({ amount: '999999999999.99', interest_rate: ' 0 ' });
  assert.deepEqual([large.amount, large.interest_rate], ['999999999999.99', '0.00']);
  for (const [field, value, message] of [
    ['amount', '0', 'Ensure this value is greater than 0.'],
    ['amount', '-1', 'Ensure this value is greater than 0.'],
    ['amount', '0.00', 'Ensure this value is greater than 0.'],
    ['amount', '1000000000000', 'Ensure that there are no more than 12 digits before the decimal point.'],
    ['amount', '1.000', 'Ensure that there are no more than 2 decimal places.'],
    ['amount', '1,5', 'A valid number is required.'],
    ['amount', '1e3', 'A valid number is required.'],
    ['amount', 1000, 'Not a valid string.'],
    ['amount', null, 'This field may not be null.'],
    ['interest_rate', '-0.01', 'Ensure this value is greater than or equal to 0.'],
    ['interest_rate', '100.01', 'Ensure this value is less than or equal to 100.00.'],
    ['interest_rate', '', 'This field may not be blank.'],
  ] as const) {
    const body = { member_id: '1', reference: 'X', ...LOAN_TERMS, [field]: value };
    assert.deepEqual((await post('/loans', body)).json, { [field]: [message] }, String(value));
  }
});

test('the step to approved sets approved_at, which stays', async (context) => {
  const { app, lend, put } = await startLending(context);
  const loan = await lend();
  app.clock.advance(60_000);
  const approved = await put(`/loans/${loan.id}`, { ...loan, status: 'approved' });
  assert.equal(approved.json.approved_at, '2025-06-15T12:01:00+02:00');
  app.clock.advance(60_000);
  const paid = await put(`/loans/${loan.id}`, { ...loan, status: 'paid', approved_at: null });
  assert.equal(paid.json.approved_at, '2025-06-15T12:01:00+02:00');
  assert.equal(paid.json.updated_at, '2025-06-15T12:02:00+02:00');
});

test('the amount and the interest rate of a pending loan change, also with the step to approved', async (context) => {
  const { lend, put } = await startLending(context);
  const loan = await lend();
  const changed = await put(`/loans/${loan.id}`, { ...loan, amount: '1000.01', interest_rate: '17' });
  assert.deepEqual([changed.json.amount, changed.json.interest_rate], ['1000.01', '17.00']);
  const both = { reference: 'both', ...LOAN_TERMS, amount: '2', status: 'approved' };
  assert.deepEqual((await put(`/loans/${loan.id}`, both)).json.amount, '2.00');
});

test('PUT keeps what it leaves out, and null clears it', async (context) => {
  const { lend, put } = await startLending(context);
  const dates = { loan_start_date: '2025-06-20', loan_end_date: '2026-06-20' };
  const loan = await lend({ ...dates, status: 'approved', member_id: '2' });
  const response = await put(`/loans/${loan.id}`, { reference: 'R', ...LOAN_TERMS });
  assert.deepEqual(response.json, { ...loan, reference: 'R' });
  const cleared = await put(`/loans/${loan.id}`, { reference: 'R', ...LOAN_TERMS, loan_end_date: null });
  assert.deepEqual(cleared.json, { ...loan, reference: 'R', loan_end_date: null });
});

test('the member of a loan cannot be changed', async (context) => {
  const { lend, put } = await startLending(context);
  const loan = await lend();
  for (const member_id of ['1', 1, ' 1 ', '001'])
    assert.equal((await put(`/loans/${loan.id}`, { ...loan, member_id })).status, 200);
  for (const member_id of ['2', 3, '9'])
    assert.deepEqual((await put(`/loans/${loan.id}`, { ...loan, member_id })).json, {
      member_id: ['This field cannot be changed.'],
    });
});

test('a reference belongs to one loan of a cooperative', async (context) => {
  const { lend, post, put } = await startLending(context);
  await lend({ reference: 'L' });
  const taken = { member_id: '2', reference: ' L ', ...LOAN_TERMS };
  assert.deepEqual((await post('/loans', taken)).json, { reference: NOT_UNIQUE });
  assert.equal((await post('/loans', { ...taken, member_id: '3' })).status, 201);
  const other = await lend();
  assert.deepEqual((await put(`/loans/${other.id}`, { ...other, reference: 'L' })).json, {
    reference: NOT_UNIQUE,
  });
});

test('every fault of a loan is reported at once: of fields, of rules and of conflicts', async (context) => {
  const { lend, post, put } = await startLending(context);
  const loan = await lend({ reference: 'L', status: 'approved' });
  await lend({ reference: 'taken' });
  assert.deepEqual((await post('/loans', { member_id: '2', reference: 'L', amount: 'x', size: 1 })).json, {
    amount: ['A valid number is required.'],
    interest_rate: ['This field is required.'],
    size: ['Unknown field.'],
    reference: NOT_UNIQUE,
  });
  assert.deepEqual((await post('/loans', { member_id: '9', reference: 'L' })).json, {
    amount: ['This field is required.'],
    interest_rate: ['This field is required.'],
    member_id: ['Invalid pk "9" - object does not exist.'],
  });
  const wrong = { member_id: '2', reference: 'taken', amount: '9', interest_rate: 'x', status: 'rejected' };
  assert.deepEqual((await put(`/loans/${loan.id}`, { ...wrong, loan_end_date: 'soon' })).json, {
    interest_rate: ['A valid number is required.'],
    loan_end_date: [
      'Datetime has wrong format. Use one of these formats instead: ' +
        'YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
    ],
    member_id: ['This field cannot be changed.'],
    status: ['A loan cannot go from approved to rejected.'],
    amount: ONCE_APPROVED,
    reference: NOT_UNIQUE,
  });
  const rules = { ...loan, amount: '9', reference: 'taken' };
  assert.deepEqual((await put(`/loans/${loan.id}`, rules)).json, {
    amount: ONCE_APPROVED,
    reference: NOT_UNIQUE,
  });
});

test('filters narrow the list of loans, any of them together', async (context) => {
  const { get, lend } = await startLending(context);
  for (const [member_id, status] of [
    ['1', 'pending'],
    ['1', 'approved'],
    ['2', 'approved'],
    ['3', 'approved'],
    ['3', 'pending'],
  ] as const)
    await lend({ member_id, status });
  const ids = async (query: string) =>
    (await get(`/loans?${query}`)).json.results.map(({ id }: { id: string }) => id).join('');
  assert.equal(await ids(''), '12345');
  assert.equal(await ids('status=approved'), '234');
  assert.equal(await ids('cooperative=1'), '123');
  assert.equal(await ids('cooperative=1&status=approved'), '23');
  assert.equal(await ids('member=3'), '45');
  assert.equal(await ids('member=3&status=pending'), '5');
  assert.equal(await ids(`identity_card=${nid(1)}`), '1245');
  assert.equal(await ids(`identity_card=${nid(1)}&cooperative=2&status=approved`), '4');
  assert.equal(await ids('member=1&cooperative=2'), '');
  for (const query of ['cooperative=9', 'member=9', `identity_card=${nid(7)}`, 'status=paid'])
    assert.deepEqual((await get(`/loans?${query}`)).json, {
      ...{ count: 0, next: null, previous: null, results: [] },
    });
  const page = (await get(`/loans?page=2&page_size=2&identity_card=${nid(1)}`)).json;
  assert.equal(page.count, 4);
  assert.deepEqual(
    page.results.map(({ id }: { id: string }) => id),
    ['4', '5'],
  );
});

test('loans and payments are found by reference, and by the moment since which they were changed', async (context) => {
  const { app, get, lend, pay, put } = await startLending(context);
  await lend({ reference: 'A 7', status: 'approved' });
  await lend({ reference: 'A 7', member_id: '3', status: 'approved' });
  await pay('1', { reference: 'P/7' });
  app.clock.advance(60_000);
  const later = await lend({ reference: 'a 7', status: 'approved' });
  const payment = await pay('3', { reference: 'p/7' });
  const ids = async (path: string) =>
    (await get(path)).json.results.map(({ id }: { id: string }) => id).join('');
  const since = encodeURIComponent(later.updated_at);
  assert.equal(await ids('/loans?reference=A%207'), '12');
  assert.equal(await ids('/loans?reference=%20A%20%207&cooperative=2'), '2');
  assert.equal(await ids(`/loans?reference=A%207&identity_card=${nid(1)}&member=1`), '1');
  assert.equal(await ids('/loans?reference=B'), '');
  assert.equal(await ids('/payments?reference=P/7'), '1');
  assert.equal(await ids('/payments?reference=p/7&loan=1'), '');
  assert.equal(await ids(`/loans?updated_since=${since}`), '3');
  assert.equal(await ids('/loans?updated_since=2025-06-15&status=approved'), '123');
  assert.equal(await ids('/loans?updated_since=2025-06-16'), '');
  assert.equal(await ids(`/payments?updated_since=${since}`), '2');
  app.clock.advance(60_000);
  // A payment changes its loan, too.
  await put('/payments/2', { ...payment, status: 'void' });
  await pay('1');
  const now = encodeURIComponent((await get('/payments/2')).json.updated_at);
  assert.equal(await ids(`/loans?updated_since=${now}`), '13');
  assert.equal(await ids(`/payments?updated_since=${now}&status=void`), '2');
  for (const path of ['/loans', '/payments']) {
    const { status, json } = await get(`${path}?updated_since=yesterday&reference=`);
    assert.deepEqual([status, Object.keys(json).sort()], [400, ['reference', 'updated_since']]);
    assert.equal((await get(`${path}?updated_since=2025-06-15&page_size=1`)).json.results.length, 1);
  }
});

test('a filter by an id refuses what is not an id, and an unknown parameter is refused', async (context) => {
  const { get } = await startLending(context);
  const code = 'Expected the id of a cooperative; a code goes into /cooperatives?code=';
  for (const [query, expected] of [
    ['cooperative=A-1', { cooperative: [code] }],
    ['cooperative=', { cooperative: [code] }],
    ['member=M-1', { member: ['Expected the id of a member.'] }],
    [`member=${nid(1)}`, { member: ['Expected the id of a member.'] }],
    ['status=lent', { status: ['"lent" is not a valid choice.'] }],
    ['identity_card=1', { identity_card: ['Expected a national ID of exactly 16 digits.'] }],
    ['loan=1', { loan: ['Unknown parameter.'] }],
    ['member=1&member=2', { member: ['Given more than once.'] }],
  ] as const) {
    const response = await get(`/loans?${query}`);
    assert.deepEqual([response.status, response.json], [400, expected], query);
  }
});

test('a loan that does not exist, or whose id is malformed, is 404', async (context) => {
  const { get, lend, put } = await startLending(context);
  const loan = await lend();
  for (const id of ['2', '999999999999', '1234567890123', 'x', '-1', '1.0']) {
    assert.deepEqual((await get(`/loans/${id}`)).json, { detail: 'Not found.' }, id);
    assert.deepEqual((await put(`/loans/${id}`, loan)).json, { detail: 'Not found.' }, id);
  }
});
