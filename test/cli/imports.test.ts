/** The commands `imports` and `history` (docs/import-reference.md#history-and-undo). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openRegistry } from '../../src/open-registry.ts';
import { systemUser } from '../../src/runtime/process.ts';
import { type ImportPlace, member, members, nid, startedPlace } from '../support/importing.ts';
import { storageAt } from '../support/storage.ts';

const WITH_MOBILE = 'cooperative_code,identity_card,member_code,full_name,mobile';
const mobiles = (...rows: string[]) => `${[WITH_MOBILE, ...rows].join('\n')}\n`;
const SHA256 = /^[0-9a-f]{64}$/;

/** Cooperatives, three members, then a file that changes two of them and adds one: import 3. */
async function changedPlace(context: TestContext): Promise<ImportPlace> {
  const place = await startedPlace(context);
  const rows = [`${member(1)},0781234567`, `A-1,${nid(2)},M-2,Renamed,`, `${member(4)},`];
  const result = await place.load('members', mobiles(...rows));
  assert.equal(result.status, 0, result.err);
  return place;
}

async function json(place: ImportPlace, ...args: string[]) {
  const { status, out, err } = await place.command(...args, '--json');
  return { status, err, document: JSON.parse(out) };
}

test('imports are listed with their file, its hash, their counts and the user', async (context) => {
  const place = await changedPlace(context);
  const { status, document } = await json(place, 'imports', 'list');
  assert.equal(status, 0);
  const shown = document.imports.map((each: Record<string, unknown>) => [
    ...[each.id, each.file, each.kind, each.created, each.changed, each.unchanged, each.undone_at],
  ]);
  assert.deepEqual(shown, [
    [1, 'cooperatives.csv', 'cooperatives', 2, 0, 0, null],
    [2, 'members.csv', 'members', 3, 0, 0, null],
    [3, 'members.csv', 'members', 1, 2, 0, null],
  ]);
  for (const { sha256, user, imported_at } of document.imports) {
    assert.match(sha256, SHA256);
    assert.ok(user.length > 0);
    assert.equal(imported_at, '2025-06-15T12:00:00+02:00');
  }
  const { out } = await place.command('imports', 'list');
  assert.match(out, /^ID +FILE +KIND +IMPORTED +BY +NEW +CHANGED +UNCHANGED\n/);
  assert.equal(out.split('\n').length, 5);
  assert.equal((await place.command('imports', 'undo', '3', '--yes')).status, 0);
  const undone = (await place.command('imports', 'list')).out;
  assert.match(undone, /^ID +FILE .* UNCHANGED +UNDONE\n/, 'A column appears once it has a value.');
  assert.match(undone, /^3 .* {2}2025-06-15T12:00:00\+02:00, by \S+$/m);
});

test('one import is shown with its options, and the import names its id', async (context) => {
  const place = await changedPlace(context);
  const result = await place.load('members', members(member(9)), '--json', '--skip-invalid');
  const [file] = JSON.parse(result.out).files;
  assert.deepEqual([file.import_id, file.same_as_import], [4, null]);
  const { document } = await json(place, 'imports', 'show', '4');
  assert.deepEqual([document.id, document.created, document.map, document.notes], [4, 1, null, []]);
  assert.deepEqual(document.options, {
    skip_invalid: true,
    accept_trailing_zero: false,
    strict: false,
    overwrite_corrections: false,
  });
  const { out } = await place.command('imports', 'show', '4');
  assert.match(out, /^rows +1 new, 0 changed, 0 unchanged$/m);
});

test('a file with the bytes of an earlier import names it', async (context) => {
  const place = await changedPlace(context);
  const content = members(member(9));
  await place.load('members', content);
  const again = await place.load('members', content, '--json');
  assert.equal(JSON.parse(again.out).files[0].same_as_import, 4);
  const third = await place.load('members', content, '--json');
  assert.equal(JSON.parse(third.out).files[0].same_as_import, 5);
  for (const id of ['6', '5', '4']) await place.command('imports', 'undo', '--yes', id);
  const undone = await place.load('members', content, '--json', '--dry-run');
  assert.equal(JSON.parse(undone.out).files[0].same_as_import, null);
});

test('the changes of an import name row and column, and show no national ID', async (context) => {
  const place = await changedPlace(context);
  const { document } = await json(place, 'imports', 'changes', '3');
  assert.deepEqual(document, {
    changes: [
      { line: 2, row: 'M-1', column: 'mobile', old: null, new: '+250781234567' },
      { line: 3, row: 'M-2', column: 'full_name', old: 'Person 2', new: 'Renamed' },
    ],
  });
  const { out } = await place.command('imports', 'changes', '3');
  assert.equal(
    out,
    'line 2, M-1, mobile: (empty) → +250781234567\nline 3, M-2, full_name: Person 2 → Renamed\n',
  );
  assert.deepEqual((await json(place, 'imports', 'changes', '2')).document, { changes: [] });
});

