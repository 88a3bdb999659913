/** The dashboard and the alerts in deploy/ name only metrics and labels that are declared. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DECLARATIONS, declarationOf, type MetricName } from '../../src/metrics/service-metrics.ts';

const NAMES = Object.keys(DECLARATIONS) as MetricName[];
const read = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

/** What Prometheus adds to every metric. */
const OF_SCRAPES = ['job', 'instance'];

/** The names and labels that an expression uses without their being declared. */
function faultsOf(expression: string): string[] {
  const known: string[] = [...OF_SCRAPES];
  const faults: string[] = [];
  for (const [, name = '', selectors = ''] of expression.matchAll(
    /\b((?:registry|process)_\w+)(?:\{([^}]*)\})?/g,
  )) {
    const declared = NAMES.find((each) =>
      declarationOf(each).type === 'histogram'
        ? new RegExp(`^${each}_(bucket|sum|count)$`).test(name)
        : each === name,
    );
    if (declared === undefined) faults.push(name);
    const labels = [...(declared === undefined ? [] : (declarationOf(declared).labels ?? [])), ...OF_SCRAPES];
    known.push(...labels, ...(name.endsWith('_bucket') ? ['le'] : []));
    const selected = [...selectors.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
    faults.push(...selected.filter((label) => !labels.includes(label)).map((label) => `${name}{${label}}`));
  }
  const grouped = [...expression.matchAll(/\b(?:by|on|ignoring|without) \(([^)]*)\)/g)].flatMap(
    ([, labels = '']) => labels.split(/,\s*/),
  );
  return [...faults, ...grouped.filter((label) => !known.includes(label))];
}

/** Labels in a text such as `{{reason}}` or `{{ $labels.reason }}` that the expression does not keep. */
function lostLabels(expression: string, text: string): string[] {
  const shown = [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label);
  const groups = /\bby \(([^)]*)\)/.exec(expression)?.[1]?.split(/,\s*/);
  const declared = NAMES.filter((name) => expression.includes(name)).flatMap(
    (name) => declarationOf(name).labels ?? [],
  );
  const kept = groups ?? [...declared, ...OF_SCRAPES];
  return shown.filter((label) => !kept.includes(label));
}

interface Panel {
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

test('the dashboard shows metrics and labels that exist, and every metric', () => {
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as { panels: readonly Panel[] };
  const targets = panels.flatMap((panel) => panel.targets ?? []);
  assert.ok(targets.length > 20);
  for (const { expr, legendFormat } of targets)
    assert.deepEqual([...faultsOf(expr), ...lostLabels(expr, legendFormat)], [], expr);
  const all = targets.map(({ expr }) => expr).join('\n');
  assert.deepEqual(
    NAMES.filter((name) => !all.includes(name)),
    [],
  );
});

test('the alerts use metrics and labels that exist', () => {
  const rules = read('alerts.yml').split('- alert: ').slice(1);
  assert.ok(rules.length > 10);
  for (const rule of rules) {
    const [, expression = ''] = /\n +expr: (.*)\n/.exec(rule) ?? [];
    assert.match(expression, /registry/, rule);
    assert.deepEqual([...faultsOf(expression), ...lostLabels(expression, rule)], [], rule);
  }
});

test('a name or label that is not declared would be found', () => {
  assert.deepEqual(faultsOf('registry_nothing > 1'), ['registry_nothing']);
  assert.deepEqual(faultsOf('rate(registry_group_commit_writes[5m])'), ['registry_group_commit_writes']);
  assert.deepEqual(faultsOf('registry_ready{route="x"}'), ['registry_ready{route}']);
  assert.deepEqual(faultsOf('sum by (le) (registry_ready)'), ['le']);
  assert.deepEqual(lostLabels('sum by (route) (registry_http_requests_total)', '{{ $labels.status }}'), [
    'status',
  ]);
});

test('every metric has a help text and names that Prometheus takes, and no label holds what is secret', () => {
  for (const name of NAMES) {
    const { type, help, labels, bounds } = declarationOf(name);
    assert.match(name, /^(registry|process)_[a-z0-9_]+$/);
    assert.match(help, /^\S.{15,}[^.]$/, name);
    assert.equal(type === 'counter', name.endsWith('_total'), name);
    assert.equal(bounds.length > 0, type === 'histogram', name);
    // Another label is added here by whoever has made sure that it holds neither a NID, a key nor an address.
    for (const label of labels)
      assert.ok(
        ['route', 'method', 'status', 'reason', 'table', 'endpoint', 'outcome'].includes(label),
        `${name}: ${label}`,
      );
  }
});
