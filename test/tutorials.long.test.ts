/** The tutorials run as they are printed; what is done at the desk is done by its pages. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testDesk } from './support/desk.ts';
import { runSteps, stepsOf } from './support/printed-steps.ts';

const FOLDER = fileURLToPath(new URL('../docs/tutorials', import.meta.url));
const tutorial = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

test('there are three tutorials', () => {
  assert.deepEqual(readdirSync(FOLDER).sort(), [
    'a-machine-of-its-own.md',
    'look-somebody-up.md',
    'your-first-lists.md',
  ]);
});

for (const name of ['look-somebody-up.md', 'a-machine-of-its-own.md'])
  test(`the tutorial ${name}`, async (context) => {
    await runSteps(context, stepsOf(tutorial(name)));
  });

test('the tutorial your-first-lists.md, its last part by the pages of the desk', async (context) => {
  const [atTerminal = '', atDesk = ''] = tutorial('your-first-lists.md').split('## 5. At the desk');
  const folder = await runSteps(context, stepsOf(atTerminal));
  const desk = await testDesk(context, join(folder, 'trial/first/registry.db'));
  const browser = await desk.enter();
  const items = atDesk.slice(atDesk.indexOf('1. '));
  const [name = '', current = '', reason = ''] = [...items.matchAll(/`([^`]*)`/g)].map(([, text]) => text);
  const person = await browser.find(name);
  const form = { action: 'number', current };
  const plan = await browser.post(person.path, form);
  const expected = / name="expected" value="([^"]*)"/.exec(plan.text)?.[1] ?? '';
  const done = await browser.post(person.path, { ...form, expected, reason });
  assert.equal(done.headers.location, person.path, done.text);
  const others = await Promise.all([person.path, '/imports/6'].map((path) => browser.get(path)));
  await browser.post('/imports/6', { action: 'plan' });
  const undo = await browser.whenDone('/imports/6');
  const pages = [person, plan, ...others, undo].map(({ text }) => text).join('\n');
  for (const [, label = ''] of items.matchAll(/\*\*([^*]+)\*\*/g)) assert.ok(pages.includes(label), label);
});