test('a changed national ID is on no screen, is put back by an undo, and kept from one that somebody has', async (context) => {
  const place = await startedPlace(context);
  const result = await place.load('members', members(`A-1,${nid(91)},M-1,Person 1`), '--yes');
  assert.equal(result.status, 0, result.err);
  const { out } = await place.command('imports', 'changes', '3');
  assert.equal(out, 'line 2, M-1, identity_card: (hidden) → (hidden)\n');
  const { document } = await json(place, 'imports', 'changes', '3');
  assert.deepEqual(document.changes, [
    { line: 2, row: 'M-1', column: 'identity_card', old: nid(1), new: nid(91) },
  ]);
  assert.equal((await place.load('members', members(`A-1,${nid(1)},M-9,Other`), '--yes')).status, 0);
  const refused = await place.command('imports', 'undo', '--yes', '3');
  assert.match(
    refused.err,
    /member M-9, from import 4, has a member code or national ID that would be put back/,
  );
  for (const id of ['4', '3']) assert.equal((await place.command('imports', 'undo', '--yes', id)).status, 0);
  assert.equal(place.value('SELECT identity_card FROM members WHERE id = 1'), nid(1));
});

test('a national ID that is used as a member code, or in a name, is on no screen', async (context) => {
  const place = await startedPlace(context);
  const row = (name: string) => members(`A-1,${nid(7)},${nid(7)},${name}`);
  await place.load('members', row('Somebody'));
  const changed = row(`Somebody 1 1985 8 ${9_000_007} 0 42`);
  const screens = [await place.load('members', changed, '--dry-run')];
  assert.equal((await place.load('members', changed)).status, 0);
  for (const command of ['changes 4', 'undo 3'])
    screens.push(await place.command('imports', ...command.split(' ')));
  const texts = screens.map(({ out, err }) => out + err);
  assert.match(texts[0] ?? '', /full_name changes in 1 row: \(hidden\) Somebody → Somebody \(hidden\)\n/);
  assert.equal(texts[1], 'line 2, (hidden), full_name: Somebody → Somebody (hidden)\n');
  assert.match(texts[2] ?? '', /member \(hidden\) was changed since, by import 4/);
});

