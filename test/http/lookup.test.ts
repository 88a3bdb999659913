/** The main job: the lookup by national ID. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';

const NID = '1198589000123042';

test('a person in two cooperatives is answered as one consolidated record', async (context) => {
  const app = await startApp(context);
  const coop = async (code: string) =>
    (await app.send('/cooperatives', { method: 'POST', body: { code, name: `Coop ${code}` } })).json
      .id as string;
  const first = await coop('A-1');
  const second = await coop('B-2');
  for (const [cooperative_id, full_name, registration_date] of [
    [first, 'Uwase Older', '2020-01-01'],
    [second, 'Uwase Newer', '2021-01-01T10:00:00+02:00'],
  ]) {
    const response = await app.send('/members', {
      method: 'POST',
      body: {
        cooperative_id,
        identity_card: NID,
        member_code: 'M-1',
        full_name,
        registration_date,
        mobile: '0788123456',
      },
    });
    assert.equal(response.status, 201, response.text);
  }
  const response = await app.send(`/members/${NID}/`);
  assert.equal(response.status, 200, response.text);
  assert.equal(response.json.primary_full_name, 'Uwase Newer');
  assert.deepEqual(response.json.name_variants, ['Uwase Newer', 'Uwase Older']);
  assert.equal(response.json.mobile, '+250788123456');
  assert.deepEqual(response.json.memberships[0].production_summary, {
    window_days: 365,
    entries_count: 0,
    total_kg: '0.000',
    last_delivery_at: null,
  });
  const list = await app.send('/members?page_size=1');
  assert.equal(list.json.count, 2);
  assert.equal(list.json.next, `${app.url}/api/v1/members?page=2&page_size=1`);
});
