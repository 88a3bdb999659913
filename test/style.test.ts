/** What the formatter leaves to people: it breaks code, but neither texts nor comments. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MAX_COLUMNS = 110;

/** The formatter keeps the beginning of a test on one line: only its title counts. */
const withoutCallback = (line: string): string =>
  line.replace(/^(\s*test\(.*['"`]), (?:\{[^{}]*\}, )?(?:async )?\([^()]*\) => \{$/, '$1,');

const files = ['src', 'test', 'bench'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`),
);

test('no line is longer than 110 columns', () => {
  assert.ok(files.length > 250, `${files.length} files`);
  const long = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => (withoutCallback(line).length > MAX_COLUMNS ? [`${file}:${i + 1}`] : [])),
  );
  assert.deepEqual(long, []);
});
