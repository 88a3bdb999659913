/** The steps of docs/incidents.md run as they are printed, each section in an empty folder. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './support/app.ts';
import { CHILD_LIMIT, plainEnvironment } from './support/command.ts';
import { freePort } from './support/serving.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const document = readFileSync(join(ROOT, 'docs/incidents.md'), 'utf8');

/** Commands that run together, what the document prints of their output, and its text until the next ones. */
interface Step {
  readonly commands: string;
  printed: string;
  prose: string;
}

function stepsOf(section: string): Step[] {
  const steps: Step[] = [];
  let end = 0;
  const readProse = (to: number) => {
    const last = steps.at(-1);
    if (last !== undefined) last.prose += section.slice(end, to);
  };
  for (const block of section.matchAll(/^( *)```(sh|text)\n([\s\S]*?)^ *```$/gm)) {
    const [all, indent = '', language, text = ''] = block;
    const lines = text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    readProse(block.index);
    end = block.index + all.length;
    if (language === 'sh') steps.push({ commands: lines, printed: '', prose: '' });
    else (steps.at(-1) as Step).printed += lines;
  }
  readProse(section.length);
  return steps;
}

/** What is printed matches whatever its numbers and spaces; `…` stands for anything. */
function toPattern(printed: string): RegExp {
  const parts = printed
    .trim()
    .split(/…/)
    .map((part) =>
      part
        .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replace(/[0-9]+/g, '[0-9]+')
        .replace(/\s+/g, '\\s+'),
    );
  return new RegExp(parts.join('[\\s\\S]*?'));
}

/** What the first `seed` writes, which is copied for those after it. */
const seeded = join(mkdtempSync(join(tmpdir(), 'registry-seeded-')), 'trial');
after(() => rmSync(dirname(seeded), { recursive: true }));
/** In place of `npm run -s registry --`, so that a folder needs no project in it. */
const NPM = `#!/bin/sh
shift 4
if test "$1" = seed && test -d ${seeded}; then exec cp -r ${seeded}/. trial; fi
if test "$1" = seed; then node ${ROOT}src/main.ts seed; exec cp -r trial ${seeded}; fi
exec node ${ROOT}src/main.ts "$@"
`;

/** Runs the steps in one shell. @returns what each printed, with a line for each command that failed */
async function run(context: TestContext, steps: readonly Step[]): Promise<string[]> {
  const folder = temporaryFolder(context);
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'trial'));
  writeFileSync(join(folder, 'bin/npm'), NPM, { mode: 0o755 });
  const script = [
    `trap 'echo "@status $? of $BASH_COMMAND"' ERR`,
    `trap 'trap - ERR; test -z "$SERVICE" || kill -9 $SERVICE 2> /dev/null' EXIT`,
    ...steps.map(({ commands }) => `${commands}\necho @end`),
  ].join('\n');
  const file = join(folder, 'steps.sh');
  writeFileSync(file, script.replaceAll('8090', String(await freePort())));
  const PATH = `${folder}/bin:${plainEnvironment.PATH}`;
  const NODE_COMPILE_CACHE = join(ROOT, 'node_modules/.cache/compiled-code');
  const { stdout, error } = spawnSync('bash', ['-c', `exec bash ${file} 2>&1`], {
    ...CHILD_LIMIT,
    ...{ cwd: folder, env: { ...plainEnvironment, PATH, NODE_COMPILE_CACHE }, encoding: 'utf8' },
  });
  assert.ifError(error);
  const outputs = stdout.split('@end\n');
  assert.equal(outputs.length, steps.length + 1, stdout);
  return outputs;
}

const [, ...sections] = document.split(/^## /m).map((text) => ({ title: text.split('\n')[0], text }));
const preparation = stepsOf(sections.find(({ title }) => title === 'To try them')?.text ?? '');
const incidents = sections.filter(({ title, text }) => title !== 'To try them' && stepsOf(text).length > 0);

for (const { title, text } of incidents) {
  test(`incident "${title}"`, async (context) => {
    const steps = [...preparation, ...stepsOf(text)];
    const outputs = await run(context, steps);
    steps.forEach(({ commands, printed, prose }, i) => {
      const failed = [...(outputs[i] ?? '').matchAll(/^@status ([0-9]+) of (.*)$/gm)];
      for (const [, status, failing] of failed)
        assert.match(prose, new RegExp(`status (?:is )?${status}`), `${failing}:\n${outputs[i]}`);
      assert.match(outputs[i] ?? '', toPattern(printed), commands);
    });
  });
}

test('the document has its incidents', () => {
  assert.ok(incidents.length >= 8, incidents.map(({ title }) => title).join());
});
