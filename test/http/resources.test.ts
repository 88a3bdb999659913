/**
 * Cooperatives and members: what POST and PUT take and give, and the membership lookup (docs/api.md#members).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';

const NID = '1198589000123042';
const NOW = '2025-06-15T12:00:00+02:00';

const post = (app: TestApp, path: string, body: unknown) => app.send(path, { method: 'POST', body });
const put = (app: TestApp, path: string, body: unknown) => app.send(path, { method: 'PUT', body });

/** A cooperative of which only code and name were given. */
const DEFAULTS = {
  ...{ sector: null, province: null, district: null, registration_date: null },
  ...{ status: 'active', members_count: 0, created_at: NOW },
};

async function createCooperative(app: TestApp, code = 'A-1'): Promise<string> {
  const response = await post(app, '/cooperatives', { code, name: `Coop ${code}` });
  assert.equal(response.status, 201, response.text);
  return response.json.id;
}

test('a cooperative is created with defaults, returned in full, and found at its Location', async (context) => {
  const app = await startApp(context);
  const response = await post(app, '/cooperatives', { code: 'A-1', name: '  Abahuje\t Coffee\n' });
  assert.equal(response.status, 201);
  assert.deepEqual(response.json, {
    id: '1',
    code: 'A-1',
    name: 'Abahuje Coffee',
    ...DEFAULTS,
    updated_at: NOW,
  });
  assert.equal(response.headers.location, '/api/v1/cooperatives/1');
  const read = await app.send('/cooperatives/1');
  assert.deepEqual(read.json, response.json);
});

test('PUT keeps optional fields that it leaves out, and null clears them', async (context) => {
  const app = await startApp(context);
  const { json: created } = await post(app, '/cooperatives', {
    code: 'A',
    name: 'A',
    sector: 'mining',
    province: 'West',
    district: 'Rubavu',
    registration_date: '2020-02-29',
    status: 'inactive',
  });
  app.clock.advance(60_000);
  const response = await put(app, '/cooperatives/1', { code: 'B', name: 'B' });
  assert.equal(response.status, 200);
  const changed = { ...created, code: 'B', name: 'B', updated_at: '2025-06-15T12:01:00+02:00' };
  assert.deepEqual(response.json, changed);
  const cleared = { sector: null, province: null, district: null, registration_date: null };
  const { json } = await put(app, '/cooperatives/1', { code: 'B', name: 'B', ...cleared });
  assert.deepEqual(json, { ...changed, ...cleared });
  assert.equal((await put(app, '/cooperatives/9', { code: 'B', name: 'B' })).status, 404);
});

test('what GET gave can be changed and sent back', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await createCooperative(app);
  const cooperative = (await app.send(`/cooperatives/${cooperative_id}`)).json;
  assert.equal(
    (await put(app, `/cooperatives/${cooperative_id}`, { ...cooperative, name: 'Changed' })).json.name,
    'Changed',
  );
  await post(app, '/members', {
    cooperative_id,
    identity_card: NID,
    member_code: 'M-1',
    full_name: 'Uwase Aline',
    registration_date: '2020-01-01',
    mobile: '0781234567',
  });
  const member = (await app.send('/members/1')).json;
  const response = await put(app, '/members/1', { ...member, gender: 'FEMALE' });
  assert.equal(response.status, 200, response.text);
  assert.deepEqual(response.json, { ...member, gender: 'FEMALE' });
  // On POST the same fields are unknown: nothing is dropped silently.
  assert.equal((await post(app, '/members', member)).json.created_at[0], 'Unknown field.');
});

test('every field of a body is in the response that a client changes and sends back', async (context) => {
  const app = await startApp(context);
  const propertiesOf = (schema: unknown) => Object.keys((schema as { properties: object }).properties);
  let looked = 0;
  for (const path of ['/cooperatives/{id}', '/members/{id}', '/loans/{id}', '/payments/{id}']) {
    const route = app.registry.routes.find((each) => each.method === 'PUT' && each.path === path);
    const shown = propertiesOf(route?.responses[200]?.schema);
    // The response has these as an object.
    const objects = ['cooperative_id', 'member_id'];
    const sent = Object.values(route?.body?.fields ?? {})
      .map(({ name }) => name)
      .filter((name) => !objects.includes(name));
    assert.deepEqual(
      sent.filter((name) => !shown.includes(name)),
      [],
      path,
    );
    looked += sent.length;
  }
  assert.ok(looked >= 29, `${looked} fields`);
});

