/** Entity tags, If-None-Match and If-Match (docs/api.md#not-overwriting-each-other). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp, type TestApp, type TestResponse, temporaryFolder } from '../support/app.ts';
import { quickOrLong } from '../support/quick-or-long.ts';

const NID = '1198589000123042';
const CHANGED = { detail: 'The resource has changed since it was read.' };
const COOPERATIVE = { code: 'A-1', name: 'Abahuje' };
const LOAN = {
  ...{ member_id: '1', reference: 'L-1', amount: '300000.00', interest_rate: '18.00', status: 'approved' },
};
const PAYMENT = { loan_id: '1', amount: '27500.50', method: 'cash', reference: 'P-1' };
const MEMBER = { cooperative_id: '1', identity_card: NID, member_code: 'M-1', full_name: 'Uwase Aline' };

interface Resource {
  readonly path: string;
  readonly list: string;
  readonly body: { readonly [name: string]: unknown };
  readonly changed: { readonly [name: string]: unknown };
}

const RESOURCES: readonly Resource[] = [
  { path: '/cooperatives/1', list: '/cooperatives', body: COOPERATIVE, changed: { district: 'Huye' } },
  { path: '/members/1', list: '/members', body: MEMBER, changed: { mobile: '+250781234567' } },
  { path: '/loans/1', list: '/loans', body: LOAN, changed: { loan_end_date: '2026-07-15' } },
  { path: '/payments/1', list: '/payments', body: PAYMENT, changed: { amount: '27500.51' } },
];

async function startWithRows(context: TestContext): Promise<{ app: TestApp; created: TestResponse[] }> {
  const app = await startApp(context);
  const created: TestResponse[] = [];
  for (const { list, body } of RESOURCES) created.push(await app.send(list, { method: 'POST', body }));
  return { app, created };
}

const read = (app: TestApp, path: string, ifNoneMatch?: string, method = 'GET') =>
  app.send(path, {
    method,
    ...(ifNoneMatch === undefined ? {} : { headers: { 'If-None-Match': ifNoneMatch } }),
  });

const write = (app: TestApp, method: string, path: string, body: unknown, ifMatch?: string) =>
  app.send(path, { method, body, ...(ifMatch === undefined ? {} : { headers: { 'If-Match': ifMatch } }) });

const tagOf = ({ headers }: TestResponse): string => headers.etag ?? assert.fail('no ETag');

for (const { path, body, changed } of RESOURCES) {
  test(`${path} has the same strong ETag in GET, HEAD, POST, PUT and PATCH until it changes`, async (context) => {
    const { app, created } = await startWithRows(context);
    const tag = tagOf(await read(app, path));
    assert.match(tag, /^"[A-Za-z0-9_-]{22}(\.[0-9]+)?"$/);
    // A member has joined the cooperative since, and a payment was made on the loan.
    const isStill = path === '/members/1' || path === '/payments/1';
    const first = created.find(({ headers }) => headers.location === `/api/v1${path}`);
    assert.equal(tagOf(first as TestResponse) === tag, isStill);
    assert.equal(tagOf(await read(app, path, undefined, 'HEAD')), tag);
    assert.equal(tagOf(await write(app, 'PUT', path, body)), tag);
    assert.equal(tagOf(await write(app, 'PATCH', path, {})), tag);
    const cleared = Object.fromEntries(Object.keys(changed).map((name) => [name, null]));
    const patched = tagOf(await write(app, 'PATCH', path, changed));
    assert.notEqual(patched, tag);
    assert.equal(tagOf(await read(app, `${path}/`)), patched);
    assert.notEqual(tagOf(await write(app, 'PUT', path, { ...cleared, ...body })), patched);
  });

  test(`GET ${path} is 304 without a body, and not to be stored, when If-None-Match has its tag`, async (context) => {
    const { app } = await startWithRows(context);
    const tag = tagOf(await read(app, path));
    for (const known of [tag, `W/${tag}`, `"a,b" ,, W/"c",\t${tag}`, '*', ` ${tag} `]) {
      for (const method of ['GET', 'HEAD']) {
        const response = await read(app, path, known, method);
        assert.equal(response.status, 304, known);
        assert.equal(response.text, '');
        assert.equal(response.headers.etag, tag);
        assert.equal(response.headers['cache-control'], 'private, no-store');
        assert.equal(response.headers['content-type'], undefined);
      }
    }
    await write(app, 'PATCH', path, changed);
    for (const known of [tag, '"other"', `"a", W/${tag}`]) {
      const response = await read(app, path, known);
      assert.equal(response.status, 200, known);
      assert.equal(response.json.id, '1');
    }
  });

  test(`PUT and PATCH ${path} write only the state that If-Match names`, async (context) => {
    const { app } = await startWithRows(context);
    const tag = tagOf(await read(app, path));
    const first = await write(app, 'PATCH', path, changed, `"other", ${tag}`);
    assert.equal(first.status, 200, first.text);
    const stored = await read(app, path);
    for (const stale of [tag, `"other", ${tag}`, `W/${tagOf(stored)}`]) {
      for (const method of ['PUT', 'PATCH']) {
        const refused = await write(app, method, path, { ...body, ...changed }, stale);
        assert.equal(refused.status, 412, stale);
        assert.deepEqual(refused.json, CHANGED);
      }
    }
    assert.deepEqual((await read(app, path)).json, stored.json);
    assert.equal((await write(app, 'PUT', path, body, tagOf(stored))).status, 200);
    assert.equal((await write(app, 'PUT', path, { ...body, ...changed }, '*')).status, 200);
  });

  test(`412 of ${path} comes before the faults of the body, after 404`, async (context) => {
    const { app } = await startWithRows(context);
    assert.equal((await write(app, 'PUT', path, { code: 1 }, '"stale"')).status, 412);
    assert.equal((await write(app, 'PATCH', path.replace('1', '9'), {}, '*')).status, 404);
    assert.equal((await write(app, 'PATCH', path.replace('1', '9'), {}, '"stale"')).status, 404);
  });

  test(`malformed If-Match and If-None-Match of ${path} are 400`, async (context) => {
    const { app } = await startWithRows(context);
    const stored = (await read(app, path)).json;
    for (const malformed of ['abc', '"a', '"a" "b"', 'w/"a"', '*, "a"', ',', '"a b"', '']) {
      const conditional = await read(app, path, malformed);
      assert.equal(conditional.status, 400, malformed);
      assert.deepEqual(conditional.json, { detail: 'Expected * or entity tags in quotes in If-None-Match.' });
      for (const method of ['PUT', 'PATCH']) {
        const refused = await write(app, method, path, { ...body, ...changed }, malformed);
        assert.equal(refused.status, 400, malformed);
        assert.deepEqual(refused.json, { detail: 'Expected * or entity tags in quotes in If-Match.' });
      }
    }
    assert.deepEqual((await read(app, path)).json, stored);
  });
}

test("a cooperative's count of members changes what If-None-Match compares, not what If-Match does", async (context) => {
  const { app } = await startWithRows(context);
  const before = tagOf(await read(app, '/cooperatives/1'));
  await app.send('/members', {
    method: 'POST',
    body: { ...MEMBER, identity_card: NID.replace('042', '043'), member_code: 'M-2' },
  });
  const joined = await read(app, '/cooperatives/1', before);
  assert.equal(joined.status, 200);
  assert.equal(joined.json.members_count, 2);
  assert.notEqual(tagOf(joined), before);
  const renamed = await write(app, 'PATCH', '/cooperatives/1', { name: 'Twisungane' }, before);
  assert.equal(renamed.status, 200);
  assert.equal((await write(app, 'PATCH', '/cooperatives/1', { name: 'Third' }, before)).status, 412);
  // Of a member it is one tag: a number after a dot is a part of nothing.
  const member = tagOf(await read(app, '/members/1'));
  assert.equal((await write(app, 'PATCH', '/members/1', {}, member)).status, 200);
});

test('a member whose cooperative has another name is shown otherwise, and has another tag', async (context) => {
  const { app } = await startWithRows(context);
  const before = tagOf(await read(app, '/members/1'));
  await write(app, 'PATCH', '/cooperatives/1', { name: 'Twisungane' });
  const shown = await read(app, '/members/1', before);
  assert.equal(shown.json.cooperative.name, 'Twisungane');
});

test('lookups by national ID and lists have no tag and look at none', async (context) => {
  const { app } = await startWithRows(context);
  for (const path of [
    `/members/${NID}`,
    `/cooperatives/1/members/${NID}`,
    '/members',
    '/cooperatives',
    '/me',
  ]) {
    for (const known of ['*', 'malformed']) {
      const response = await read(app, path, known);
      assert.equal(response.status, 200, path);
      assert.equal(response.headers.etag, undefined, path);
    }
  }
});

test('of two PUTs with the same tag exactly one wins, each time, in two processes too', async (context) => {
  const folder = temporaryFolder(context);
  // A second server on the same database has a connection of its own, as another process has.
  const apps = [await startApp(context, { folder }), await startApp(context, { folder })] as const;
  const key = apps[0].fullKey;
  await apps[0].send('/cooperatives', { method: 'POST', body: COOPERATIVE });
  let tag = tagOf(await apps[0].send('/cooperatives/1'));
  for (let round = 0; round < quickOrLong(30, 1_000); round++) {
    const second = round % 2 === 0 ? apps[1] : apps[0];
    const responses = await Promise.all(
      [apps[0], second].map((app, i) =>
        app.send('/cooperatives/1', {
          method: i === 0 ? 'PUT' : 'PATCH',
          body: { ...COOPERATIVE, name: `Name ${round}-${i}` },
          headers: { 'If-Match': tag },
          key,
        }),
      ),
    );
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 412], `round ${round}`);
    const winner = responses.findIndex(({ status }) => status === 200);
    const stored = await apps[0].send('/cooperatives/1');
    assert.equal(stored.json.name, `Name ${round}-${winner}`);
    tag = tagOf(stored);
  }
});
