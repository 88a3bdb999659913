/** What stops an import until somebody has looked, and what does not (docs/import-reference.md#warnings). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { importFiles } from '../../src/import/import-files.ts';
import { openImportSession } from '../../src/import/staging/import-session.ts';
import { command } from '../support/command.ts';
import {
  COOPERATIVES,
  type ImportPlace,
  importOptions,
  importPlace,
  LOANS_HEADER,
  MEMBERS_HEADER,
  members,
  nid,
  startedPlace,
} from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';
import { storageAt } from '../support/storage.ts';

const row = (n: number, cooperative = 'A-1', name = `Person ${n}`): string =>
  `${cooperative},${nid(n)},M-${n},${name}`;
const numbers = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);
const file = (columns: string, ...rows: string[]): string =>
  `${MEMBERS_HEADER},${columns}\n${rows.join('\n')}\n`;

interface Warned {
  readonly kind: string;
  readonly stops: boolean;
  readonly message: string;
  readonly lines: number[];
}

/** What a dry run of a file warns about. */
async function warningsOf(place: ImportPlace, kind: string, content: string): Promise<Warned[]> {
  const { out } = await place.load(kind, content, '--dry-run', '--json');
  return JSON.parse(out).files[0].warnings;
}
const isAbout = (warning: Warned): boolean => warning.kind !== 'contradicted_id';
/** Without that numbers contradict dates of birth: all are of 1985. */
const kindsOf = async (place: ImportPlace, kind: string, content: string) =>
  (await warningsOf(place, kind, content))
    .filter(isAbout)
    .map((warning) => `${warning.kind} ${warning.lines.join(',')}`);

/** A place with these members. */
async function placeWith(...args: [Parameters<typeof importPlace>[0], string]): Promise<ImportPlace> {
  const place = importPlace(args[0]);
  await place.load('cooperatives', COOPERATIVES);
  const { status, err } = await place.load('members', args[1], '--yes');
  assert.equal(status, 0, err);
  return place;
}

test('a list sent under the code of another cooperative is stopped, and nothing of it is written', async (context) => {
  const place = await placeWith(context, members(...numbers(1, 20).map((n) => row(n))));
  const wrong = members(...numbers(1, 18).map((n) => row(n, 'B-2')), row(21, 'B-2'), row(22, 'B-2'));
  const message = '18 of the 20 members listed for B-2 are members of A-1: is this the right code?';
  const { status, out, err } = await place.load('members', wrong);
  assert.equal(status, 1);
  assert.match(out, /^members\.csv: 20 rows checked: 20 new, 0 changed, 0 unchanged; stopped by warnings$/m);
  assert.ok(err.includes(`members.csv: warning: ${message} (lines 2, 3, 4, 5, 6 and 13 more)\n`), err);
  assert.match(
    err,
    /^members\.csv: Stopped by warnings\. .*--yes\.\nNothing of members\.csv was imported\.$/m,
  );
  assert.equal(place.value('SELECT count(*) FROM members'), 20);
  const dryRun = await place.load('members', wrong, '--dry-run', '--json');
  const [shown] = JSON.parse(dryRun.out).files;
  assert.deepEqual(
    [dryRun.status, shown.outcome, shown.imported, shown.created, shown.warnings],
    [1, 'stopped', false, 20, [{ kind: 'other_cooperative', stops: true, message, lines: numbers(2, 18) }]],
  );
  assert.match(shown.message, /--yes/);
  const { status: accepted } = await place.load('members', wrong, '--yes');
  assert.deepEqual([accepted, place.value('SELECT count(*) FROM members')], [0, 40]);
  // Accepted once, it is not asked about again.
  assert.equal((await place.load('members', wrong)).status, 0);
});

test('fewer than nine tenths of another cooperative, or a tenth of this one, are no wrong code', async (context) => {
  const place = await placeWith(context, members(...numbers(1, 20).map((n) => row(n)), row(30, 'B-2')));
  const sent = (known: number, more: string[]) =>
    members(...numbers(1, known).map((n) => row(n, 'B-2')), ...more);
  const strangers = numbers(40, 10).map((n) => row(n, 'B-2'));
  assert.equal((await warningsOf(place, 'members', sent(9, strangers.slice(0, 1)))).length, 1);
  assert.deepEqual(await kindsOf(place, 'members', sent(9, strangers.slice(0, 2))), []);
  assert.deepEqual(await kindsOf(place, 'members', sent(9, [row(30, 'B-2')])), []);
  assert.equal((await warningsOf(place, 'members', sent(10, [row(30, 'B-2')]))).length, 1);
  // Two people may join a second cooperative.
  assert.deepEqual(await kindsOf(place, 'members', sent(2, [])), []);
  assert.equal((await warningsOf(place, 'members', sent(3, []))).length, 1);
});

