/** Prometheus' own tool reads the metrics and the alerts without a complaint: only where it is installed. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { metricsAddress, startApp, temporaryFolder } from '../support/app.ts';

const promtool = (args: readonly string[], input = '') =>
  spawnSync('promtool', args, { input, encoding: 'utf8' });
const skip =
  promtool(['--version']).error === undefined
    ? false
    : 'promtool is not installed (Debian package prometheus)';

test('promtool takes the metrics of a service that was used', { skip }, async (context) => {
  const app = await startApp(context, { settings: { METRICS: '127.0.0.1:0' } });
  for (const path of ['/members/', '/nothing/', '//healthz']) await app.send(path);
  await app.send('/members/', { key: null });
  const { port } = metricsAddress(app) ?? assert.fail();
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const { status, stdout, stderr } = promtool(['check', 'metrics'], text);
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
});

test('promtool takes the alerts', { skip }, () => {
  const file = fileURLToPath(new URL('../../deploy/alerts.yml', import.meta.url));
  const { status, stdout, stderr } = promtool(['check', 'rules', file]);
  assert.equal(status, 0, stdout + stderr);
});

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DEBIANS = '/etc/prometheus/prometheus.yml';
const withoutDebians = existsSync(DEBIANS) ? skip : `${DEBIANS} is missing (Debian package prometheus)`;

test("promtool takes Debian's configuration with the files and lines of docs/operating.md", {
  skip: withoutDebians,
}, (context) => {
  const folder = temporaryFolder(context);
  const [, section = ''] =
    /^## Metrics\n([\s\S]*?)^## /m.exec(readFileSync(join(ROOT, 'docs/operating.md'), 'utf8')) ?? [];
  const moved = section.replaceAll('/etc/prometheus/', `${folder}/`);
  const blockOf = (language: string) =>
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(moved)?.[1] ?? assert.fail();
  execFileSync('sh', ['-euc', blockOf('sh')], { cwd: ROOT });
  let configuration = readFileSync(DEBIANS, 'utf8');
  const headings = blockOf('yaml').split(/^(?=\w)/m);
  assert.equal(headings.length, 2);
  for (const text of headings) {
    const heading = /^\w+:\n/.exec(text)?.[0] ?? assert.fail(text);
    assert.equal(configuration.split(new RegExp(`^${heading}`, 'm')).length, 2, heading);
    configuration = configuration.replace(new RegExp(`^${heading}`, 'm'), text);
  }
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, configuration);
  const { status, stdout, stderr } = promtool(['check', 'config', file]);
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /1 rule files found/);
  assert.match(stdout, /SUCCESS: \d+ rules found/);
});
