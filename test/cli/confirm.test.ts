/** What removes, merges, replaces or undoes is shown first, and done when somebody agrees. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { command } from '../support/command.ts';
import { type ImportPlace, member, members, nid, startedPlace } from '../support/importing.ts';

const COMMANDS = {
  undo: ['imports', 'undo', '2'],
  merge: ['members', 'merge', '1', '2', '--reason', 'Registered twice'],
  erase: ['persons', 'erase', member(1).split(',')[1] as string, '--reason', 'Request'],
};

async function run(place: ImportPlace, args: readonly string[], answer: string | undefined) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return answer ?? '';
  };
  const env = { REGISTRY_DB: place.databaseFile };
  const outcome = await command(args, env, undefined, answer === undefined ? {} : { ask });
  return { status: outcome.status, text: outcome.out + outcome.err, questions };
}

async function start(context: TestContext): Promise<ImportPlace> {
  const place = await startedPlace(context);
  await place.load('members', members(member(1), member(2)));
  return place;
}

test('Ctrl-C at the question changes nothing, says so, and ends with status 1', async (context) => {
  const place = await start(context);
  const shell = spawn(
    'script',
    // Without exec a shell of its own would end by the signal too, and hide the status of the command.
    ['-qec', `exec ${process.execPath} src/main.ts ${COMMANDS.undo.join(' ')}`, '/dev/null'],
    {
      env: { ...process.env, REGISTRY_DB: place.databaseFile },
      timeout: 60_000,
    },
  );
  let text = '';
  shell.stdout.on('data', (bytes) => {
    text += bytes;
    if (String(bytes).includes('[y/N]')) shell.stdin.write('\x03');
  });
  const outcome = await once(shell, 'close').catch(({ code }) => code);
  if (outcome === 'ENOENT') return context.skip('there is no script(1) here');
  assert.match(text, /\[y\/N\] (?:\^C)?\r\nNothing was changed\.\r\n$/);
  assert.deepEqual(outcome, [1, null]);
});

const everything = (place: ImportPlace) => [
  place.query('SELECT * FROM members'),
  place.query('SELECT * FROM changes'),
  place.query('SELECT * FROM operations'),
];

test('at a terminal nothing is done when it would write other values than were shown', async (context) => {
  const place = await start(context);
  const header = 'cooperative_code,member_code,identity_card,full_name,mobile\nA-1,M-1';
  const telephone = (number: string) => place.load('members', `${header},${nid(1)},Person 1,${number}\n`);
  await telephone('0780000001');
  const ask = async () => {
    await telephone('0780000002');
    return 'y';
  };
  const outcome = await command(COMMANDS.merge, { REGISTRY_DB: place.databaseFile }, undefined, { ask });
  assert.equal(outcome.status, 1);
  assert.match(outcome.err, /Nothing was changed: the registry has changed meanwhile/);
  assert.equal(place.value('SELECT count(*) FROM members'), 3);
});

for (const [name, args] of Object.entries(COMMANDS)) {
  test(`${name}: without a terminal nothing is done unless --yes is given`, async (context) => {
    const place = await start(context);
    const before = everything(place);
    const { status, text } = await run(place, args, undefined);
    assert.equal(status, 1);
    assert.match(text, /would (?:be|remove)/);
    assert.match(text, /Without a terminal, add --yes/);
    assert.deepEqual(everything(place), before);
    assert.equal((await run(place, [...args, '--yes'], undefined)).status, 0);
    assert.notDeepEqual(everything(place), before);
  });

  test(`${name}: at a terminal it is done for a y, and for no other answer`, async (context) => {
    const place = await start(context);
    const before = everything(place);
    for (const answer of ['', 'n', 'yes please']) {
      const refused = await run(place, args, answer);
      assert.deepEqual([refused.status, refused.questions.length], [1, 1]);
      assert.deepEqual(everything(place), before);
    }
    assert.equal((await run(place, args, 'Y')).status, 0);
    assert.notDeepEqual(everything(place), before);
  });

  test(`${name}: a dry run asks nothing and changes nothing`, async (context) => {
    const place = await start(context);
    const before = everything(place);
    const { status, text, questions } = await run(place, [...args, '--dry-run'], 'y');
    assert.deepEqual([status, questions], [0, []]);
    assert.match(text, /Nothing was changed\. Without --dry-run/);
    assert.deepEqual(everything(place), before);
  });
}
