/** Commands that show persons: each is recorded in the access ledger before it prints anything. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Command } from 'commander';
import type { LedgerEntry } from '../../src/ledger/ledger-entries.ts';
import { createProgram } from '../../src/program.ts';
import { systemClock } from '../../src/runtime/scheduler.ts';
import { showingNobody, showsNobody } from '../../src/terminal/record-reading.ts';
import { command } from '../support/command.ts';
import { namedCommands } from '../support/document-tables.ts';
import { type ImportPlace, importPlace, members, nid } from '../support/importing.ts';
import { allEntries, ledgerPlaceIn } from '../support/sqlite-ledger.ts';

test('a command that does not declare that it shows nobody prints nothing unless it records', async () => {
  const printed: string[] = [];
  async function run(declare: (command: Command) => Command): Promise<void> {
    const out = (text: string) => void printed.push(text);
    const context = { env: {}, clock: systemClock, out, err: out, terminal: undefined };
    const program = await createProgram(context, []);
    declare(showingNobody(program.command('new')).command('one')).action(() => context.out('Person One'));
    await program.parseAsync(['new', 'one'], { from: 'user' });
  }
  await assert.rejects(
    run((command) => command),
    /"new one" shows what is not recorded/,
  );
  assert.deepEqual(printed, []);
  await run(showingNobody);
  assert.deepEqual(printed, ['Person One']);
});

const WHY = ['--reason', 'Request', '--yes'];
const everybody = { all: { as_of: 8, cooperatives: null } };

/** For each command that shows persons, in this order: its arguments, and whom its entry names. */
const SHOWING: { readonly [command: string]: readonly [args: readonly string[], subject: object] } = {
  'members show': [['A-1/M-1'], { members: [1] }],
  'members find': [['person'], { members: [1, 2, 3] }],
  'history member': [['A-1/M-1'], { members: [1] }],
  'persons show': [[nid(1)], { persons: 1, members: [1] }],
  'entries list': [['production', '--cooperative', 'A-1', '--reference', 'P-1'], { members: [1] }],
  duplicates: [[], { members: [2, 1] }],
  export: [['members', '--cooperative', 'A-1'], { all: { as_of: 8, cooperatives: [1] } }],
  'imports changes': [['2'], everybody],
  import: [['members', 'members.csv', '--dry-run'], everybody],
  'ledger person': [[nid(1)], { persons: 1 }],
  'ledger key': [['1'], {}],
  'ledger export': [[], everybody],
  'ledger verify': [['--receipt', `1-${'0'.repeat(32)}`], {}],
  'ledger prune': [[], {}],
  'duplicates dismiss': [['1', '2', '--reason', 'Two people'], { members: [1, 2] }],
  'duplicates same-person': [['A-1/M-4', '--reason', 'One person'], { persons: 1, members: [4, 5] }],
  'entries remove': [['production', '--cooperative', 'A-1', '--reference', 'P-1', ...WHY], { members: [1] }],
  'members move': [['3', '--to', 'A-1', ...WHY], { members: [3] }],
  'members transfer': [['3', '--to', 'B-2', '--code', 'X-3', '--on', '2025-06-01', ...WHY], { members: [3] }],
  'members merge': [['2', '1', ...WHY], { members: [2, 1] }],
  'nid replace': [[nid(1), nid(9), ...WHY], { persons: 2, members: [1] }],
  'nid release': [[nid(1), ...WHY], { persons: 1 }],
  'persons deceased': [[nid(9), '--on', '2025-06-01', ...WHY], { persons: 1 }],
  'persons erase': [[nid(9), ...WHY], { persons: 1 }],
};
/** It names no member. */
const SHOWS_NOBODY = 'cooperatives merge';