test('a code is unique and of A-Z, 0-9 and "-"', async (context) => {
  const app = await startApp(context);
  await createCooperative(app, 'A-1');
  const unique = { code: ['This field must be unique.'] };
  assert.deepEqual((await post(app, '/cooperatives', { code: ' A-1 ', name: 'x' })).json, unique);
  await createCooperative(app, 'B-2');
  assert.deepEqual((await put(app, '/cooperatives/2', { code: 'A-1', name: 'x' })).json, unique);
  assert.equal((await put(app, '/cooperatives/2', { code: 'B-2', name: 'x' })).status, 200);
  assert.deepEqual((await post(app, '/cooperatives', { code: 'A-1', name: '', sector: 'x' })).json, {
    name: ['This field may not be blank.'],
    sector: ['"x" is not a valid choice.'],
    ...unique,
  });
  const wrong = { code: ['Use only the characters A-Z, 0-9 and "-".'] };
  for (const code of ['a-1', 'A 1', 'A_1', 'É'])
    assert.deepEqual((await post(app, '/cooperatives', { code, name: 'x' })).json, wrong);
  assert.deepEqual((await post(app, '/cooperatives', { code: 'A'.repeat(33), name: 'x' })).json, {
    code: ['Ensure this field has no more than 32 characters.'],
  });
});

test('a member is created with defaults and returned in full', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await createCooperative(app);
  const response = await post(app, '/members', {
    cooperative_id: Number(cooperative_id),
    identity_card: NID,
    member_code: 'M-1',
    first_name: 'Aline',
    last_name: 'Uwase',
  });
  assert.equal(response.status, 201, response.text);
  assert.deepEqual(response.json, {
    id: '1',
    member_code: 'M-1',
    full_name: 'Aline Uwase',
    identity_card: NID,
    mobile: null,
    gender: null,
    role: 'MEMBER',
    status: 'active',
    cooperative: { id: '1', code: 'A-1', name: 'Coop A-1' },
    registration_date: NOW,
    first_name: 'Aline',
    last_name: 'Uwase',
    date_of_birth: null,
    created_at: NOW,
    updated_at: NOW,
  });
  assert.equal(response.headers.location, '/api/v1/members/1');
  assert.equal((await app.send('/cooperatives/1')).json.members_count, 1);
});

test('PUT of a row of a list loses nothing and revives nobody; the cooperative never changes', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await createCooperative(app);
  const other = await createCooperative(app, 'B-2');
  const body = { cooperative_id, identity_card: NID, member_code: 'M-1', full_name: 'Uwase' };
  await post(app, '/members', {
    ...body,
    registration_date: '2020-01-01T00:00:00Z',
    role: 'AUDITOR',
    mobile: '0781234567',
    date_of_birth: '1985-01-01',
    first_name: 'Uwase',
    last_name: 'Aline',
  });
  const response = await put(app, '/members/1', {
    ...body,
    identity_card: '1198589000123043',
    status: 'suspended',
  });
  assert.equal(response.status, 200, response.text);
  assert.equal(response.json.registration_date, '2020-01-01T02:00:00+02:00');
  assert.equal(response.json.identity_card, '1198589000123043');
  assert.equal(response.json.role, 'AUDITOR');
  assert.equal(response.json.mobile, '+250781234567');
  await put(app, '/members/1', { ...body, status: 'deceased' });
  const before = (await app.send('/members/1')).json;
  const [row] = (await app.send('/members')).json.results;
  assert.ok(!('date_of_birth' in row));
  assert.deepEqual((await put(app, '/members/1', row)).json, before);
  assert.equal((await app.send(`/members/${NID}`)).status, 404);
  assert.equal((await app.send('/cooperatives/1')).json.members_count, 0);
  assert.deepEqual((await put(app, '/members/1', { ...body, cooperative_id: other })).json, {
    cooperative_id: ['This field cannot be changed.'],
  });
  const { cooperative_id: _, ...without } = body;
  assert.equal((await put(app, '/members/1', without)).status, 200);
  assert.deepEqual((await put(app, '/members/1', { ...body, registration_date: null })).json, {
    registration_date: ['This field may not be null.'],
  });
});

test('one row per cooperative and national ID, one per cooperative and member code', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await createCooperative(app);
  const other = await createCooperative(app, 'B-2');
  const body = { cooperative_id, identity_card: NID, member_code: 'M-1', full_name: 'Uwase' };
  assert.equal((await post(app, '/members', body)).status, 201);
  assert.deepEqual((await post(app, '/members', body)).json, {
    non_field_errors: ['The fields cooperative_id, identity_card must make a unique set.'],
    member_code: ['This field must be unique.'],
  });
  assert.equal((await post(app, '/members', { ...body, cooperative_id: other })).status, 201);
  assert.equal((await put(app, '/members/1', body)).status, 200);
});

