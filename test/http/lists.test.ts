/** Lists: the envelope, pages, links and filters (docs/api.md#lists). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';

const card = (i: number): string => String(1_198_589_000_000_000 + i);

async function fill(app: TestApp, members = 7): Promise<void> {
  for (const [code, sector, district, status] of [
    ['A', 'agriculture', 'Huye', 'active'],
    ['B', 'trading', 'Huye', 'inactive'],
    ['C', 'agriculture', 'Gasabo', 'active'],
  ]) {
    const body = { code, name: `Coop ${code}`, sector, district, status };
    assert.equal((await app.send('/cooperatives', { method: 'POST', body })).status, 201);
  }
  for (let i = 0; i < members; i++) {
    const body = {
      cooperative_id: String((i % 2) + 1),
      identity_card: card(i),
      member_code: `M-${i}`,
      full_name: `Name ${i}`,
      status: i === 3 ? 'withdrawn' : 'active',
    };
    assert.equal((await app.send('/members', { method: 'POST', body })).status, 201);
  }
}

test('a list is an envelope with links to its neighbours, keys in alphabetical order', async (context) => {
  const app = await startApp(context);
  await fill(app);
  const middle = (await app.send('/members/?status=active&page_size=2&page=2')).json;
  assert.equal(middle.count, 6);
  assert.equal(middle.next, `${app.url}/api/v1/members/?page=3&page_size=2&status=active`);
  assert.equal(middle.previous, `${app.url}/api/v1/members/?page_size=2&status=active`);
  assert.deepEqual(
    middle.results.map((row: { id: string }) => row.id),
    ['3', '5'],
  );
  const last = (await app.send('/members/?status=active&page_size=2&page=3')).json;
  assert.equal(last.next, null);
  assert.equal((await app.send('/members')).json.previous, null);
  assert.equal(
    (await app.send('/members?page=2&page_size=6')).json.previous,
    `${app.url}/api/v1/members?page_size=6`,
  );
  const all = (await app.send('/cooperatives?page=2&page_size=2')).json;
  assert.equal(all.previous, `${app.url}/api/v1/cooperatives?page_size=2`);
});

test('the links begin with PUBLIC_URL when it is set, else with the scheme and Host of the request', async (context) => {
  const app = await startApp(context, { settings: { PUBLIC_URL: 'https://registry.example.rw/' } });
  await fill(app);
  assert.equal(
    (await app.send('/members?page_size=5')).json.next,
    'https://registry.example.rw/api/v1/members?page=2&page_size=5',
  );
  const plain = await startApp(context);
  await fill(plain);
  const headers = { Host: 'registry.local:81' };
  assert.equal(
    (await plain.send('/members?page_size=5', { headers })).json.next,
    'http://registry.local:81/api/v1/members?page=2&page_size=5',
  );
  const odd = await plain.send('/members?page_size=5', { headers: { Host: 'a"b' } });
  assert.equal(odd.status, 400);
});

test('an invalid page is 404, an invalid page_size 400', async (context) => {
  const app = await startApp(context);
  await fill(app);
  for (const page of ['0', '-1', '1.5', 'x', '', '8', '99999999999999999999', 'last']) {
    const response = await app.send(`/members?page_size=1&page=${page}`);
    assert.equal(response.status, 404, page);
    assert.deepEqual(response.json, { detail: 'Invalid page.' });
  }
  for (const size of ['x', '', '-1', '1.5']) {
    const response = await app.send(`/members?page_size=${size}`);
    assert.equal(response.status, 400, size);
    assert.deepEqual(response.json, { page_size: ['A valid integer is required.'] });
  }
  assert.equal((await app.send('/members?page=7&page_size=1')).status, 200);
});

test('page 1 of an empty list is 200, and a larger page_size is clipped to 200', async (context) => {
  const app = await startApp(context);
  const empty = (await app.send('/members')).json;
  assert.deepEqual(empty, { count: 0, next: null, previous: null, results: [] });
  assert.equal((await app.send('/members?page=2')).status, 404);
  await fill(app, 201);
  assert.equal((await app.send('/members')).json.results.length, 50);
  const clipped = (await app.send('/members?page_size=1000')).json;
  assert.equal(clipped.results.length, 200);
  assert.equal(clipped.next, `${app.url}/api/v1/members?page=2&page_size=1000`);
});

test('member filters narrow the list, any of them together', async (context) => {
  const app = await startApp(context);
  await fill(app);
  const codes = async (query: string) =>
    (await app.send(`/members?${query}`)).json.results.map((row: { member_code: string }) => row.member_code);
  assert.deepEqual(await codes('cooperative=1'), ['M-0', 'M-2', 'M-4', 'M-6']);
  assert.deepEqual(await codes('status=withdrawn'), ['M-3']);
  assert.deepEqual(await codes('cooperative=2&status=active'), ['M-1', 'M-5']);
  assert.deepEqual(await codes('cooperative=1&status=withdrawn'), []);
  assert.deepEqual(await codes(`identity_card=${card(3)}`), ['M-3']);
  assert.deepEqual(await codes(`identity_card=${card(3)}&status=active`), []);
  assert.deepEqual(await codes(`identity_card=${card(3)}&cooperative=2&status=withdrawn`), ['M-3']);
  assert.deepEqual(await codes(`identity_card=${card(99)}`), []);
  assert.deepEqual(await codes('cooperative=99'), []);
});

test('a code of a cooperative where its id belongs is refused, and says where it goes', async (context) => {
  const app = await startApp(context);
  await fill(app, 1);
  for (const value of ['A', 'x', '', '1.0', '1234567890123']) {
    const response = await app.send(`/members?cooperative=${value}`);
    assert.equal(response.status, 400, value);
    assert.deepEqual(response.json, {
      cooperative: ['Expected the id of a cooperative; a code goes into /cooperatives?code='],
    });
  }
});

test('members are found by code and by telephone number, with other filters, in both lists', async (context) => {
  const app = await startApp(context);
  await fill(app, 4);
  for (const [id, mobile] of [
    ['1', '0781234567'],
    ['4', '+250781234567'],
  ]) {
    const { created_at, ...body } = (await app.send(`/members/${id}`)).json;
    const response = await app.send(`/members/${id}`, { method: 'PUT', body: { ...body, mobile } });
    assert.equal(response.status, 200, response.text);
  }
  const ids = async (path: string) =>
    (await app.send(path)).json.results.map((row: { id: string }) => row.id);
  for (const mobile of ['0781234567', '781234567', '250781234567', '%2B250781234567', '+250781234567'])
    assert.deepEqual(await ids(`/members?mobile=${mobile}`), ['1', '4'], mobile);
  assert.deepEqual(await ids('/members?mobile=0781234567&status=active&member_code=M-0'), ['1']);
  assert.deepEqual(await ids('/members?mobile=0781234567&status=withdrawn&cooperative=1'), []);
  assert.deepEqual(await ids('/cooperatives/2/members?mobile=0781234567'), ['4']);
  assert.deepEqual(await ids('/members?member_code=M-2'), ['3']);
  assert.deepEqual(await ids('/cooperatives/1/members?member_code=M-2'), ['3']);
  assert.deepEqual(await ids('/cooperatives/2/members?member_code=M-2'), []);
  assert.deepEqual(await ids('/members?member_code=m-2'), []);
  assert.deepEqual((await app.send('/members?mobile=x&member_code=')).json, {
    mobile: ['Enter a mobile number such as +250781234567.'],
    member_code: ['This field may not be blank.'],
  });
});

test('rows are found by their ids, with other filters, on pages; ids that do not exist are absent', async (context) => {
  const app = await startApp(context);
  await fill(app);
  const list = async (query: string, path = '/members') => {
    const { json } = await app.send(`${path}?${query}`);
    return [json.count, json.results.map(({ id }: { id: string }) => id).join()];
  };
  assert.deepEqual(await list('id=7,2,99,4'), [3, '2,4,7']);
  assert.deepEqual(await list('id=7%2C2,99,4&page_size=2&page=2'), [3, '7']);
  assert.deepEqual(await list('id=7,2,4&status=active'), [2, '2,7']);
  assert.deepEqual(await list('id=7,2,4&search=name'), [3, '2,4,7']);
  assert.deepEqual(await list(`id=7,2&identity_card=${card(1)}`), [1, '2']);
  assert.deepEqual(await list('id=7,2,4', '/cooperatives/2/members'), [2, '2,4']);
  assert.deepEqual(await list('id=999999999999'), [0, '']);
  const most = Array.from({ length: 200 }, (_, i) => 999_999_999_999 - i);
  assert.deepEqual(await list(`id=${most}`), [0, '']);
  const message = 'Expected 1 to 200 different ids, separated by commas.';
  for (const ids of [
    '',
    'x',
    '1,',
    '1,,2',
    '1,1',
    '1,01',
    '1,%202',
    '-1',
    '1.0',
    '1234567890123',
    `${most},1`,
  ])
    for (const path of ['/members', '/cooperatives/1/members', '/loans', '/payments']) {
      const { status, json } = await app.send(`${path}?id=${ids}`);
      assert.deepEqual([status, json], [400, { id: [message] }], `${path} ${ids}`);
    }
});

test('a malformed filter is refused by its name', async (context) => {
  const app = await startApp(context);
  for (const value of ['', '123', '1198589000123O42', '11985890001230420']) {
    const response = await app.send(`/members/?identity_card=${value}`);
    assert.equal(response.status, 400);
    assert.deepEqual(response.json, { identity_card: ['Expected a national ID of exactly 16 digits.'] });
  }
  assert.deepEqual((await app.send('/members?status=gone')).json, {
    status: ['"gone" is not a valid choice.'],
  });
  assert.deepEqual((await app.send('/cooperatives?sector=x&status=y')).json, {
    sector: ['"x" is not a valid choice.'],
    status: ['"y" is not a valid choice.'],
  });
});

test('cooperative filters narrow the list, any of them together', async (context) => {
  const app = await startApp(context);
  await fill(app);
  const codes = async (query: string) =>
    (await app.send(`/cooperatives?${query}`)).json.results.map((row: { code: string }) => row.code);
  assert.deepEqual(await codes('district=Huye'), ['A', 'B']);
  assert.deepEqual(await codes('sector=agriculture&district=Huye'), ['A']);
  assert.deepEqual(await codes('status=inactive'), ['B']);
  assert.deepEqual(await codes('code=C'), ['C']);
  assert.deepEqual(await codes('code=Z'), []);
  assert.deepEqual(await codes('code=c'), ['C']);
  assert.deepEqual(await codes('status=INACTIVE&district=huye&sector=Trading'), ['B']);
});

test('the members of a cooperative are a list of their own, 404 when it does not exist', async (context) => {
  const app = await startApp(context);
  await fill(app);
  const list = (await app.send('/cooperatives/2/members?status=active&page_size=1')).json;
  assert.equal(list.count, 2);
  assert.equal(list.next, `${app.url}/api/v1/cooperatives/2/members?page=2&page_size=1&status=active`);
  assert.equal((await app.send(`/cooperatives/2/members?identity_card=${card(3)}`)).json.count, 1);
  assert.equal((await app.send(`/cooperatives/1/members?identity_card=${card(3)}`)).json.count, 0);
  assert.equal((await app.send('/cooperatives/9/members')).status, 404);
});

test('a member row has exactly the fields of the specification, in their order', async (context) => {
  const app = await startApp(context);
  await fill(app, 1);
  const [row] = (await app.send('/members')).json.results;
  assert.deepEqual(Object.keys(row), [
    'id',
    'member_code',
    'full_name',
    'identity_card',
    'mobile',
    'gender',
    'role',
    'status',
    'cooperative',
    'registration_date',
  ]);
});