test('the list of another cooperative is stopped although some of its members belong to both', async (context) => {
  const both = numbers(1, 4).map((n) => `B-2,${nid(n)},B/${n},Person ${n}`);
  const place = await placeWith(context, members(...numbers(1, 12).map((n) => row(n)), ...both));
  const [warning] = await warningsOf(place, 'members', members(...numbers(1, 12).map((n) => row(n, 'B-2'))));
  assert.deepEqual([warning?.kind, warning?.lines.length], ['other_cooperative', 12]);
  // Known here by these codes and names, they are a list of this cooperative.
  const more = numbers(5, 8).map((n) => row(n, 'B-2'));
  assert.deepEqual(await kindsOf(place, 'members', members(...both, ...more)), []);
});

test('a list with people who have left or died is stopped under a wrong code too', async (context) => {
  const ended = ['withdrawn', 'deceased', 'withdrawn', 'deceased'];
  const sent = (code: string) =>
    numbers(1, 8).map((n) => `${row(n, code)},${n > 4 ? 'active' : ended[n - 1]}`);
  const place = await placeWith(context, file('status', ...sent('A-1')));
  assert.deepEqual(
    (await warningsOf(place, 'members', file('status', ...sent('B-2')))).map(({ kind }) => kind),
    ['other_cooperative'],
  );
});

test('people who have left another cooperative may join this one together', async (context) => {
  const rows = numbers(1, 10).map((n) => `${row(n)},withdrawn`);
  const place = await placeWith(context, file('status', ...rows));
  assert.deepEqual(await kindsOf(place, 'members', members(...numbers(1, 10).map((n) => row(n, 'B-2')))), []);
});

test('a status that has ended does not become another one unnoticed', async (context) => {
  const statuses = ['active', 'withdrawn', 'deceased', 'deceased', 'suspended', 'withdrawn'];
  const place = await placeWith(
    context,
    file('status', ...statuses.map((status, i) => `${row(i + 1)},${status}`)),
  );
  const next = ['deceased', 'active', 'suspended', 'withdrawn', 'active', ''];
  const content = file('status', ...next.map((status, i) => `${row(i + 1)},${status}`));
  assert.deepEqual(await kindsOf(place, 'members', content), ['ended_status 3,4']);
  assert.match(
    (await place.load('members', content)).err,
    /warning: 2 members recorded as withdrawn or deceased would get another status\. \(lines 3, 4\)/,
  );
  assert.equal(place.value("SELECT count(*) FROM members WHERE status = 'deceased'"), 2);
  await place.load('cooperatives', 'code,name,status\nA-1,Abahuje,dissolved\n');
  const again = 'code,name,status\nA-1,Abahuje,active\nB-2,Biringaniye,inactive\n';
  assert.deepEqual(await kindsOf(place, 'cooperatives', again), ['ended_status 2']);
});

test('more than a tenth and more than five of the members of a cooperative do not change unnoticed', async (context) => {
  const place = await placeWith(
    context,
    members(...numbers(1, 60).map((n) => row(n)), ...numbers(61, 10).map((n) => row(n, 'B-2'))),
  );
  const renamed = (count: number, cooperative: string, from: number) =>
    numbers(from, count).map((n) => row(n, cooperative, `Renamed ${n}`));
  const stopped = await warningsOf(place, 'members', members(...renamed(7, 'A-1', 1)));
  assert.deepEqual(stopped, [
    {
      ...{ kind: 'many_changes', stops: true, lines: numbers(2, 7) },
      message: '7 of the 60 members of A-1 would change name, national ID or status.',
    },
  ]);
  // A tenth; five; and other columns.
  assert.deepEqual(await kindsOf(place, 'members', members(...renamed(6, 'A-1', 1))), []);
  assert.deepEqual(await kindsOf(place, 'members', members(...renamed(5, 'B-2', 61))), []);
  assert.equal((await warningsOf(place, 'members', members(...renamed(6, 'B-2', 61)))).length, 1);
  const roles = numbers(1, 60).map((n) => `${row(n)},ADVISOR`);
  assert.deepEqual(await kindsOf(place, 'members', file('role', ...roles)), []);
  // A name and a status of one member are one change.
  const both = numbers(1, 6).map((n) => `${row(n, 'A-1', 'Renamed')},suspended`);
  assert.deepEqual(await kindsOf(place, 'members', file('status', ...both)), []);
});

