/** The text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/ */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DECLARATIONS, formatMetric, Histogram } from '../../src/metrics/service-metrics.ts';

test('help and values of labels are escaped, each as the format says', () => {
  const declaration = { type: 'counter', help: 'a "b" \\ c\nd', labels: ['x', 'y'], bounds: [] } as const;
  assert.equal(
    formatMetric('t', declaration, [[['a "b" \\ c\nd', ''], 3]]),
    '# HELP t a "b" \\\\ c\\nd\n# TYPE t counter\nt{x="a \\"b\\" \\\\ c\\nd",y=""} 3\n',
  );
});

test('numbers are written as the format reads them, and an unknown value is left out', () => {
  const shown = (value: number | undefined) =>
    formatMetric('t', { type: 'gauge', help: 'h', labels: [], bounds: [] }, [[[], value]]).split('\n')[2];
  assert.equal(shown(1e21), 't 1e+21');
  assert.equal(shown(0.25), 't 0.25');
  assert.equal(shown(Number.POSITIVE_INFINITY), 't +Inf');
  assert.equal(shown(Number.NEGATIVE_INFINITY), 't -Inf');
  assert.equal(shown(Number.NaN), 't NaN');
  assert.equal(shown(undefined), '');
});

test('buckets of a histogram add up, and a value on a bound is in its bucket', () => {
  const histogram = new Histogram('registry_group_commit_writes');
  for (const writes of [1, 2, 3, 5_000]) histogram.observe(writes);
  const text = formatMetric('t', DECLARATIONS.registry_group_commit_writes, [[[], histogram.read()]]);
  const lines = text.split('\n').slice(2);
  assert.deepEqual(lines.slice(0, 4), [
    't_bucket{le="1"} 1',
    't_bucket{le="2"} 2',
    't_bucket{le="4"} 3',
    't_bucket{le="8"} 3',
  ]);
  assert.deepEqual(lines.slice(-5), [
    't_bucket{le="1024"} 3',
    't_bucket{le="+Inf"} 4',
    't_sum 5006',
    't_count 4',
    '',
  ]);
});
