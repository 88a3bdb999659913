/** Runs the commands that a document prints, as they are printed, and compares what they print. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './app.ts';
import { CHILD_LIMIT, plainEnvironment } from './command.ts';
import { freePort } from './serving.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Commands that run together, what the document prints of their output, and its text until the next ones. */
export interface Step {
  readonly commands: string;
  printed: string;
  prose: string;
}

export function stepsOf(section: string): Step[] {
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

/** A pattern for any numbers and spaces; `…` stands for anything. */
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

/** In place of `npm run -s registry --`, so that a folder needs no project in it. */
const NPM = `#!/bin/sh
shift 4
exec node ${ROOT}src/main.ts "$@"
`;

/**
 * Runs the steps in one shell, in a new folder, and compares what each prints. A command may fail only with
 * a status that the text after it names.
 * @param npm the program in place of npm
 * @returns the folder
 */
export async function runSteps(
  context: TestContext,
  steps: readonly Step[],
  npm: string = NPM,
): Promise<string> {
  const folder = temporaryFolder(context);
  for (const name of ['bin', 'trial', 'data', 'node_modules']) mkdirSync(join(folder, name));
  symlinkSync(join(ROOT, 'data/samples'), join(folder, 'data/samples'));
  symlinkSync(join(ROOT, 'node_modules/.bin'), join(folder, 'node_modules/.bin'));
  writeFileSync(join(folder, 'bin/npm'), npm, { mode: 0o755 });
  // The packages are installed.
  writeFileSync(join(folder, 'bin/make'), '#!/bin/sh\n', { mode: 0o755 });
  const script = [
    `trap 'echo "@status $? of $BASH_COMMAND"' ERR`,
    `trap 'trap - ERR; kill -9 $(jobs -p) 2> /dev/null' EXIT`,
    ...steps.map(({ commands }) => `${commands}\necho @end`),
  ].join('\n');
  const file = join(folder, 'steps.sh');
  const ports = [await freePort(), await freePort()];
  writeFileSync(
    file,
    script.replace(/809[01]/g, (port) => String(ports[Number(port) - 8090])),
  );
  const PATH = `${folder}/bin:${plainEnvironment.PATH}`;
  const NODE_COMPILE_CACHE = join(ROOT, 'node_modules/.cache/compiled-code');
  const { stdout, error } = spawnSync('bash', ['-c', `exec bash ${file} 2>&1`], {
    ...CHILD_LIMIT,
    ...{ cwd: folder, env: { ...plainEnvironment, PATH, NODE_COMPILE_CACHE }, encoding: 'utf8' },
  });
  assert.ifError(error);
  const outputs = stdout.split('@end\n');
  assert.equal(outputs.length, steps.length + 1, stdout);
  steps.forEach(({ commands, printed, prose }, i) => {
    const failed = [...(outputs[i] ?? '').matchAll(/^@status ([0-9]+) of (.*)$/gm)];
    for (const [, status, failing] of failed)
      assert.match(prose, new RegExp(`status (?:is )?${status}`), `${failing}:\n${outputs[i]}`);
    assert.match(outputs[i] ?? '', toPattern(printed), commands);
  });
  return folder;
}