test('names and texts are kept in NFC with white space collapsed; hidden characters are refused', async (context) => {
  const app = await startApp(context);
  const name = async (value: unknown) => {
    const response = await post(app, '/cooperatives', {
      code: `C${Math.abs(app.clock.now()) % 1000}-${++serial}`,
      name: value,
    });
    return response.status === 201 ? response.json.name : response.json.name[0];
  };
  let serial = 0;
  assert.equal(await name('Re\u0301my  \t Niyonzima'), 'R\u00e9my Niyonzima');
  const hidden = 'Control, text-direction and zero-width characters are not allowed.';
  for (const character of [
    '\u0000',
    '\u0007',
    '\u0085',
    '\u202e',
    '\u2066',
    '\u200b',
    '\u2060',
    '\ufeff',
    '\u3164',
    '\u061c',
    '\u00ad',
  ]) {
    assert.equal(await name(`a${character}b`), hidden);
  }
  assert.equal(await name('\ud800'), 'Not a valid string.');
  assert.equal(await name(12), 'Not a valid string.');
  assert.equal(await name(null), 'This field may not be null.');
  assert.equal(await name('\u{1F33E}'.repeat(200)), '\u{1F33E}'.repeat(200));
  assert.equal(await name('\u{1F33E}'.repeat(201)), 'Ensure this field has no more than 200 characters.');
});

test('a mobile is kept in E.164, however it was written', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await createCooperative(app);
  let serial = 0;
  const mobile = async (value: string) => {
    const n = ++serial;
    const response = await post(app, '/members', {
      cooperative_id,
      identity_card: String(1198589000123000 + n),
      member_code: `M-${n}`,
      full_name: 'U',
      mobile: value,
    });
    return response.status === 201 ? response.json.mobile : undefined;
  };
  for (const value of [
    '0781234567',
    '781234567',
    '250781234567',
    '+250 781-234-567',
    '(078) 123.4567',
    '00250781234567',
  ]) {
    assert.equal(await mobile(value), '+250781234567', value);
  }
  assert.equal(await mobile('+256701234567'), '+256701234567');
  for (const value of ['078123456', '12', 'call me', '+250681234567', '256701234567'])
    assert.equal(await mobile(value), undefined, value);
});

test('names come in full or in parts, and parts are never guessed', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await createCooperative(app);
  const body = { cooperative_id, identity_card: NID, member_code: 'M-1' };
  assert.deepEqual((await post(app, '/members', { ...body, first_name: 'Aline' })).json, {
    full_name: ['This field is required.'],
  });
  const long = await post(app, '/members', {
    ...body,
    first_name: 'a'.repeat(150),
    last_name: 'b'.repeat(150),
  });
  assert.deepEqual(long.json, { full_name: ['Ensure this field has no more than 200 characters.'] });
  const whole = await post(app, '/members', { ...body, full_name: 'Uwase Aline' });
  assert.deepEqual([whole.json.first_name, whole.json.last_name], [null, null]);
});

test('the membership lookup gives one active membership, with financials only for their scope', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await createCooperative(app);
  const other = await createCooperative(app, 'B-2');
  const body = { cooperative_id, identity_card: NID, member_code: 'M-1', full_name: 'Uwase' };
  await post(app, '/members', body);
  await post(app, '/members', { ...body, cooperative_id: other, status: 'withdrawn' });
  const full = await app.send(`/cooperatives/1/members/${NID}/`);
  const consolidated = await app.send(`/members/${NID}/`);
  assert.deepEqual(consolidated.json.memberships, [full.json]);
  const { key } = app.issue(['members:read']);
  const plain = await app.send(`/cooperatives/1/members/${NID}/`, { key });
  assert.deepEqual(plain.json, {
    ...full.json,
    production_summary: null,
    loan_history: null,
    savings_summary: null,
  });
  for (const path of [
    `/cooperatives/2/members/${NID}`,
    `/cooperatives/9/members/${NID}`,
    '/cooperatives/1/members/1198589000123043',
  ]) {
    assert.deepEqual((await app.send(path)).json, { detail: 'Not found.' });
  }
});

test('members of a dissolved cooperative count like others', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await createCooperative(app);
  await put(app, '/cooperatives/1', { code: 'A-1', name: 'x', status: 'dissolved' });
  await post(app, '/members', { cooperative_id, identity_card: NID, member_code: 'M-1', full_name: 'Uwase' });
  assert.equal((await app.send(`/members/${NID}`)).json.memberships.length, 1);
});

test('date-times carry the offset of the configured zone', async (context) => {
  const app = await startApp(context, { settings: { TIME_ZONE_OFFSET: '-03:30' } });
  const response = await post(app, '/cooperatives', {
    code: 'A',
    name: 'A',
    registration_date: '2025-06-15',
  });
  assert.equal(response.json.created_at, '2025-06-15T06:30:00-03:30');
  const future = await post(app, '/cooperatives', { code: 'B', name: 'B', registration_date: '2025-06-16' });
  assert.deepEqual(future.json, { registration_date: ['This date is in the future.'] });
});
