/** The text format of Prometheus, version 0.0.4, in which `/metrics` is read. */
import {
  type Declaration,
  type Distribution,
  declarationOf,
  type MetricName,
  type Metrics,
} from './declarations.ts';

export const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

/** @returns all metrics in their order in `metrics`, each with its help and type */
export function formatMetrics(metrics: Metrics): string {
  const names = Object.keys(metrics) as MetricName[];
  return names
    .map((name) => {
      const given = metrics[name];
      const values = (Array.isArray(given) ? given : [[[], given]]) as LabelledValues;
      return formatMetric(name, declarationOf(name), values);
    })
    .join('');
}

type Labels = readonly string[];
type LabelledValues = readonly (readonly [Labels, number | Distribution | undefined])[];

/** @param values each with its labels, in the order of the declaration */
export function formatMetric(
  name: string,
  { type, help, labels = [], bounds = [] }: Declaration,
  values: LabelledValues,
): string {
  const lines = values.flatMap(([texts, value]) => {
    const shown = labels.map((label, i) => `${label}="${escapeLabel(texts[i] ?? '')}"`);
    if (value === undefined) return [];
    return typeof value === 'number'
      ? [line(name, shown, value)]
      : formatDistribution(name, shown, bounds, value);
  });
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** Buckets are added up: each counts the values that are not above its bound. */
function formatDistribution(
  name: string,
  labels: Labels,
  bounds: readonly number[],
  { counts, sum }: Distribution,
): string[] {
  let total = 0;
  const buckets = counts.map((count, i) => {
    total += count;
    return line(`${name}_bucket`, [...labels, `le="${formatNumber(bounds[i] ?? Infinity)}"`], total);
  });
  return [...buckets, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, total)];
}

const line = (name: string, labels: Labels, value: number): string =>
  `${name}${labels.length === 0 ? '' : `{${labels.join(',')}}`} ${formatNumber(value)}\n`;

const formatNumber = (value: number): string =>
  Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? '+Inf' : '-Inf';

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');
