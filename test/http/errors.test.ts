/** Errors: their texts, their shape, and what must never be in them (docs/api.md#responses-and-errors). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toErrorResponse } from '../../src/http/declare/response.ts';
import { createAccessLog, redact } from '../../src/http/server/access-log.ts';
import { Scheduler } from '../../src/runtime/scheduler.ts';
import { type Sent, startApp, type TestApp } from '../support/app.ts';
import { openFile } from '../support/sqlite.ts';

const NID = '1198589000123042';

async function withCooperative(app: TestApp): Promise<string> {
  const response = await app.send('/cooperatives', {
    method: 'POST',
    body: { code: 'A-1', name: 'Abahuje' },
  });
  assert.equal(response.status, 201);
  return response.json.id;
}

const post = (app: TestApp, path: string, sent: Sent) => app.send(path, { method: 'POST', ...sent });
const json = { 'Content-Type': 'application/json' };

test('every response is JSON with X-Request-Id, and under /api/v1/ it is never cached', async (context) => {
  const app = await startApp(context);
  for (const path of ['/members', '/unknown', '/members/x', '//healthz', '//nowhere']) {
    const response = await app.send(path);
    assert.equal(response.headers['content-type'], 'application/json');
    assert.match(response.headers['x-request-id'] as string, /^[0-9a-f-]{36}$/);
    assert.equal(response.headers['cache-control'], path.startsWith('//') ? undefined : 'private, no-store');
  }
});

test("a client's own X-Request-Id is kept when it is safe to repeat and to log", async (context) => {
  const app = await startApp(context);
  const echoed = async (id: string) =>
    (await app.send('/members', { headers: { 'X-Request-Id': id } })).headers['x-request-id'];
  for (const id of ['abc-123', 'a'.repeat(64), 'trace:1.2_3']) assert.equal(await echoed(id), id);
  for (const id of ['a'.repeat(65), 'a b', 'a"b', NID, 'crs_abc', '']) assert.notEqual(await echoed(id), id);
});

test('a body that is not JSON is refused with line and column, without a snippet of it', async (context) => {
  const app = await startApp(context);
  for (const [raw, detail] of [
    ['{"a": }', 'JSON parse error - line 1 column 7.'],
    ['{\n  "code": "x",\n  nope\n}', 'JSON parse error - line 3 column 3.'],
    ['{"code"', 'JSON parse error - line 1 column 8.'],
    ['{"a":1,}', 'JSON parse error - line 1 column 8.'],
    ["{'a':1}", 'JSON parse error - line 1 column 2.'],
  ] as const) {
    const response = await post(app, '/cooperatives', { raw, headers: json });
    assert.equal(response.status, 400);
    assert.deepEqual(response.json, { detail });
  }
  const notUtf8 = await post(app, '/cooperatives', { raw: Buffer.from([0x7b, 0xff, 0x7d]), headers: json });
  assert.deepEqual(notUtf8.json, { detail: 'JSON parse error - the body is not valid UTF-8.' });
});

test('a body that is nested deeper than any real one is refused with 400', async (context) => {
  const app = await startApp(context);
  const detail = 'JSON parse error - nested deeper than 32 levels.';
  for (const raw of ['['.repeat(60_000), `{"name":${'['.repeat(40)}${']'.repeat(40)}}`]) {
    const response = await post(app, '/cooperatives', { raw, headers: json });
    assert.equal(response.status, 400);
    assert.deepEqual(response.json, { detail });
  }
  // Brackets in a string do not nest.
  const text = await post(app, '/cooperatives', { raw: `{"name":"${'['.repeat(40)}\\"{"}`, headers: json });
  assert.deepEqual(text.json, { code: ['This field is required.'] });
});

test('a body that is not an object is refused as a whole', async (context) => {
  const app = await startApp(context);
  for (const [raw, message] of [
    ['[]', 'Invalid data. Expected a dictionary, but got list.'],
    ['"text"', 'Invalid data. Expected a dictionary, but got str.'],
    ['1', 'Invalid data. Expected a dictionary, but got int.'],
    ['1.5', 'Invalid data. Expected a dictionary, but got float.'],
    ['true', 'Invalid data. Expected a dictionary, but got bool.'],
    ['null', 'No data provided'],
  ] as const) {
    const response = await post(app, '/cooperatives', { raw, headers: json });
    assert.deepEqual(response.json, { non_field_errors: [message] }, raw);
  }
  const empty = await post(app, '/cooperatives', {});
  assert.deepEqual(empty.json, { code: ['This field is required.'], name: ['This field is required.'] });
});

test('a body in another media type is 415, one of more than 64 KiB 413, and both consume quota', async (context) => {
  const app = await startApp(context);
  const type = (value: string | undefined) =>
    post(app, '/cooperatives', { raw: '{}', headers: value === undefined ? {} : { 'Content-Type': value } });
  assert.deepEqual((await type('text/plain')).json, {
    detail: 'Unsupported media type "text/plain" in request.',
  });
  assert.deepEqual((await type(undefined)).json, { detail: 'Unsupported media type "" in request.' });
  assert.deepEqual((await type(`text/${NID}`)).json, { detail: 'Unsupported media type in request.' });
  assert.equal((await type('application/json; charset=latin1')).status, 415);
  assert.equal((await type('Application/JSON; charset=UTF-8')).status, 400);
  const zipped = await post(app, '/cooperatives', {
    raw: '{}',
    headers: { ...json, 'Content-Encoding': 'gzip' },
  });
  assert.equal(zipped.status, 415);
  const { key } = app.issue(['cooperatives:write'], { limits: { perHour: 9, perDay: 9 } });
  const fits = `{"code":"${' '.repeat(65_536 - 11)}"}`;
  assert.equal(fits.length, 65_536);
  assert.equal((await post(app, '/cooperatives', { raw: fits, headers: json, key })).status, 400);
  const large = await post(app, '/cooperatives', { raw: `${fits} `, headers: json, key });
  assert.equal(large.status, 413);
  assert.deepEqual(large.json, { detail: 'Request body too large.' });
  assert.equal(large.headers['x-ratelimit-remaining'], '7');
  assert.equal(large.headers.connection, 'close');
  const chunked = { ...json, 'Transfer-Encoding': 'chunked', 'Content-Length': [] };
  const streamed = await post(app, '/cooperatives', { raw: `${fits} `, headers: chunked });
  assert.equal(streamed.status, 413);
});

test('all faults of a body are reported at once, those against stored rows too', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await withCooperative(app);
  const member = { cooperative_id, identity_card: NID, member_code: 'M-1', full_name: 'Uwase' };
  assert.equal((await post(app, '/members', { body: member })).status, 201);
  const response = await post(app, '/members', {
    body: {
      ...member,
      full_name: ' ',
      gender: 'WOMAN',
      mobile: '12',
      date_of_birth: '2025-02-30',
      registration_date: '2030-01-01',
      role: null,
      status: 7,
      nickname: 'x',
    },
  });
  assert.equal(response.status, 400);
  assert.deepEqual(response.json, {
    full_name: ['This field may not be blank.'],
    gender: ['"WOMAN" is not a valid choice.'],
    date_of_birth: ['Date has wrong format. Use one of these formats instead: YYYY-MM-DD.'],
    mobile: ['Enter a mobile number such as +250781234567.'],
    role: ['This field may not be null.'],
    status: ['Not a valid string.'],
    registration_date: ['This date is in the future.'],
    nickname: ['Unknown field.'],
    non_field_errors: ['The fields cooperative_id, identity_card must make a unique set.'],
    member_code: ['This field must be unique.'],
  });
  const unknown = await post(app, '/members', { body: { ...member, cooperative_id: '9' } });
  assert.deepEqual(unknown.json, { cooperative_id: ['Invalid pk "9" - object does not exist.'] });
});

test('an unknown field or parameter called detail is not taken for the text of an error', async (context) => {
  const app = await startApp(context);
  const unknown = await post(app, '/cooperatives', {
    body: { code: 'A', name: 'A', detail: 'x', detai: 'x' },
  });
  assert.deepEqual(unknown.json, { non_field_errors: ['Unknown field.'], detai: ['Unknown field.'] });
  assert.deepEqual((await app.send('/members?detail=1')).json, { non_field_errors: ['Unknown parameter.'] });
});

test('a date that cannot be kept or shown is refused with the bound that it breaks', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await withCooperative(app);
  const body = { cooperative_id, identity_card: NID, member_code: 'M-1', full_name: 'Uwase' };
  const early = ['Dates before 1850-01-01 are not accepted.'];
  const refused = await post(app, '/members', {
    body: { ...body, date_of_birth: '1849-12-31', registration_date: '1850-01-01T00:00:00+14:00' },
  });
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.json, { date_of_birth: early, registration_date: early });
  const late = await post(app, '/members', {
    body: { ...body, registration_date: '9999-12-31T23:59:59-05:00' },
  });
  assert.deepEqual(late.json, { registration_date: ['Dates after 9999-12-31 are not accepted.'] });
  const first = await post(app, '/members', {
    body: { ...body, date_of_birth: '1850-01-01', registration_date: '1849-12-31t22:00:00.0123456789z' },
  });
  assert.equal(first.status, 201, first.text);
  assert.equal(first.json.registration_date, '1850-01-01T00:00:00+02:00');
});

test('a value or field name is echoed only when it is short and holds no run of six digits', async (context) => {
  const app = await startApp(context);
  const faults = async (body: object) =>
    (await post(app, '/cooperatives', { body: { code: 'A', name: 'A', ...body } })).json;
  assert.deepEqual(await faults({ sector: 'a'.repeat(32) }), {
    sector: [`"${'a'.repeat(32)}" is not a valid choice.`],
  });
  for (const sector of ['a'.repeat(33), NID, 'x123456', '١٢٣٤٥٦', 'a\u0000b']) {
    assert.deepEqual(await faults({ sector }), { sector: ['Not a valid choice.'] });
  }
  assert.deepEqual(await faults({ [NID]: 1, [`x${'y'.repeat(40)}`]: 1 }), {
    non_field_errors: ['Unknown field.'],
  });
  const inherited = await post(app, '/cooperatives', {
    raw: '{"code":"A","name":"A","__proto__":1,"constructor":1}',
    headers: json,
  });
  assert.equal(inherited.text, '{"__proto__":["Unknown field."],"constructor":["Unknown field."]}');
  assert.deepEqual((await app.send(`/members?${NID}=1`)).json, { non_field_errors: ['Unknown parameter.'] });
  for (const cooperative_id of [NID, '119858900012', 119858900012, '123456', 123456]) {
    // With every other field right, so that it is compared with stored rows.
    const rest = { identity_card: NID, member_code: 'M', full_name: 'Uwase' };
    const reference = await post(app, '/members', { body: { cooperative_id, ...rest } });
    assert.deepEqual(reference.json, { cooperative_id: ['Invalid pk - object does not exist.'] });
  }
  const short = await post(app, '/members', { body: { cooperative_id: '12345' } });
  assert.deepEqual(short.json.cooperative_id, ['Invalid pk "12345" - object does not exist.']);
});

test('an unknown or repeated parameter is refused, on every route', async (context) => {
  const app = await startApp(context);
  const cooperative_id = await withCooperative(app);
  for (const path of [
    '/members',
    '/cooperatives',
    `/cooperatives/${cooperative_id}`,
    `/cooperatives/${cooperative_id}/members`,
    '/me',
    '//healthz',
  ]) {
    const response = await app.send(`${path}?identity_crad=1`);
    assert.equal(response.status, 400, path);
    assert.deepEqual(response.json, { identity_crad: ['Unknown parameter.'] });
  }
  const repeated = await app.send(`/members?status=active&status=inactive&format=json&page_size=0`);
  assert.deepEqual(repeated.json, {
    status: ['Given more than once.'],
    format: ['Unknown parameter.'],
    page_size: ['Ensure this value is greater than or equal to 1.'],
  });
});

test('no national ID, key or body reaches a response or a log line', async (context) => {
  const app = await startApp(context);
  await withCooperative(app);
  const secret = 'Nyirabanga';
  const responses = [
    await app.send(`/members/${NID}`),
    await app.send(`/members/${NID}x`),
    await app.send(`/members?identity_card=${NID}9`),
    await app.send(`/nowhere/${NID}`),
    await app.send(`/members/${NID}`, { key: `${app.fullKey}x` }),
    await app.send(`/members?${NID}=${secret}`, { headers: { 'X-Request-Id': NID } }),
    await post(app, '/members', { body: { identity_card: `${NID}0`, full_name: secret, gender: NID } }),
    await post(app, '/members', { raw: `{"identity_card":"${NID}" "${secret}"`, headers: json }),
    await app.send(`/members/${NID}`, { method: 'DELETE' }),
  ];
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(app.logLines.length >= responses.length);
  for (const text of [
    ...responses.map((response) => response.text + JSON.stringify(response.headers)),
    ...app.logLines,
  ]) {
    assert.ok(!/[0-9]{16}|crs_|Nyirabanga/.test(text), text);
  }
});

test('an unexpected error is 500; its cause is only in the log, without digits of a person', async (context) => {
  const app = await startApp(context);
  (app.registry.store.members as { find: unknown }).find = () => {
    throw new Error(`cannot read ${NID} with ${app.fullKey}`);
  };
  const response = await app.send('/members/1');
  assert.equal(response.status, 500);
  assert.deepEqual(response.json, { detail: 'A server error occurred.' });
  await new Promise((resolve) => setImmediate(resolve));
  const line = app.logLines.find((text) => text.includes('cannot read')) as string;
  assert.equal(JSON.parse(line).request_id, response.headers['x-request-id']);
  assert.ok(!line.includes(NID) && !line.includes(app.fullKey));
  assert.equal(redact(`a ${NID} crs_abcDEF b`), 'a … crs_… b');
});

test('a log level leaves out what is less important', () => {
  const written = (level: 'silent' | 'error' | 'info') => {
    let text = '';
    const write = (lines: string) => {
      text += lines;
    };
    const log = createAccessLog({ level, write, now: () => 0, scheduler: new Scheduler() });
    log.request({
      time: 0,
      requestId: 'r',
      keyId: undefined,
      method: 'GET',
      route: '/x',
      status: 200,
      durationMs: 1,
    });
    log.unexpected('r', 'cause');
    log.note('note');
    log.flush();
    return text.split('\n').filter((line) => line !== '').length;
  };
  assert.deepEqual([written('silent'), written('error'), written('info')], [0, 1, 3]);
});

test('a thrown value that is not an Error is unexpected, too', () => {
  assert.equal(toErrorResponse('text').response.status, 500);
  assert.equal(toErrorResponse('text').isUnexpected, true);
});

test('a busy database is 503 with Retry-After', async (context) => {
  const app = await startApp(context);
  const other = openFile(app.config.storage);
  other.exec('BEGIN IMMEDIATE');
  const writing = post(app, '/cooperatives', { body: { code: 'B', name: 'B' } });
  const reading = await app.send('/cooperatives');
  assert.equal(reading.status, 200);
  app.clock.advance(3_000);
  const response = await writing;
  other.exec('COMMIT');
  other.close();
  assert.equal(response.status, 503);
  assert.equal(response.headers['retry-after'], '1');
  assert.deepEqual(response.json, { detail: 'The database is busy. Try again.' });
  const line = app.logLines.map((text) => JSON.parse(text)).find(({ status }) => status === 503);
  assert.deepEqual(
    [line.reason, line.cause],
    ['database_busy', 'The database is busy. Try again. (database is locked)'],
  );
});
