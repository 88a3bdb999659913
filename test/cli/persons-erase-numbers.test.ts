/** `persons erase`: every number of the person goes, and what is somebody else's stays. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { type ImportPlace, importPlace, members, nid } from '../support/importing.ts';
import { filesWith } from '../support/registry-files.ts';

const WHY = ['--reason', 'Request of 12 June'];

async function start(context: TestContext, ...rows: string[]): Promise<ImportPlace> {
  const place = importPlace(context);
  for (const [kind, content] of [
    ['cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n'],
    ...(rows.length === 0 ? [] : [['members', members(...rows)] as const]),
  ] as const) {
    const { status, err } = await place.load(kind, content);
    assert.equal(status, 0, err);
  }
  return place;
}

async function done(place: ImportPlace, ...args: string[]): Promise<string> {
  const { status, out, err } = await place.command(...args, ...WHY);
  assert.equal(status, 0, err);
  return out;
}

test('a number that was changed over HTTP is erased with the answers that were kept under it', async (context) => {
  const place = await start(context);
  const app = await startApp(context, { folder: place.folder });
  const body = {
    ...{ cooperative_id: '1', identity_card: nid(1), member_code: 'ZX-1' },
    ...{ full_name: 'Zimulinda Aline', mobile: '0788000111' },
  };
  const headers = { 'Idempotency-Key': 'k1' };
  const post = () => app.send('/members', { method: 'POST', headers, body });
  assert.equal((await post()).status, 201);
  const loan = { member_id: '1', reference: 'L-1', amount: '5', interest_rate: '1' };
  const lent = await app.send('/loans', { method: 'POST', headers: { 'Idempotency-Key': 'k2' }, body: loan });
  assert.equal(lent.status, 201);
  for (const number of [nid(3), nid(2)]) {
    const patched = await app.send('/members/1', { method: 'PATCH', body: { identity_card: number } });
    assert.equal(patched.status, 200);
  }
  const shown = await place.command('persons', 'show', nid(2), '--json');
  assert.equal(JSON.parse(shown.out).kept_responses, 2);
  await done(place, 'persons', 'erase', '--yes', nid(2));
  assert.deepEqual(place.query('SELECT body FROM idempotent_responses'), []);
  assert.deepEqual(filesWith(place.folder, [nid(1), nid(2), nid(3), 'Zimulinda', '788000111', 'ZX-1']), []);
  for (const number of [nid(1), nid(3), nid(2)]) {
    const back = await place.load('members', members(`A-1,${number},ZX-1,Zimulinda Aline`));
    assert.match(back.err, /This person was erased\./);
  }
});

test('responses about a loan go with the person, those about other members stay', async (context) => {
  const place = await start(context, `A-1,${nid(1)},M-1,Keza Aline`, `A-1,${nid(2)},M-2,Mugabo Jean`);
  const keep = (key: string, path: string) =>
    place.query(`INSERT INTO idempotent_responses
      (key_id, idempotency_key, request_hash, status, location, body, created_at)
      VALUES (1, '${key}', 'h', 201, '/api/v1${path}', '{}', 1) RETURNING 1`);
  const app = await startApp(context, { folder: place.folder });
  for (const member of ['1', '2']) {
    const body = { member_id: member, reference: `L-${member}`, amount: '5', interest_rate: '1' };
    const headers = { 'Idempotency-Key': `l${member}` };
    assert.equal((await app.send('/loans', { method: 'POST', headers, body })).status, 201);
    place.query(`INSERT INTO payments (cooperative_id, loan_id, reference, amount_minor, method, status,
      paid_at, created_at, updated_at)
      VALUES (1, ${member}, 'Y-${member}', 1, 'cash', 'void', 1, 1, 1) RETURNING id`);
  }
  for (const [key, path] of [
    ['m1', '/members/1'],
    ['m11', '/members/11'],
    ['m2', '/members/2'],
    ['c1', '/cooperatives/1'],
    ['p1', '/payments/1'],
    ['p2', '/payments/2'],
  ] as const)
    keep(key, path);
  await done(place, 'persons', 'erase', '--yes', nid(1));
  assert.deepEqual(
    place
      .query<{ key: string }>('SELECT idempotency_key AS key FROM idempotent_responses ORDER BY 1')
      .map(({ key }) => key),
    ['c1', 'l2', 'm11', 'm2', 'p2'],
  );
});

/** Member 1 had Mugabo's number 1 by mistake, and was merged into Keza, who has the number 2. */
async function mistaken(context: TestContext): Promise<ImportPlace> {
  const place = await start(
    context,
    `A-1,${nid(1)},M-1,Keza One`,
    `A-1,${nid(2)},M-2,Keza One`,
    `B-2,${nid(9)},M-3,Mugabo Other`,
  );
  await done(place, 'nid', 'replace', '--yes', '--same-person', nid(9), nid(1));
  await done(place, 'members', 'merge', '--yes', '1', '2');
  return place;
}