test('an undo says what it removed and put back, and happens once', async (context) => {
  const place = await changedPlace(context);
  const done = await place.command('imports', 'undo', '--yes', '3');
  assert.equal(done.status, 0, done.err);
  assert.match(done.out, /^Import 3 is undone: 1 row removed, 2 put back as they were \(locked for /);
  assert.equal(place.value('SELECT group_concat(full_name) FROM members'), 'Person 1,Person 2,Person 3');
  const again = await place.command('imports', 'undo', '--yes', '3');
  assert.deepEqual(
    [again.status, again.err],
    [1, 'Import 3 was undone before, at 2025-06-15T12:00:00+02:00.\n'],
  );
  const { document } = await json(place, 'imports', 'undo', '--yes', '2');
  assert.deepEqual([document.id, document.outcome, document.removed, document.restored], [2, 'undone', 3, 0]);
});

test('an undo has an author, who need not be the one of the import', async (context) => {
  const place = await startedPlace(context);
  const file = 'code,name\nA-1,Renamed\n';
  assert.equal((await place.load('cooperatives', file, '--as', 'The first clerk')).status, 0);
  const undone = await place.command('imports', 'undo', '3', '--yes', '--as', 'The second clerk');
  assert.equal(undone.status, 0, undone.err);
  const { document } = await json(place, 'imports', 'show', '3');
  assert.match(document.user, /^The first clerk \(/);
  assert.match(document.undone_by, /^The second clerk \(/);
  for (const command of [['imports', 'list'], ['imports', 'show', '3'], ['status']])
    assert.match((await place.command(...command)).out, /2025-06-15T12:00:00\+02:00, by The second clerk \(/);
  const history = await json(place, 'history', 'cooperative', 'A-1');
  const users = history.document.history.map((entry: Record<string, string>) => [entry.actor, entry.user]);
  assert.deepEqual(users.slice(1), [
    ['import:3', document.user],
    ['undo:3', document.undone_by],
  ]);
  const { out } = await place.command('history', 'cooperative', 'A-1');
  assert.match(out, /import 3: The first clerk \(.*\n.*undo of 3: The second clerk \(/);
});

test('an undo that other rows build on is refused with these rows, and status 1', async (context) => {
  const place = await changedPlace(context);
  await place.load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\nA-1,M-3,P-1,2025-03-01,5\n',
  );
  const refused = await place.command('imports', 'undo', '--yes', '2');
  assert.deepEqual(
    [refused.status, refused.out, refused.err],
    [
      ...[1, ''],
      'Nothing was undone: other rows build on import 2.\n' +
        '  member M-1 was changed since, by import 3\n' +
        '  member M-2 was changed since, by import 3\n' +
        '  delivery P-1, from import 4, belongs to a row that the import created\n' +
        'First undo, in this order: import 4, import 3.\n',
    ],
  );
  const { status, document } = await json(place, 'imports', 'undo', '--yes', '1');
  assert.deepEqual(
    [status, document.outcome, document.count, document.blockers.length],
    [1, 'refused', 5, 5],
  );
  assert.equal(place.value('SELECT count(*) FROM members'), 4);
});

test('an undo that a change over HTTP stands against says that it cannot be undone', async (context) => {
  const place = await changedPlace(context);
  const registry = openRegistry(storageAt(place.databaseFile));
  await registry.members.update(
    3,
    (stored) => ({ ...stored, fullName: 'Corrected' }),
    1_750_000_000,
    'key:7',
  );
  await registry.close();
  const { err } = await place.command('imports', 'undo', '--yes', '2');
  assert.match(err, /^ {2}member M-3 was changed since, by key 7$/m);
  assert.match(
    err,
    /First undo import 3\.\nOnly rows written by an import can be undone: correct the rows of the file/,
  );
});

test('only the first rows that an undo is refused for are printed, and the rest are counted', async (context) => {
  const place = await startedPlace(context);
  await place.load('members', members(...Array.from({ length: 30 }, (_, i) => member(i + 10))));
  const { err } = await place.command('imports', 'undo', '--yes', '1');
  assert.equal(err.split('\n').length, 24);
  assert.match(
    err,
    / {2}13 more; --json lists all of them\.\nFirst undo, in this order: import 3, import 2\.\n$/,
  );
  assert.equal((await json(place, 'imports', 'undo', '--yes', '1')).document.blockers.length, 33);
});

test('an import that does not exist is status 1, and what is no id is status 2', async (context) => {
  const place = await startedPlace(context);
  for (const command of ['show', 'changes', 'undo']) {
    const unknown = await place.command('imports', command, '99');
    assert.deepEqual(
      [unknown.status, unknown.err],
      [1, 'There is no import with this id. `imports list` shows all.\n'],
    );
    assert.equal((await place.command('imports', command, 'x')).status, 2);
  }
});

test('the history of a member is found by id and by national ID, the newest last', async (context) => {
  const place = await changedPlace(context);
  await place.load('members', members(member(1, 'B-2')));
  const at = '2025-06-15T12:00:00+02:00';
  const user = systemUser();
  const created = { field: 'created', old: null, new: null, at, user };
  const byId = await json(place, 'history', 'member', '1');
  const mobile = { field: 'mobile', old: null, new: '+250781234567', at, actor: 'import:3', user };
  assert.deepEqual(byId.document, { history: [{ ...created, actor: 'import:2' }, mobile] });
  const byPerson = await json(place, 'history', 'member', nid(1));
  assert.deepEqual(byPerson.document, {
    history: [
      { member_id: 1, ...created, actor: 'import:2' },
      { member_id: 1, ...mobile },
      { member_id: 5, ...created, actor: 'import:4' },
    ],
  });
  const { out } = await place.command('history', 'member', nid(1));
  assert.match(out, /^A-1 M-1 \(id 1\)\nAT +FIELD +OLD +NEW +BY\n/);
  assert.match(
    out,
    /\n2025-06-15T12:00:00\+02:00 +mobile +\+250781234567 +import 3: .+\n\nB-2 M-1 \(id 5\)\n/,
  );
});

test('the history of a cooperative is found by its code', async (context) => {
  const place = await startedPlace(context);
  await place.load('cooperatives', 'code,name\nA-1,Renamed\n');
  await place.command('imports', 'undo', '--yes', '3');
  const { document } = await json(place, 'history', 'cooperative', 'A-1');
  assert.deepEqual(
    document.history.map(({ field, new: value, actor }: Record<string, unknown>) => [field, value, actor]),
    [
      ['created', null, 'import:1'],
      ['name', 'Renamed', 'import:3'],
      ['name', 'Abahuje', 'undo:3'],
    ],
  );
});

test('a history of nobody is status 1, and of what is neither id nor national ID status 2', async (context) => {
  const place = await startedPlace(context);
  for (const [args, status, text] of [
    [['member', '99'], 1, /There is no member with this id\./],
    [['member', nid(99)], 1, /No person has this national ID\./],
    [['cooperative', 'X-9'], 1, /There is no cooperative with this code\./],
    [['member', 'M-1'], 2, /Expected a member/],
  ] as const) {
    const result = await place.command('history', ...args);
    assert.equal(result.status, status);
    assert.match(result.err, text);
  }
});

test('the person who is named is recorded beside the user of the system', async (context) => {
  const place = await startedPlace(context);
  await place.load('members', members(member(4)), '--as', 'The second clerk');
  const { out } = await place.command('imports', 'list', '--json');
  assert.match(JSON.parse(out).imports.at(-1).user, /^The second clerk \(.+\)$/);
  const refused = await place.load('members', members(member(5)), '--as', `Clerk ${nid(5)}`);
  assert.equal(refused.status, 2);
  assert.doesNotMatch(refused.err, new RegExp(nid(5)));
});
