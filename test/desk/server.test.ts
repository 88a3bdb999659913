/** Who may ask the desk for a page, and what every answer has (docs/desk.md#security). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRouter, isOurForm } from '../../src/desk/desk-requests.ts';
import type { Session } from '../../src/desk/screen.ts';
import { Sessions } from '../../src/desk/sessions.ts';
import { SCREENS } from '../../src/desk-screens.ts';
import { readConfig } from '../../src/runtime/config.ts';
import { KIGALI } from '../../src/values/date-time.ts';

import { OWN_FORM, testDesk, tokenOf } from '../support/desk.ts';
import { nid, startedPlace } from '../support/importing.ts';
import { storageAt } from '../support/storage.ts';

const desk = async (context: TestContext) => testDesk(context, (await startedPlace(context)).databaseFile);

test('a link opens a session once, within a minute', async (context) => {
  const { send, issueLink, port, clock } = await desk(context);
  const host = { host: `127.0.0.1:${port}` };
  const { pathname } = new URL(issueLink());
  assert.equal((await send('HEAD', pathname, host)).status, 403);
  const opened = await send('GET', pathname, host);
  assert.equal(opened.status, 200);
  const [cookie = ''] = opened.headers['set-cookie'] ?? [];
  assert.match(cookie, new RegExp(`^desk_${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`));
  assert.equal(opened.headers.refresh, '0; url=/');
  assert.equal((await send('GET', pathname, host)).status, 403);
  const late = new URL(issueLink()).pathname;
  clock.advance(60_000);
  const refused = await send('GET', late, host);
  assert.equal(refused.status, 403);
  assert.equal(refused.headers['set-cookie'], undefined);
});

test('a session ends after half an hour without a request, or when it is left', async (context) => {
  const { enter, clock } = await desk(context);
  const browser = await enter();
  for (let i = 0; i < 3; i++) {
    clock.advance(30 * 60_000 - 1);
    assert.equal((await browser.get('/')).status, 200);
  }
  clock.advance(30 * 60_000);
  const closed = await browser.get('/');
  assert.equal(closed.status, 401);
  assert.match(closed.text, /Run <code>npm run -s registry -- desk --db [^ <]*<\/code> again/);
  assert.match(closed.text, /Open &quot;Registry desk&quot; among the programs of this machine/);
  assert.match(closed.text, /ask its administrator for a new link/);
  const again = await enter();
  const left = await again.post('/leave', {});
  assert.match(left.headers['set-cookie']?.[0] ?? '', /Max-Age=0/);
  assert.equal((await again.get('/')).status, 401);
});

test('whoever comes back goes on with the session: a form that was begun in it is taken', async (context) => {
  const { enter, send, port, clock } = await desk(context);
  const HALF_AN_HOUR = 30 * 60_000;
  const first = await enter('A. (tester)');
  const token = tokenOf((await first.get('/')).text);
  const find = (cookie: string) => {
    const body = String(new URLSearchParams({ token, action: 'find', text: 'Person 1' }));
    return send('POST', '/', { ...OWN_FORM, host: `127.0.0.1:${port}`, cookie }, body);
  };
  clock.advance(HALF_AN_HOUR);
  const late = await find(first.cookie);
  assert.equal(late.status, 401);
  assert.match(late.text, /was not saved\. Keep this page, and open the desk again in this browser\./);
  // Another user gets a session of their own.
  assert.equal((await find((await enter('B. (tester)')).cookie)).status, 403);
  const again = await enter('A. (tester)');
  assert.notEqual(again.cookie, first.cookie);
  assert.equal((await find(again.cookie)).status, 303);
  assert.equal((await find(first.cookie)).status, 401);
  // It is one session: while it goes on, another link opens another.
  assert.equal((await find((await enter('A. (tester)')).cookie)).status, 403);
  // Somebody may leave in one tab while a form is begun in another.
  await again.post('/leave', {});
  assert.equal((await find(again.cookie)).status, 401);
  assert.equal((await find((await enter('A. (tester)')).cookie)).status, 303);
});

test('after twelve hours a session is gone, and what was shown once is not shown again', async (context) => {
  const { enter, clock } = await desk(context);
  const first = await enter();
  const tokenIn = async (browser: typeof first) => tokenOf((await browser.get('/')).text);
  const begun = await tokenIn(first);
  clock.advance(30 * 60_000 + 12 * 3_600_000 - 1);
  const second = await enter();
  assert.equal(await tokenIn(second), begun);
  clock.advance(30 * 60_000 + 12 * 3_600_000);
  assert.notEqual(await tokenIn(await enter()), begun);
  const sessions = new Sessions(clock);
  const come = () => sessions.find(sessions.open(sessions.issueLink('N.')) ?? '') as Session;
  const session = come();
  session.issued = { keyId: 1, secret: 'shown once' };
  clock.advance(30 * 60_000);
  assert.equal(come(), session);
  assert.equal(session.issued, undefined);
});

test('a session and a link end while the machine is suspended, and last when its clock steps back', async (context) => {
  const { clock } = await desk(context);
  const sessions = new Sessions(clock);
  const secret = sessions.open(sessions.issueLink('N.')) ?? '';
  const link = sessions.issueLink('N.');
  clock.stepWall(-8 * 3_600_000);
  clock.advance(20 * 60_000);
  assert.ok(sessions.find(secret) !== undefined);
  // The monotonic clock stands still meanwhile.
  clock.stepWall(31 * 60_000);
  assert.equal(sessions.find(secret), undefined);
  assert.equal(sessions.open(link), undefined);
});

test('an address of one session means nobody in another one', async (context) => {
  const { clock } = await desk(context);
  const sessions = new Sessions(clock);
  const come = () => sessions.find(sessions.open(sessions.issueLink('N.')) ?? '') as Session;
  const [first, second] = [come(), come()];
  const number = first.persons.of(nid(1));
  assert.notEqual(second.persons.of(nid(2)), number);
  assert.equal(second.persons.find(number), undefined);
  // That of another desk begins elsewhere.
  const other = new Sessions(clock);
  const opened = other.find(other.open(other.issueLink('N.')) ?? '') as Session;
  assert.notEqual(opened.persons.of(nid(2)), number);
});

test('a page may ask that its session goes on', async (context) => {
  const { enter, clock } = await desk(context);
  const browser = await enter();
  const { text } = await browser.get('/');
  assert.match(text, /<div id="idle" role="alert" data-life="1800000" data-warning="300000"\n hidden>/);
  const body = { token: tokenOf(text) };
  for (let i = 0; i < 3; i++) {
    clock.advance(29 * 60_000);
    assert.equal((await browser.post('/session', body)).status, 204);
  }
  assert.equal((await browser.post('/session', { token: 'guessed' })).status, 403);
  clock.advance(30 * 60_000);
  assert.equal((await browser.post('/session', body)).status, 401);
});

test('each page and its title say what the registry is called, without a session too', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const config = {
    storage: databaseFile,
    zone: KIGALI,
    accessLedgerDays: 730,
    accessLedger: true,
    registryName: 'Union <Huye>',
  };
  const { enter, send, port } = await testDesk(context, databaseFile, { config });
  const browser = await enter();
  const pages = [
    await browser.get('/'),
    await browser.get('/nothing'),
    await send('GET', '/', { host: `127.0.0.1:${port}` }),
  ];
  for (const { text } of pages) {
    assert.match(text, /<title>[^<]+ · Union &lt;Huye&gt;<\/title>/);
    assert.match(text, /<p class="registry">Union &lt;Huye&gt;<\/p>/);
  }
  const faults = (name: string) => () => readConfig({ REGISTRY_NAME: name });
  for (const name of ['x'.repeat(61), 'a\nb', 'of 1198000000000001'])
    assert.throws(faults(name), { message: 'REGISTRY_NAME: Expected a name of at most 60 characters.' });
  assert.equal(readConfig({ REGISTRY_NAME: ' Union ' }).registryName, 'Union');
});

test('without the cookie of a session there is nothing but the style sheet', async (context) => {
  const { send, port } = await desk(context);
  const host = { host: `localhost:${port}` };
  for (const path of ['/', '/person/1', '/nothing'])
    for (const headers of [host, { ...host, cookie: `desk_${port}=guessed` }]) {
      const refused = await send('GET', path, headers);
      assert.equal(refused.status, 401);
      assert.doesNotMatch(refused.text, /<form|<nav/);
    }
  assert.equal(
    (await send('GET', '/assets/desk.css', host)).headers['content-type'],
    'text/css; charset=utf-8',
  );
  assert.equal((await send('GET', '/assets/../desk.ts', host)).status, 401);
});

test('a path is a path, however many slashes it begins with', async (context) => {
  const { send, port, enter, reported } = await desk(context);
  const browser = await enter();
  for (const path of ['//', '///', '//[', '//a:b/', '/\\', '/%', '//link']) {
    assert.equal((await browser.get(path)).status, 404, path);
    assert.equal((await send('GET', path, { host: `127.0.0.1:${port}` })).status, 401, path);
  }
  assert.deepEqual(reported, []);
});

test('an address with a national ID leads nowhere', () => {
  const find = createRouter(SCREENS);
  assert.equal(find('/person/12')?.screen.path, '/person/:person');
  for (const path of ['/person/1198000000000001', '/found/1198000000000001', '/cooperative/1198000000000001'])
    assert.equal(find(path), undefined);
});

test('it listens on 127.0.0.1 only, not on another address of the machine', async (context) => {
  const { port } = await desk(context);
  // Linux answers on all of 127.0.0.0/8.
  await assert.rejects(fetch(`http://127.0.0.2:${port}/`), { message: 'fetch failed' });
});

test('another name than its own gets nothing: a name of another site may lead to this machine', async (context) => {
  const { send, port, enter } = await desk(context);
  const { cookie } = await enter();
  for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1', 'localhost:1', `[::1]:${port}`]) {
    const refused = await send('GET', '/', { host, cookie });
    assert.equal(refused.status, 403, host);
    assert.match(refused.text, /Give a tunnel the same port at both ends/);
  }
});

test('a form counts only with its token, from a page of the desk', async (context) => {
  const { port, send, enter } = await desk(context);
  const browser = await enter();
  const sent = await browser.post('/language', { language: 'fr', back: '/' });
  assert.equal(sent.status, 303);
  const wrong = [
    [{ token: '' }, {}],
    [{ token: 'guessed' }, {}],
    [{}, { 'sec-fetch-site': 'cross-site' }],
    [{}, { 'sec-fetch-site': 'same-site' }],
    [{}, { origin: 'http://evil.example' }],
    [{}, { origin: `http://evil.example:${port}`, 'sec-fetch-site': 'same-origin' }],
    [{}, { 'content-type': 'text/plain' }],
  ] as const;
  for (const [fields, headers] of wrong) {
    const refused = await browser.post('/language', { language: 'fr', back: '/', ...fields }, headers);
    assert.equal(refused.status, 403, JSON.stringify([fields, headers]));
    assert.equal(refused.headers['set-cookie'], undefined);
  }
  // The token of one session is not that of another.
  const other = await enter();
  const body = new URLSearchParams({
    token: tokenOf((await other.get('/')).text),
    language: 'fr',
    back: '/',
  });
  const host = `127.0.0.1:${port}`;
  const headers = { ...OWN_FORM, host, cookie: browser.cookie };
  assert.equal((await send('POST', '/language', headers, String(body))).status, 403);
});

test('an action that no form has leads nowhere', async (context) => {
  const { enter, reported } = await desk(context);
  const browser = await enter();
  for (const action of ['', 'nothing', 'constructor', 'toString', '__proto__'])
    assert.equal((await browser.post('/', { action })).status, 404, action);
  assert.deepEqual(reported, []);
});

test('one of origin and site must say that a form is ours, and neither that it is not', () => {
  const says = (headers: { [name: string]: string }) => isOurForm(headers, 8081);
  assert.ok(says({ origin: 'http://127.0.0.1:8081' }));
  assert.ok(says({ origin: 'http://localhost:8081', 'sec-fetch-site': 'same-origin' }));
  assert.ok(says({ origin: 'null', 'sec-fetch-site': 'same-origin' }));
  assert.ok(!says({}));
  assert.ok(!says({ origin: 'null' }));
  assert.ok(!says({ origin: 'https://127.0.0.1:8081' }));
  assert.ok(!says({ origin: 'http://127.0.0.1:8082' }));
  assert.ok(!says({ origin: 'http://127.0.0.1:8081', 'sec-fetch-site': 'none' }));
});

test('every answer forbids what is not of the desk, and is kept nowhere', async (context) => {
  const { send, port, enter } = await desk(context);
  const browser = await enter();
  const answers = [
    await browser.get('/'),
    await browser.get('/nothing'),
    await browser.get('/assets/desk.js'),
    await browser.post('/', { action: 'find', text: 'x' }),
    await send('GET', '/', { host: `127.0.0.1:${port}` }),
    await send('GET', '/', { host: 'evil.example' }),
    await send('DELETE', '/', { host: `127.0.0.1:${port}` }),
  ];
  for (const { headers } of answers) {
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
  }
});

test('a page is in the language of the browser, until another is chosen', async (context) => {
  const { enter, port } = await desk(context);
  const browser = await enter();
  const langOf = async (headers: { [name: string]: string }) =>
    /<html lang="(\w+)">/.exec((await browser.get('/', headers)).text)?.[1];
  assert.equal(await langOf({}), 'en');
  assert.equal(await langOf({ 'accept-language': 'de, rw;q=0.8, fr-RW;q=0.9' }), 'fr');
  const chosen = await browser.post('/language', { language: 'rw', back: '/person/3' });
  assert.equal(chosen.headers.location, '/person/3');
  const cookie = `${browser.cookie}; ${chosen.headers['set-cookie']?.[0]?.split(';')[0]}`;
  assert.ok(cookie.includes(`desk_language_${port}=rw`));
  assert.equal(await langOf({ cookie, 'accept-language': 'fr' }), 'rw');
  // The last one takes a backtracking expression longer than the desk runs.
  for (const back of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    'x',
    `/${'a'.repeat(40)}!`,
  ])
    assert.equal((await browser.post('/language', { language: 'rw', back })).headers.location, '/');
});

test('another command of the same user gets a link by the secret of the desk', async (context) => {
  const { send, port } = await desk(context);
  const headers = { ...OWN_FORM, host: `127.0.0.1:${port}` };
  const ask = (authorization: string) => send('POST', '/link', { ...headers, authorization }, 'user=N.');
  assert.match((await ask('secret')).text, /^http:\/\/127\.0\.0\.1:\d+\/open\/[\w-]{43}$/);
  for (const wrong of ['', 'Secret', 'secret2']) assert.equal((await ask(wrong)).status, 403);
});

test('what should not have happened is reported without a national ID, and the page says where', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const storage = storageAt(databaseFile);
  const { enter, reported } = await testDesk(context, databaseFile, { storage });
  const visitor = await enter();
  context.mock.method(storage, 'pathForOpening', () => {
    throw new Error('about 1198000000000001');
  });
  const failed = await visitor.get('/');
  assert.equal(failed.status, 500);
  assert.match(failed.text, /This page cannot be shown/);
  assert.equal(reported.length, 1);
  assert.doesNotMatch(reported.join(''), /\d{16}/);
});
