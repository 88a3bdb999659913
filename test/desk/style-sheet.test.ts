/** The style sheet of the desk: nothing in it is for a page that is no more. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MOST_PARTS } from '../../src/desk/plots.ts';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const ASSETS = join(SRC, 'desk/assets');

const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.[tj]s$/.test(name))
  .map((name) => readFileSync(join(SRC, name), 'utf8'))
  .join('\n');
const css = readFileSync(join(ASSETS, 'desk.css'), 'utf8').replace(/\/\*.*?\*\//gs, '');

const namesIn = (text: string, pattern: RegExp): Set<string> =>
  new Set([...text.matchAll(pattern)].flatMap(([, names = '']) => names.match(/[a-z][\w-]*/g) ?? []));

test('each class of the style sheet is that of an element', () => {
  const styled = namesIn(css.replace(/:[^{};]*;/g, ''), /\.([a-z][\w-]*)/g);
  assert.ok(styled.size > 40, `${styled.size} classes`);
  const onPages = namesIn(sources, /(?:class="|classList\.\w+\('|look: ')([^"']*)/g);
  for (let i = 0; i < MOST_PARTS; i++) onPages.add(`s${i}`);
  assert.deepEqual(
    [...styled].filter((name) => !onPages.has(name)),
    [],
  );
});

test('each variable of the style sheet is used', () => {
  const used = namesIn(css, /var\((--[\w-]+)/g);
  assert.deepEqual(
    [...namesIn(css, /(--[\w-]+):/g)].filter((name) => !used.has(name)),
    [],
  );
});
