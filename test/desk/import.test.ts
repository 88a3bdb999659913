/** Files given to the desk: read by a chosen map, checked, imported and undone (docs/desk.md#import). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OWN_FORM, testDesk, tokenOf } from '../support/desk.ts';
import { fill, give, openedDesk, SAMPLES_MS, settled, submit } from '../support/desk-import.ts';
import { member, members, startedPlace } from '../support/importing.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

test('a warning is looked at before the file is imported', async (context) => {
  const { databaseFile, load, value } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const listed = Array.from({ length: 20 }, (_, i) => i + 1);
  assert.equal((await load('members', members(...listed.map((n) => member(n))), '--yes')).status, 0);
  const { path } = await give(browser, 'members.csv', members(...listed.map((n) => member(n, 'B-2'))));
  const checked = await submit(browser, path, 'check');
  assert.match(checked.text, /<h2>Warnings<\/h2>/);
  assert.match(
    checked.text,
    /20 of the 20 members listed for B-2 are members of A-1: is this the right code\?/,
  );
  await submit(browser, path, 'import');
  assert.equal(value('SELECT count(*) FROM members WHERE cooperative_id = 2'), 0);
  await submit(browser, path, 'import', { agreed: 'yes' });
  assert.equal(value('SELECT count(*) FROM members WHERE cooperative_id = 2'), 20);
});

test('of a file with bad rows the good ones come in, and the others are downloaded with the reasons', async (context) => {
  const { databaseFile, value } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const { path } = await give(browser, 'members.csv', members(member(4), 'A-1,123,M-5,Bad Number'));
  const checked = await submit(browser, path, 'check');
  assert.match(
    checked.text,
    /members\.csv line 3, column National ID: Expected a national ID of exactly 16.*>line 3: Bad Number</,
  );
  assert.match(checked.text, /as they are understood[\s\S]*>Person 4</);
  assert.doesNotMatch(checked.text, /value="import"/);
  assert.doesNotMatch(checked.text, /\d{16}/);
  const rejects = await browser.get(`${path}/rejects`);
  assert.match(rejects.headers['content-disposition'] ?? '', /^attachment; filename="rejects-\d+\.csv"$/);
  assert.match(rejects.text, /Bad Number/);
  assert.doesNotMatch(rejects.text, /Person 4/);
  const good = await submit(browser, path, 'good');
  assert.match(good.text, /value="import"/);
  await submit(browser, path, 'import');
  assert.equal(value('SELECT count(*) FROM members'), 4);
});

test('what a user uploaded is shown to another user with a record of the access', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const ledger = memoryLedger();
  const desk = await testDesk(context, databaseFile, { ledger });
  desk.clock.advance(SAMPLES_MS - desk.clock.now());
  const browser = await desk.enter('First');
  const { path } = await give(browser, 'members.csv', members(member(4), 'A-1,123,M-5,Bad Number'));
  const another = await desk.enter('Second');
  await another.get(path);
  await submit(browser, path, 'check');
  await browser.get(`${path}/rejects`);
  await another.get(`${path}/rejects`);
  const reader = { user: 'Second' };
  assert.deepEqual(
    ledger.readings.map((access) => [access.reader, access.route]),
    [
      [reader, 'desk /import/:file'],
      [reader, 'desk /import/:file/rejects'],
    ],
  );
});

test('earlier imports are on pages of their own', async (context) => {
  const { databaseFile, load } = await startedPlace(context);
  for (let n = 0; n < 24; n++)
    assert.equal((await load('members', members(member(n % 2 ? 3 : 4)))).status, 0);
  const browser = await openedDesk(context, databaseFile);
  const first = await browser.get('/import');
  assert.equal(first.status, 200);
  const [, address = ''] = /<a href="(\/import\?before=\d+)">Earlier/.exec(first.text) ?? [];
  assert.match((await browser.get(address)).text, /<a href="\/imports\/1">/);
});

test('what would change otherwise by now is not imported but shown again', async (context) => {
  const { databaseFile, load, value } = await startedPlace(context);
  const browser = await openedDesk(context, databaseFile);
  const { path } = await give(browser, 'members.csv', members(member(4)));
  await submit(browser, path, 'check');
  assert.equal((await load('members', members(member(4).replace('Person', 'Somebody')))).status, 0);
  const refused = await submit(browser, path, 'import');
  assert.match(refused.text, /Nothing of this file was imported.*no longer agrees with it/s);
  assert.equal(value("SELECT full_name FROM members WHERE member_code = 'M-4'"), 'Somebody 4');
  const again = await submit(browser, path, 'again');
  assert.match(again.text, /Name changes in 1 row/);
  await submit(browser, path, 'import');
  assert.equal(value("SELECT full_name FROM members WHERE member_code = 'M-4'"), 'Person 4');
});

test('an undo agrees to the plan that was shown, and to no other', async (context) => {
  const { databaseFile, load, value } = await startedPlace(context);
  assert.equal((await load('members', members(member(4)))).status, 0);
  const desk = await testDesk(context, databaseFile);
  const browser = await desk.enter();
  const page = '/imports/3';
  const earlier = fill((await submit(browser, page, 'plan')).text, 'undo');
  const stranger = await desk.enter('O. O. (tester)');
  const theirs = fill((await submit(stranger, page, 'plan')).text, 'undo');
  assert.notEqual(earlier.plan, theirs.plan);
  for (const given of [earlier, theirs, { action: 'undo' }]) {
    assert.equal((await browser.post(page, { ...given, token: earlier.token ?? '' })).status, 303);
    assert.match((await settled(browser, page)).text, /The data has changed in the meantime/);
  }
  assert.equal(value('SELECT count(*) FROM members'), 4);
  // The row is changed after it was shown.
  assert.equal((await load('members', members(member(4).replace('Person', 'Somebody')))).status, 0);
  await stranger.post(page, theirs);
  assert.match((await settled(stranger, page)).text, /Nothing was undone: other rows build on import 3/);
  assert.equal(value('SELECT count(*) FROM members'), 4);
});

test('a script sends a file as it is, with the token in a header; no other site can', async (context) => {
  const { databaseFile } = await startedPlace(context);
  const { send, enter, port } = await testDesk(context, databaseFile);
  const { cookie, get } = await enter();
  const token = tokenOf((await get('/')).text);
  const headers = {
    ...{ ...OWN_FORM, host: `127.0.0.1:${port}`, cookie, 'content-type': 'application/octet-stream' },
    ...{ 'x-desk-token': token, 'x-file-name': encodeURIComponent('abanyamuryango é.csv') },
  };
  const body = members(member(4));
  const given = await send('POST', '/import', headers, body);
  assert.equal(given.status, 303);
  assert.match((await get('/import')).text, /abanyamuryango é\.csv/);
  for (const wrong of [
    { 'x-desk-token': 'guessed' },
    { 'sec-fetch-site': 'cross-site' },
    { 'x-file-name': '%' },
  ])
    assert.equal((await send('POST', '/import', { ...headers, ...wrong }, body)).status, 403);
  // Other screens take no file.
  assert.equal((await send('POST', '/', headers, body)).status, 403);
});
