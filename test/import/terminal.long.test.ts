/** An import on a terminal that is interrupted (docs/import-reference.md#while-the-service-runs). */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CHILD_LIMIT } from '../support/command.ts';
import { MEMBERS_HEADER, member, startedPlace } from '../support/importing.ts';

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CONTROL_C = '\u0003';
/** Enough that reading them can be interrupted. */
const MANY = 150_000;

test('Ctrl-C restores the cursor of the terminal, reports every file, and leaves no staging', async (context) => {
  const place = await startedPlace(context);
  const rows = Array.from({ length: MANY }, (_, i) => `${member(10_000 + i)}\n`);
  const path = place.write('members.csv', `${MEMBERS_HEADER}\n${rows.join('')}`);
  const results = join(place.folder, 'results.json');
  const program = `'${process.execPath}' src/main.ts`;
  // In place of the shell, whichever it is: it would be interrupted too, and end with a status of its own.
  const command = `exec ${program} import members '${path}' --json > '${results}'`;
  // A pseudo-terminal: what is typed there becomes a signal for the process in its foreground.
  const terminal = spawn('script', ['-qec', command, '/dev/null'], {
    ...CHILD_LIMIT,
    env: { ...process.env, REGISTRY_DB: place.databaseFile, TERM: 'xterm' },
  });
  context.after(() => terminal.kill('SIGKILL'));
  let shown = '';
  terminal.stdout.on('data', (chunk: Buffer) => {
    const isFirst = !shown.includes(HIDE_CURSOR);
    shown += chunk.toString();
    if (isFirst && shown.includes(HIDE_CURSOR)) terminal.stdin.write(CONTROL_C);
  });
  const [status] = await once(terminal, 'exit');
  assert.equal(status, 1, shown);
  assert.ok(shown.includes(HIDE_CURSOR), 'There was no progress bar.');
  assert.ok(shown.lastIndexOf(SHOW_CURSOR) > shown.lastIndexOf(HIDE_CURSOR), JSON.stringify(shown));
  assert.deepEqual(place.leftovers(), []);
  assert.equal(place.value('SELECT count(*) FROM members'), 3);
  const [file] = JSON.parse(readFileSync(results, 'utf8')).files;
  const message = 'Interrupted. Nothing of this file was imported.';
  assert.deepEqual([file.outcome, file.imported, file.message], ['failed', false, message]);
});

test('on a terminal an import that warnings stop asks, and only y imports the file', async (context) => {
  const place = await startedPlace(context);
  await place.load('members', `${MEMBERS_HEADER},status\n${member(1)},deceased\n`);
  const path = place.write('members.csv', `${MEMBERS_HEADER},status\n${member(1)},active\n`);
  const command = `exec '${process.execPath}' src/main.ts import members '${path}'`;
  const question = 'Import it nevertheless? [y/N] ';
  const statusOf = () => place.value("SELECT status FROM members WHERE member_code = 'M-1'");
  for (const [typed, exit, status] of [
    ['\n', 1, 'deceased'],
    ['yes please\n', 1, 'deceased'],
    // The end of the input.
    ['\u0004', 1, 'deceased'],
    [CONTROL_C, 1, 'deceased'],
    ['y\n', 0, 'active'],
  ] as const) {
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      ...CHILD_LIMIT,
      env: { ...process.env, REGISTRY_DB: place.databaseFile, TERM: 'xterm' },
    });
    context.after(() => terminal.kill('SIGKILL'));
    let shown = '';
    terminal.stdout.on('data', (chunk: Buffer) => {
      const isAsked = shown.includes(question);
      shown += chunk.toString();
      if (!isAsked && shown.includes(question)) terminal.stdin.write(typed);
    });
    const [code] = await once(terminal, 'exit');
    assert.deepEqual([code, statusOf()], [exit, status], JSON.stringify([typed, shown]));
    assert.ok(shown.indexOf('would get another status') < shown.indexOf(question), shown);
  }
  assert.deepEqual(place.leftovers(), []);
});