async function placeOfThree(context: TestContext): Promise<ImportPlace> {
  const place = importPlace(context);
  assert.equal((await place.load('cooperatives', 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n')).status, 0);
  const phones = `cooperative_code,identity_card,member_code,full_name,mobile
A-1,${nid(1)},M-1,Person One,0788000111\nA-1,${nid(2)},M-2,Person One,0788000111\n`;
  assert.equal((await place.load('members', phones, '--yes')).status, 0);
  const third = `cooperative_code,identity_card,member_code,full_name,registration_date
B-2,${nid(3)},M-3,Person 3,2020-01-01\nA-1,${nid(4)},M-4,Uwase Rose,\nB-2,${nid(4)},M-5,Gasore Jean,\n`;
  assert.equal((await place.load('members', third)).status, 0);
  const deliveries = 'cooperative_code,member_code,reference,delivered_at,kg,product\n';
  const { status, err } = await place.load('production', `${deliveries}A-1,M-1,P-1,2025-06-01,10,Coffee\n`);
  assert.equal(status, 0, err);
  const key = ['--name', 'Bank', '--scope', 'members:read'];
  assert.equal((await place.command('keys', 'create', ...key)).status, 0);
  return place;
}

const ledgerOf = ({ folder }: ImportPlace): string => ledgerPlaceIn(folder).ledgerFolder;
const entries = ({ folder }: ImportPlace): LedgerEntry[] => allEntries(ledgerPlaceIn(folder));

const run = (place: ImportPlace, command: string, args: readonly string[]) =>
  place.command(
    ...command.split(' '),
    ...args.map((arg) => arg.replace('members.csv', join(place.folder, arg))),
  );

test('each command that shows persons records whom it shows, and who asked', async (context) => {
  const place = await placeOfThree(context);
  assert.deepEqual(entries(place), [], 'An import shows what is in its file.');
  const named = [...(await namedCommands())];
  const showing = named.flatMap(([words, command]) => (showsNobody(command) ? [] : words));
  assert.deepEqual([...Object.keys(SHOWING), SHOWS_NOBODY].sort(), showing.sort());
  let recorded = 0;
  for (const [command, [args, subject]] of Object.entries(SHOWING)) {
    const { status, out, err } = await run(place, command, [...args, '--as', 'N. N.']);
    assert.equal(status, command === 'ledger verify' ? 1 : 0, `${command}: ${out}${err}`);
    const added = entries(place).slice(recorded++);
    assert.equal(added.length, 1, command);
    const { route, user, persons, members, all, time } = added[0] as LedgerEntry;
    const shown = {
      ...(persons && { persons: persons.length }),
      ...(members && { members }),
      ...(all && { all }),
    };
    assert.deepEqual(shown, subject, command);
    assert.equal(route, command);
    assert.match(user ?? '', /^N\. N\. \(.+\)$/);
    assert.equal(Date.parse(time), place.clock.now());
  }
  assert.equal((await run(place, SHOWS_NOBODY, ['B-2', 'A-1', ...WHY])).status, 0);
  assert.equal(entries(place).length, recorded);
});

test('what cannot be recorded is not shown, and what would be changed then is not changed', async (context) => {
  const place = await placeOfThree(context);
  writeFileSync(ledgerOf(place), 'in the way');
  const events = () => place.value('SELECT count(*) FROM events');
  const before = events();
  for (const [command, [args]] of Object.entries(SHOWING)) {
    // Some read it before they say who does.
    if (['ledger person', 'ledger key'].includes(command)) continue;
    const { status, out, err } = await run(place, command, args);
    assert.deepEqual([status, out], [1, ''], command);
    assert.match(err, /registry\.ledger|access ledger/, command);
    assert.doesNotMatch(err, /Person|M-1/, command);
  }
  assert.equal(events(), before);
});

test('a number that nobody has is a reading too, and so is a choice among several members', async (context) => {
  const place = await placeOfThree(context);
  assert.equal((await place.command('members', 'show', nid(7))).status, 1);
  assert.equal((await place.command('persons', 'show', nid(7))).status, 1);
  assert.deepEqual(
    entries(place).map(({ route, persons }) => [route, persons?.length]),
    [
      ['members show', 1],
      ['persons show', 1],
    ],
  );
  assert.equal((await place.load('members', members(`B-2,${nid(1)},M-1,Person One`))).status, 0);
  const { status, err } = await place.command('members', 'show', nid(1));
  assert.equal(status, 1);
  assert.match(err, /Several members may be meant/);
  assert.deepEqual(entries(place).at(-1)?.members, [1, 6]);
});

test('with the ledger off nothing is recorded, and no file is made', async (context) => {
  const place = await placeOfThree(context);
  const off = { REGISTRY_DB: place.databaseFile, ACCESS_LEDGER: 'off' };
  const { status, out } = await command(['members', 'find', 'person'], off, place.clock);
  assert.equal(status, 0);
  assert.match(out, /Person One/);
  assert.ok(!existsSync(ledgerOf(place)));
});
