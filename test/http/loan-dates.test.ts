/** The start and end of loans over HTTP (docs/api.md#loans). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOAN_TERMS, startLending } from '../support/lending.ts';
import { openFile } from '../support/sqlite.ts';

test('a loan does not end before it starts, whichever of the two dates changes', async (context) => {
  const { app, get, lend, post, put } = await startLending(context);
  const patch = (path: string, body: unknown) => app.send(path, { method: 'PATCH', body });
  const refused = { loan_end_date: ['Ensure this is not before loan_start_date.'] };
  const wrong = { loan_start_date: '2025-06-20', loan_end_date: '2025-06-19T23:59:59+02:00' };
  const body = { member_id: '1', reference: 'E', ...LOAN_TERMS };
  const created = await post('/loans', { ...body, ...wrong });
  assert.deepEqual([created.status, created.json], [400, refused]);
  const { amount: _, ...withoutAmount } = body;
  assert.deepEqual((await post('/loans', { ...withoutAmount, ...wrong })).json, {
    ...{ amount: ['This field is required.'], ...refused },
  });
  const same = { loan_start_date: '2025-06-20', loan_end_date: '2025-06-20' };
  const loan = await lend(same);
  const path = `/loans/${loan.id}`;
  assert.deepEqual((await put(path, { ...loan, ...wrong })).json, refused);
  assert.deepEqual((await patch(path, { loan_end_date: '2025-06-19' })).json, refused);
  assert.deepEqual((await patch(path, { loan_start_date: '2025-06-21' })).json, refused);
  // An end is not compared with a start that is wrong itself.
  const soon = await patch(path, { loan_start_date: 'soon', loan_end_date: '2025-06-19' });
  assert.deepEqual(Object.keys(soon.json), ['loan_start_date']);
  assert.deepEqual((await get(path)).json, loan);
  assert.equal((await patch(path, { loan_end_date: null })).status, 200);
  assert.equal((await patch(path, { loan_start_date: '2025-06-21' })).status, 200);
});

test('a loan that an import brought with an end before its start takes other changes', async (context) => {
  const { app, lend, put } = await startLending(context);
  const patch = (path: string, body: unknown) => app.send(path, { method: 'PATCH', body });
  const loan = await lend({ loan_start_date: '2025-06-20', loan_end_date: '2025-06-20' });
  const path = `/loans/${loan.id}`;
  const db = openFile(app.config.storage);
  db.raw.prepare('UPDATE loans SET loan_end_date = loan_end_date - 86400 WHERE id = 1').run();
  db.close();
  const approved = await patch(path, { status: 'approved' });
  assert.equal(approved.json.loan_end_date, '2025-06-19T00:00:00+02:00');
  assert.equal((await put(path, { ...approved.json, reference: 'L-2' })).status, 200);
  assert.equal((await patch(path, { loan_end_date: '2025-06-18' })).status, 400);
});