test('a national ID held elsewhere under another name and year of birth is noticed', async (context) => {
  const place = await placeWith(
    context,
    file('date_of_birth', `${row(1, 'A-1', 'Uwimana Éric')},1985-01-01`, `${row(2, 'A-1', 'Mukamana')},`),
  );
  const sent = (n: number, name: string, born: string) =>
    kindsOf(place, 'members', file('date_of_birth', `${row(n, 'B-2', name)},${born}`));
  assert.deepEqual(await sent(1, 'Habimana Jean', '1990-01-01'), ['name_differs 2']);
  // A common word, whatever its case and accents; the same year; a year that is unknown.
  assert.deepEqual(await sent(1, 'ERIC Habimana', '1990-01-01'), []);
  assert.deepEqual(await sent(1, 'Habimana Jean', '1985-12-31'), []);
  assert.deepEqual(await sent(1, 'Habimana Jean', ''), []);
  assert.deepEqual(await sent(2, 'Habimana Jean', '1990-01-01'), []);
  // A row that is stored already is looked at when its name changes.
  const own = file('date_of_birth', `${row(1, 'B-2', 'Uwimana Eric')},1990-01-01`);
  await place.load('members', own);
  assert.deepEqual(await sent(1, 'Habimana Jean', '1990-01-01'), ['name_differs 2']);
  assert.equal((await place.load('members', own)).status, 0);
});

test('two members of equal name and phone whose national IDs differ in one digit are noticed', async (context) => {
  const twin = (identityCard: string, code: string, more = '', cooperative = 'A-1', name = 'Uwase Aline') =>
    `${cooperative},${identityCard},${code},${name},${more === '' ? '0781234567' : more}`;
  const place = await placeWith(context, file('mobile', twin('1198589000001042', 'X-1')));
  const near = '1198589000001043';
  const sent = (...rows: string[]) => kindsOf(place, 'members', file('mobile', ...rows));
  assert.deepEqual(await sent(twin(near, 'X-2')), ['near_duplicate 2']);
  // Two digits; another phone; another name.
  assert.deepEqual(await sent(twin('1198589000001053', 'X-2')), []);
  assert.deepEqual(await sent(twin(near, 'X-2', '0781234568')), []);
  assert.deepEqual(await sent(twin(near, 'X-2', '', 'A-1', 'Uwase Alice')), []);
  // Within the file: both lines.
  const inFile = [
    twin('1199089000001042', 'Y-1', '0788000111'),
    twin('1199089000001642', 'Y-2', '0788000111'),
  ];
  assert.deepEqual(await sent(...inFile), ['near_duplicate 2,3']);
  // Accepted once, it is not asked about again; a changed phone makes it new.
  await place.load('members', file('mobile', twin(near, 'X-2', '0781234568')));
  assert.deepEqual(await sent(twin(near, 'X-2')), ['near_duplicate 2']);
  await place.load('members', file('mobile', twin(near, 'X-2')), '--yes');
  assert.deepEqual(await sent(twin(near, 'X-2'), twin('1198589000001042', 'X-1')), []);
});

test('a mistyped number is noticed in a large cooperative, for each of its digits', async (context) => {
  const others = numbers(100, 200).map((n) => `${row(n)},07880${n}00`);
  const place = await placeWith(
    context,
    file('mobile', 'A-1,1198589000001042,X-1,Uwase Aline,0781234567', ...others),
  );
  const mistyped = Array.from({ length: 16 }, (_, i) => {
    const digits = [...'1198589000001042'];
    digits[i] = String((Number(digits[i]) + 1) % 10);
    return `A-1,${digits.join('')},X-2${i},Uwase Aline,0781234567`;
  });
  const found = await kindsOf(place, 'members', file('mobile', ...mistyped));
  assert.ok(found.includes(`near_duplicate ${numbers(2, 16)}`), `${found}`);
  const far = file('mobile', 'A-1,1198589000001153,X-2,Uwase Aline,0781234567');
  assert.deepEqual(await kindsOf(place, 'members', far), []);
});

test('what only looks wrong is said and does not stop the file', async (context) => {
  const place = await startedPlace(context);
  const content = file(
    'date_of_birth,registration_date',
    'A-1,0000000000000000,X-1,Zero,,',
    'A-1,4198589000001042,X-2,Four,,',
    'A-1,3200089000001042,X-3,Three,2000-01-02,2000-01-02',
    'A-1,2200089000001042,X-4,Two,2000-01-04,2000-01-02',
  );
  const { status, err } = await place.load('members', content);
  assert.equal(status, 0);
  assert.equal(
    err,
    'members.csv: warning: 2 national IDs begin with neither 1, 2 nor 3. (lines 2, 3)\n' +
      'members.csv: warning: 1 member was born after the date of registration. (line 5)\n',
  );
  const loans = [
    'A-1,M-1,L-1,100,1,approved,300,2024-01-02,2024-01-02,',
    'A-1,M-1,L-2,100,0.99,approved,300.01,2024-01-02,2024-01-01,',
  ];
  const document = JSON.parse(
    (await place.load('loans', `${LOANS_HEADER}\n${loans.join('\n')}\n`, '--json')).out,
  );
  const [{ warnings, outcome }] = document.files;
  assert.deepEqual(
    [outcome, ...warnings.map(({ kind, stops, lines }: Warned) => [kind, stops, lines])],
    ['imported', ...['overpaid', 'end_before_start', 'low_interest'].map((kind) => [kind, false, [3]])],
  );
});

