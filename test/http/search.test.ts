/** Searches by name (docs/api.md#search). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { nid } from '../support/importing.ts';

const COOPERATIVES = ["Coopérative d'Élevage", 'Abahuje Ba-Huye'];
const NAMES = ['Uwimana Jean-Paul', "N'Diaye Uwimana", 'UWIMANA Zoé', 'Mukamana Béatrice', 'Jean Ng’andu'];

async function start(context: TestContext): Promise<TestApp> {
  const app = await startApp(context);
  for (const [i, name] of COOPERATIVES.entries()) {
    const body = { code: `C-${i + 1}`, name };
    assert.equal((await app.send('/cooperatives', { method: 'POST', body })).status, 201);
  }
  for (const [i, full_name] of NAMES.entries()) {
    const body = {
      ...{ cooperative_id: String((i % 2) + 1), identity_card: nid(i), member_code: `M-${i}`, full_name },
      status: i === 2 ? 'withdrawn' : 'active',
    };
    assert.equal((await app.send('/members', { method: 'POST', body })).status, 201);
  }
  return app;
}

async function found(app: TestApp, query: string, path = '/members', key?: string): Promise<string[]> {
  const { status, json, text } = await app.send(`${path}?${query}`, key === undefined ? {} : { key });
  assert.equal(status, 200, text);
  assert.equal(json.count, json.results.length);
  return json.results.map(({ id }: { id: string }) => id);
}

test('each word is the beginning of a word, in any order, whatever the case, accents and apostrophes', async (context) => {
  const app = await start(context);
  for (const [text, ids] of [
    ['uwi', ['1', '2', '3']],
    ['jean uwim', ['1']],
    ['PAUL', ['1']],
    ['zoe uwimana', ['3']],
    ['Zoé', ['3']],
    ["n'dia", ['2']],
    ['ndiaye', ['2']],
    ['diaye', ['2']],
    ['ngandu', ['5']],
    ['andu', ['5']],
    ['beatrice', ['4']],
    ['wimana', []],
    ['uwimanah', []],
  ] as const)
    assert.deepEqual(await found(app, `search=${encodeURIComponent(text)}`), ids, text);
  for (const [text, ids] of [
    ['elevage', ['1']],
    ['delev coop', ['1']],
    ['huye', ['2']],
  ] as const)
    assert.deepEqual(await found(app, `search=${encodeURIComponent(text)}`, '/cooperatives'), ids, text);
});

test('a search combines with every other filter and with what a key sees', async (context) => {
  const app = await start(context);
  const { key } = app.issue(['members:read', 'cooperatives:read'], { cooperatives: [2] });
  for (const [query, ids] of [
    ['status=active', ['1', '2']],
    ['cooperative=1', ['1', '3']],
    ['cooperative=1&status=withdrawn', ['3']],
    [`identity_card=${nid(0)}`, ['1']],
    [`identity_card=${nid(3)}`, []],
    ['member_code=M-1', ['2']],
    ['member_code=M-1&cooperative=1', []],
  ] as const)
    assert.deepEqual(await found(app, `search=uwim&${query}`), ids, query);
  assert.deepEqual(await found(app, 'search=uwim', '/cooperatives/1/members'), ['1', '3']);
  assert.deepEqual(await found(app, 'search=uwim', '/members', key), ['2']);
  assert.deepEqual(await found(app, 'search=uwim&cooperative=1', '/members', key), []);
  assert.deepEqual(await found(app, 'search=coop', '/cooperatives', key), []);
  const { json } = await app.send('/members?search=uwim&page_size=2&page=2');
  assert.equal(json.previous, `${app.url}/api/v1/members?page_size=2&search=uwim`);
  assert.deepEqual([json.count, json.next, json.results.length], [3, null, 1]);
  const lookingUp = app.issue(['members:read'], { isLookupOnly: true });
  assert.equal((await app.send('/members?search=uwim', { key: lookingUp.key })).status, 403);
});

test('a search that asks for too little or too much says so', async (context) => {
  const app = await start(context);
  for (const [text, message] of [
    ['', 'This field may not be blank.'],
    ['-', 'This field may not be blank.'],
    ['uw', 'Ensure each word has at least 3 characters.'],
    ['uwimana z', 'Ensure each word has at least 3 characters.'],
    ['aaa bbb ccc ddd eee fff', 'Ensure there are no more than 5 words.'],
    ['a'.repeat(201), 'Ensure this field has no more than 200 characters.'],
  ] as const)
    for (const path of ['/members', '/cooperatives', '/cooperatives/1/members']) {
      const { status, json } = await app.send(`${path}?search=${encodeURIComponent(text)}`);
      assert.deepEqual([status, json], [400, { search: [message] }], `${path} ${text}`);
    }
  // Signs that mean something to the index, and a letter that is newer than it.
  assert.deepEqual(await found(app, `search=${encodeURIComponent('"uwi*" (ndia) AND^NOT:')}`), []);
  for (const path of ['/members', '/cooperatives'])
    assert.deepEqual(await found(app, `search=${encodeURIComponent('abc\u{1e900}def')}`, path), []);
  assert.deepEqual(await found(app, `search=${encodeURIComponent('\u{1f1f7}uwimana')}`), ['1', '2', '3']);
});

test('a written name is found at once, and a replaced one not any more', async (context) => {
  const app = await start(context);
  assert.deepEqual(await found(app, 'search=uwimana'), ['1', '2', '3']);
  assert.deepEqual(await found(app, 'search=habimana'), []);
  const counted = async () => (await app.send('/members?search=uwimana&page_size=1')).json.count;
  assert.equal(await counted(), 3);
  const body = { full_name: 'Habimana Zoé' };
  const headers = { 'Content-Type': 'application/merge-patch+json' };
  assert.equal((await app.send('/members/3', { method: 'PATCH', body, headers })).status, 200);
  assert.deepEqual(await found(app, 'search=habimana'), ['3']);
  assert.deepEqual(await found(app, 'search=uwimana'), ['1', '2']);
  assert.equal(await counted(), 2);
  const renamed = { code: 'C-2', name: 'Abasangizi' };
  assert.equal((await app.send('/cooperatives/2', { method: 'PUT', body: renamed })).status, 200);
  assert.deepEqual(await found(app, 'search=abahuje', '/cooperatives'), []);
});

test('a query that is not UTF-8 is refused, and not answered with nobody', async (context) => {
  const app = await startApp(context);
  for (const path of ['/members?search=K%E9za', '/cooperatives?search=%FF', '/members?%E9=1']) {
    const { status, json } = await app.send(path);
    assert.deepEqual([status, json], [400, { detail: 'The query is not valid UTF-8.' }], path);
  }
  assert.equal((await app.send('/members?search=K%C3%A9za')).status, 200);
  assert.doesNotMatch((await app.send('/members?search=Ke%EF%BF%BDza')).text, /UTF-8/);
});
