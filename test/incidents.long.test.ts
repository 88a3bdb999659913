/** The steps of docs/incidents.md run as they are printed, each section in an empty folder. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runSteps, stepsOf } from './support/printed-steps.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const document = readFileSync(join(ROOT, 'docs/incidents.md'), 'utf8');

/** What the first `seed` writes, which is copied for those after it. */
const seeded = join(mkdtempSync(join(tmpdir(), 'registry-seeded-')), 'trial');
after(() => rmSync(dirname(seeded), { recursive: true }));
const NPM = `#!/bin/sh
shift 4
if test "$1" = seed && test -d ${seeded}; then exec cp -r ${seeded}/. trial; fi
if test "$1" = seed; then node ${ROOT}src/main.ts seed; exec cp -r trial ${seeded}; fi
exec node ${ROOT}src/main.ts "$@"
`;

const [, ...sections] = document.split(/^## /m).map((text) => ({ title: text.split('\n')[0], text }));
const preparation = stepsOf(sections.find(({ title }) => title === 'To try them')?.text ?? '');
const OTHERS = ['To try them', 'On an installed registry'];
const incidents = sections.filter(
  ({ title = '', text }) => !OTHERS.includes(title) && stepsOf(text).length > 0,
);

for (const { title, text } of incidents) {
  test(`incident "${title}"`, async (context) => {
    await runSteps(context, [...preparation, ...stepsOf(text)], NPM);
  });
}

/** Two restores, each of which leaves a folder `registry.replaced-…`. */
const twoRestores = [1, 2].map(() => ({
  commands: 'npm run -s registry -- restore $(ls -d trial/incidents-backups/0*Z | tail -1) --replace\n',
  printed: '',
  prose: '',
}));

test('the steps for a damaged file work after two restores', async (context) => {
  const damaged = incidents.find(({ title }) => title === 'A damaged file');
  const stop = { commands: 'kill $SERVICE; wait $SERVICE || true\n', printed: '', prose: '' };
  const start = {
    commands:
      'npm run -s registry -- serve --port 8090 >> $LOG &\nSERVICE=$!\n' +
      'curl -s --retry 9 --retry-connrefused --retry-delay 1 http://127.0.0.1:8090/readyz\n',
    printed: '',
    prose: '',
  };
  const steps = stepsOf(damaged?.text ?? assert.fail());
  await runSteps(context, [...preparation, stop, ...twoRestores, start, ...steps], NPM);
});

test('the document has its incidents', () => {
  assert.ok(incidents.length >= 8, incidents.map(({ title }) => title).join());
});
