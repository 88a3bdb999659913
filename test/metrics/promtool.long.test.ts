/** Prometheus' own tool reads the metrics and the alerts without a complaint: only where it is installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { metricsAddress, startApp } from '../support/app.ts';

const promtool = (args: readonly string[], input = '') =>
  spawnSync('promtool', args, { input, encoding: 'utf8' });
const skip = promtool(['--version']).error === undefined ? false : 'promtool is not installed';

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