test('a number that somebody else has now stays theirs, with its redirect, history and undo', async (context) => {
  const place = await mistaken(context);
  const redirects = 'SELECT old, new FROM replaced_identity_cards WHERE ended_by IS NULL';
  const theirs =
    "SELECT field, old, new FROM changes WHERE entity = 'members' AND row_id = 3 AND actor LIKE 'c%'";
  const before = [place.query(redirects), place.query(theirs)];
  assert.deepEqual(before[1], [{ field: 'identity_card', old: nid(9), new: nid(1) }]);
  const out = await done(place, 'persons', 'erase', '--yes', nid(2));
  assert.doesNotMatch(out, /Another process/);
  assert.deepEqual([place.query(redirects), place.query(theirs)], before);
  const repeated = await place.command('persons', 'erase', '--yes', nid(2), '--reason', 'Request');
  assert.match(repeated.err, /^This person was erased\./);
  // The person's own one, and the mistake with each of the two memberships that had it.
  assert.equal(place.value('SELECT count(*) FROM erased_persons'), 3);
  const again = await place.load('members', members(`B-2,${nid(1)},M-3,Mugabo Other`));
  assert.equal(again.status, 0, again.err);
  const undone = await place.command('imports', 'undo', '--yes', '3');
  assert.equal(undone.status, 0, undone.err);
  assert.equal(place.value('SELECT identity_card FROM members WHERE id = 3'), nid(9));
  assert.equal((await place.command('check')).status, 0);
});

test('a former number of somebody else finds them still after the person who had it by mistake was erased', async (context) => {
  const place = await mistaken(context);
  await done(place, 'nid', 'replace', '--yes', nid(1), nid(8));
  await done(place, 'persons', 'erase', '--yes', nid(2));
  const found = JSON.parse((await place.command('persons', 'show', nid(1), '--json')).out);
  assert.deepEqual([found.identity_card, found.former_identity_cards.sort()], [nid(8), [nid(1), nid(9)]]);
});

test('no redirect keeps the number of an erased person whose former number is somebody else’s', async (context) => {
  const place = await start(context, `A-1,${nid(1)},M-1,Mugabo Other`);
  await done(place, 'nid', 'replace', '--yes', nid(1), nid(3));
  await done(place, 'nid', 'release', '--yes', nid(1));
  await place.load('members', members(`A-1,${nid(1)},M-2,Keza Aline`));
  await done(place, 'persons', 'erase', '--yes', nid(3));
  assert.deepEqual(filesWith(place.folder, [nid(3)]), []);
  assert.equal(place.value('SELECT identity_card FROM members WHERE id = 2'), nid(1));
});

test('an undo that would put back an erased number is refused, and changes nothing', async (context) => {
  const place = await start(context, `A-1,${nid(1)},M-1,Mugabo Other`);
  // Mugabo had the number of Keza, who is registered afterwards.
  await done(place, 'nid', 'replace', '--yes', nid(1), nid(3));
  await done(place, 'nid', 'release', '--yes', nid(1));
  await place.load('members', members(`A-1,${nid(1)},ZX-2,Zimulinda Aline`));
  await done(place, 'persons', 'erase', '--yes', nid(1));
  assert.deepEqual(filesWith(place.folder, [nid(1), 'Zimulinda']), []);
  const before = place.query('SELECT * FROM members');
  const undone = await place.command('imports', 'undo', '--yes', '3');
  assert.equal(undone.status, 1);
  assert.match(undone.err, /^Nothing was undone: other rows build on correction 3\./);
  assert.deepEqual(place.query('SELECT * FROM members'), before);
});

test('a merge cannot be undone once the person was erased', async (context) => {
  const place = await start(context, `A-1,${nid(1)},M-1,Keza One`, `A-1,${nid(2)},M-2,Keza One`);
  await done(place, 'members', 'merge', '--yes', '1', '2');
  await done(place, 'persons', 'erase', '--yes', nid(2));
  const undone = await place.command('imports', 'undo', '--yes', '3');
  assert.equal(undone.status, 1);
  assert.match(undone.err, /^Nothing was undone/);
});