test('a refused row is not warned about, and a stopped file ends the import of a folder', async (context) => {
  const place = await placeWith(context, file('status', `${row(1)},deceased`, `${row(2)},deceased`));
  const content = file('status,gender', `${row(1)},active,X`, `${row(2)},active,F`);
  const [warned] = JSON.parse((await place.load('members', content, '--skip-invalid', '--json')).out).files;
  assert.deepEqual([warned.outcome, warned.warnings[0].lines], ['stopped', [3]]);
  place.write('members.csv', file('status', `${row(2)},active`));
  place.write('production.csv', 'cooperative_code,member_code,reference,delivered_at,kg\n');
  const { status, err } = await place.run(place.folder);
  assert.equal(status, 1);
  assert.match(err, /^Imported: cooperatives\.csv\.\nNot reached: production\.csv\.$/m);
});

test('a warning that nobody has seen stops the file, whatever was accepted before', async (context) => {
  const place = await placeWith(context, file('status', `${row(1)},active`, `${row(2)},deceased`));
  place.write('members.csv', file('status', `${row(1)},active`, `${row(2)},active`));
  const session = openImportSession(storageAt(place.databaseFile));
  const members = [{ kind: 'members', path: join(place.folder, 'members.csv') }] as const;
  const importWhile = (sql: string) =>
    importFiles(
      session,
      members,
      { ...importOptions(place), acceptsWarnings: true },
      {
        checked() {
          const db = openFile(place.databaseFile, { waitMs: 1_000 });
          db.exec(sql);
          db.close();
        },
      },
    );
  const [stopped] = await importWhile("UPDATE members SET status = 'withdrawn' WHERE member_code = 'M-1'");
  assert.match(String(stopped?.failure?.message), /^The registry was changed while the file was checked/);
  assert.equal(place.value("SELECT count(*) FROM members WHERE status = 'active'"), 0);
  const [done] = await importWhile("UPDATE members SET role = 'ADVISOR' WHERE member_code = 'M-1'");
  assert.equal(done?.outcome, 'imported');
  session.close();
});

test('a member code with another national ID is a changed number, and replaces it when that is accepted', async (context) => {
  const place = await startedPlace(context);
  const content = members(`A-1,${nid(90)},M-1,Person 1`, row(2), row(3));
  assert.deepEqual(await kindsOf(place, 'members', content), ['changed_id 2']);
  const shown = await place.load('members', content, '--dry-run');
  assert.match(shown.out, /^members\.csv: identity_card changes in 1 row$/m);
  assert.equal((await place.load('members', content)).status, 1);
  const changes = join(place.folder, 'changes.csv');
  const done = await place.load('members', content, '--yes', '--changes', changes);
  assert.match(done.out, /0 new, 1 changed, 2 unchanged/);
  assert.deepEqual(place.query('SELECT id, identity_card FROM members ORDER BY id LIMIT 2'), [
    { id: 1, identity_card: nid(90) },
    { id: 2, identity_card: nid(2) },
  ]);
  assert.match(readFileSync(changes, 'utf8'), new RegExp(`^2,M-1,identity_card,${nid(1)},${nid(90)}$`, 'm'));
  assert.doesNotMatch(shown.out + done.out + done.err, new RegExp(nid(90)));
  assert.deepEqual(await kindsOf(place, 'members', content), []);
  const undone = await command(
    ['imports', 'undo', '--yes', String(place.value('SELECT max(id) FROM operations'))],
    {
      REGISTRY_DB: place.databaseFile,
    },
  );
  assert.deepEqual(
    [undone.status, place.value('SELECT identity_card FROM members WHERE id = 1')],
    [0, nid(1)],
  );
  await place.load('members', content, '--yes');
  // The old number may come back, as that of a new person.
  assert.equal((await place.load('members', members(`A-1,${nid(1)},M-10,New`))).status, 0);
});

test('a list with the member codes of another cooperative is stopped, though each code is known here', async (context) => {
  const place = await placeWith(
    context,
    members(
      ...numbers(1, 10).map((n) => row(n)),
      ...numbers(1, 10).map((n) => `B-2,${nid(n + 50)},M-${n},Other`),
    ),
  );
  const wrong = members(...numbers(1, 10).map((n) => row(n, 'B-2')));
  const kinds = (await warningsOf(place, 'members', wrong)).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['many_changes', 'other_cooperative', 'changed_id']);
});
