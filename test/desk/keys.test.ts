/** Keys at the desk: issued, restricted, rotated and disabled by the rules of the commands. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { testDesk } from '../support/desk.ts';
import { startedPlace } from '../support/importing.ts';

const FORM = {
  ...{ name: 'Union <portal>', scopes: ['members:read', 'members:financials'] as readonly string[] },
  ...{
    cooperatives: 'A-1',
    allowedAddresses: '10.20.0.0/16',
    allowedHosts: '',
    perHour: '100',
    perDay: '1000',
    expires: '',
  },
};
const SECRET = /crs_[0-9A-Za-z]{36}/;

async function begin(context: TestContext) {
  const place = await startedPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n');
  const browser = await (await testDesk(context, place.databaseFile)).enter();
  const shown = async () => JSON.parse((await place.command('keys', 'show', '1', '--json')).out);
  return { place, browser, shown };
}

test('a key is issued, and its secret shown once', async (context) => {
  const { browser, shown } = await begin(context);
  assert.match((await browser.get('/keys')).text, /None yet/);
  const issued = await browser.post('/keys', { action: 'issue', ...FORM });
  assert.equal(issued.headers.location, '/key/1');
  // Not even to a page of another key.
  assert.doesNotMatch(issued.text, SECRET);
  const first = await browser.get('/key/1');
  assert.match(first.text, SECRET);
  assert.match(first.text, /data-once/);
  assert.doesNotMatch((await browser.get('/key/1')).text, SECRET);
  assert.match((await browser.get('/keys')).text, /Union &lt;portal&gt;[\s\S]*A-1, 10\.20\.0\.0\/16/);
  const key = await shown();
  assert.deepEqual([key.scopes, key.cooperatives, key.per_hour], [FORM.scopes, ['A-1'], 100]);
  assert.equal((await browser.get('/key/2')).status, 404);
});

test('what is wrong is said by field, and what was written stays in the form', async (context) => {
  const { place, browser } = await begin(context);
  const wrong = [
    [{ scopes: [] }, /Permissions: Name at least one/],
    [{ cooperatives: 'C-3' }, /There is no cooperative with this code/],
    [{ allowedAddresses: 'here' }, /Allowed addresses: /],
    [{ perHour: 'many' }, /Requests an hour: Expected a number/],
    [{ expires: '2020-01-01' }, /This is in the past/],
  ] as const;
  for (const [changed, fault] of wrong) {
    const refused = await browser.post('/keys', { action: 'issue', ...FORM, ...changed });
    assert.equal(refused.status, 422);
    assert.match(refused.text, fault);
    assert.match(refused.text, /value="Union &lt;portal&gt;"/);
  }
  assert.deepEqual(JSON.parse((await place.command('keys', 'list', '--json')).out), { keys: [] });
});

test('it is restricted, rotated, disabled and enabled, and warned of', async (context) => {
  const { browser, shown } = await begin(context);
  await browser.post('/keys', { action: 'issue', ...FORM });
  await browser.get('/key/1');
  const restricted = { ...FORM, scopes: ['members:write'], cooperatives: 'a-1 b-2', perDay: '10' };
  await browser.post('/key/1', { action: 'restrict', ...restricted, isLookupOnly: 'yes', purpose: 'audit ' });
  const page = (await browser.get('/key/1')).text;
  assert.match(page, /role="status">The key was changed/);
  assert.match(page, /members:write without reading[\s\S]*for lookups only: it cannot use members:write/);
  assert.match(
    (await browser.get('/key/1', { 'accept-language': 'fr' })).text,
    /La clé ne sert qu&#39;aux consultations/,
  );
  const key = await shown();
  assert.deepEqual([key.lookup_only, key.cooperatives, key.per_day], [true, ['A-1', 'B-2'], 10]);
  assert.deepEqual([key.purpose, key.require_purpose], ['audit', false]);
  assert.match(page, /<input[^>]*name="purpose"[^>]*value="audit"/);
  await browser.post('/key/1', { action: 'rotate', overlap: '24h' });
  assert.match((await browser.get('/key/1')).text, SECRET);
  assert.equal((await shown()).prefixes.length, 2);
  await browser.post('/key/1', { action: 'disable' });
  assert.equal((await shown()).state, 'disabled');
  await browser.post('/key/1', { action: 'enable' });
  assert.equal((await shown()).state, 'active');
  for (const path of ['/keys', '/key/1'])
    assert.match((await browser.get(path, { 'accept-language': 'fr' })).text, />clé active</);
  const refused = await browser.post('/key/1', { action: 'restrict', ...restricted, name: '' });
  assert.equal(refused.status, 422);
  assert.equal((await shown()).name, FORM.name);
});
