/**
 * Metrics of a service, served on a separate address (docs/operating.md#metrics). The table in
 * docs/metrics.md is generated from the declarations. No label may contain a national ID, a secret or an
 * address.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type RegistryStatus, readStatus, STALE_COUNTED } from '../health/registry-status.ts';
import type { AccessLog } from '../http/server/access-log.ts';
import { listen, type RunningServer } from '../http/server/server.ts';
import type { AddToService, ComposedService, Measures, Serving } from '../module.ts';
import type { SocketAddress } from '../runtime/config.ts';
import { nowSeconds } from '../runtime/scheduler.ts';
import { toListenError } from '../terminal/signals.ts';

export interface Declaration<
  Type extends 'counter' | 'gauge' | 'histogram' = 'counter' | 'gauge' | 'histogram',
  Labels extends readonly string[] = readonly string[],
> {
  readonly type: Type;
  /** One sentence without a full stop. */
  readonly help: string;
  readonly labels: Labels;
  /** Upper bounds of the buckets of a histogram, ascending; empty for other types. */
  readonly bounds: readonly number[];
}

const declare =
  <Type extends Declaration['type']>(type: Type, bounds: readonly number[] = []) =>
  <const Labels extends readonly string[]>(help: string, ...labels: Labels): Declaration<Type, Labels> => ({
    type,
    help,
    labels,
    bounds,
  });
const counter = declare('counter');
const gauge = declare('gauge');
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const histogramOfSeconds = declare('histogram', SECONDS);
const histogramOfCounts = declare('histogram', [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024]);

export const DECLARATIONS = {
  registry_http_requests_total: counter(
    'Requests answered; `route` is `unknown` if no path matched',
    'route',
    'method',
    'status',
  ),
  registry_http_request_duration_seconds: histogramOfSeconds(
    'Seconds from the arrival of a request until the operating system had its response',
    'route',
    'method',
  ),
  registry_refusals_total: counter('Requests refused with 401, 403, 429 or 503', 'status', 'reason'),
  registry_addresses_refused_often_total: counter(
    'Times that one address reached 100 refusals of keys in a minute; the log names the address',
  ),
  registry_connections_closed_total: counter(
    'Connections refused or closed because too many were open, or because clients left too many bytes unread',
  ),
  registry_limiter_keys: gauge('Keys with requests in the windows of the limiter'),
  registry_limiter_bytes: gauge('Bytes of memory for the windows of the limiter'),
  registry_group_commit_writes: histogramOfCounts('Writes over HTTP that shared one transaction'),
  registry_group_commit_duration_seconds: histogramOfSeconds(
    'Duration of a transaction of writes until it was on disk',
  ),
  registry_ledger_readings_total: counter(
    'Accesses to personal data: `recorded` in the access ledger, or `refused` because recording failed',
    'outcome',
  ),
  registry_ledger_lag_seconds: histogramOfSeconds(
    'Seconds until the accesses of an event-loop iteration were on disk',
  ),
  registry_ledger_files_replaced_total: counter(
    'Files of the access ledger that were damaged or removed, and replaced by new files',
  ),
  registry_ledger_reserved_readings: gauge(
    'Approximate number of accesses that still fit in the ledger on a full disk',
  ),
  registry_exports_running: gauge('Exports over HTTP that are being written or sent'),
  registry_searches_waiting: gauge('Searches by name that run or wait'),
  registry_ready: gauge(
    '1 if the database answers a read and the disk of the access ledger responds; else 0',
  ),
  registry_rows: gauge('Rows of the registry, by table', 'table'),
  registry_files_bytes: gauge('Bytes of all databases of the registry, with their write-ahead logs'),
  registry_wal_bytes: gauge("Bytes of the write-ahead log of the registry's own database"),
  registry_disk_free_bytes: gauge('Free bytes of the disk of the registry'),
  registry_disk_reserved_bytes: gauge('Free bytes below which writes are refused'),
  registry_stale_members: gauge(
    `Members with an outdated read model, which each lookup recomputes; counted up to ${STALE_COUNTED}`,
  ),
  registry_read_model_outdated: gauge('1 if the read model is of another release: run `summarize`; else 0'),
  registry_feed_sequence: gauge('Number of the last event'),
  registry_imports_running: gauge('Imports and dry runs under way'),
  registry_imports_staged_bytes: gauge('Bytes that running imports and dry runs have staged'),
  registry_last_import_timestamp_seconds: gauge('Unix time of the last import; absent if there was none'),
  registry_last_backup_timestamp_seconds: gauge(
    'Unix time of the last complete backup; absent if this machine made none',
  ),
  registry_last_backup_verified: gauge('1 if `backup verify` has found the last backup sound; else 0'),
  registry_last_backup_present: gauge(
    '1 if the last backup is still where it was written; 0 if it is gone, or its disk is not mounted',
  ),
  registry_webhook_lag_seconds: gauge(
    'Age of the oldest event that waits for the endpoint; 0 if none waits',
    'endpoint',
  ),
  registry_webhook_lag_events: gauge(
    'Events not yet handled for the endpoint, including those that will not be sent to it',
    'endpoint',
  ),
  registry_webhook_failures: gauge('Failed attempts to deliver the next message of the endpoint', 'endpoint'),
  registry_webhook_disabled: gauge(
    '1 if the endpoint has answered 410 and receives nothing more; else 0',
    'endpoint',
  ),
  registry_event_loop_delay_p99_seconds: gauge(
    'Delay of the event loop since the last scrape, 99th percentile',
  ),
  registry_event_loop_delay_max_seconds: gauge('Longest delay of the event loop since the last scrape'),
  registry_heap_bytes: gauge('Bytes of the JavaScript heap in use'),
  process_cpu_seconds_total: counter('Processor time of the process'),
  process_resident_memory_bytes: gauge('Resident memory of the process'),
  process_start_time_seconds: gauge('Unix time of the start of the process'),
} satisfies { readonly [name: string]: Declaration };

export type MetricName = keyof typeof DECLARATIONS;

interface Distribution {
  /** Number of values by bucket. The last bucket is for values above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Value of a metric. For a metric with labels, pairs of label values and the value for these labels. */
type ValuesOf<Declared> =
  Declared extends Declaration<infer Type, infer Labels>
    ? LabelledOr<Labels, Type extends 'histogram' ? Distribution : number>
    : never;
type LabelledOr<Labels extends readonly string[], Value> = Labels extends readonly []
  ? Value | undefined
  : readonly (readonly [labels: { readonly [index in keyof Labels]: string }, value: Value])[];

/** Values of all metrics. Undefined values are unknown, and omitted from the output. */
export type Metrics = {
  readonly [Name in MetricName]: ValuesOf<(typeof DECLARATIONS)[Name]>;
};

export const declarationOf = (name: MetricName): Declaration => DECLARATIONS[name];

/** `observe` allocates no memory: garbage collection would slow down lookups, which take only 100 µs. */
export class Histogram {
  private readonly bounds: readonly number[];
  /** Number of values in each bucket, and then the sum of all values. */
  private readonly numbers: Float64Array;

  constructor(name: MetricName) {
    this.bounds = declarationOf(name).bounds;
    this.numbers = new Float64Array(this.bounds.length + 2);
  }

  observe(value: number): void {
    const { bounds, numbers } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    (numbers[bucket] as number)++;
    (numbers[bounds.length + 1] as number) += value;
  }

  read(): Distribution {
    return { counts: [...this.numbers.subarray(0, -1)], sum: this.numbers.at(-1) ?? 0 };
  }
}

// Requests by route, method and status, and refusals by reason, from log entries

interface RouteCounts {
  readonly route: string;
  readonly method: string;
  readonly durations: Histogram;
  readonly answered: Float64Array;
}

/** Length of `answered`. All HTTP statuses are lower. */
const STATUSES = 1_000;
const REFUSING = [401, 403, 429, 503];

class RequestCounts {
  private readonly byRoute = new Map<string, RouteCounts>();
  /** Refusals by status and reason, such as `429 throttled_hour`. */
  private readonly refusals = new Map<string, number>();

  count({ route, method, status, durationMs, reason }: Parameters<AccessLog['request']>[0]): void {
    const name = `${method} ${route}`;
    let counts = this.byRoute.get(name);
    if (counts === undefined) {
      const durations = new Histogram('registry_http_request_duration_seconds');
      counts = { route: route || 'unknown', method, durations, answered: new Float64Array(STATUSES) };
      this.byRoute.set(name, counts);
    }
    (counts.answered[status] as number)++;
    counts.durations.observe(durationMs / 1000);
    if (reason === undefined || !REFUSING.includes(status)) return;
    const refusal = `${status} ${reason}`;
    this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1);
  }

  read() {
    const all = [...this.byRoute.values()];
    return {
      registry_http_requests_total: all.flatMap(({ route, method, answered }) =>
        [...answered].flatMap((count, status) =>
          count === 0 ? [] : [[[route, method, String(status)], count] as const],
        ),
      ),
      registry_http_request_duration_seconds: all.map(
        ({ route, method, durations }) => [[route, method], durations.read()] as const,
      ),
      registry_refusals_total: [...this.refusals].map(
        ([refusal, count]) => [refusal.split(' ') as [status: string, reason: string], count] as const,
      ),
    } satisfies Partial<Metrics>;
  }
}

// Prometheus text format, version 0.0.4

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

function formatMetrics(metrics: Metrics): string {
  return Object.entries(metrics)
    .map(([name, value]) => {
      const values = (Array.isArray(value) ? value : [[[], value]]) as LabelledValues;
      return formatMetric(name, declarationOf(name as MetricName), values);
    })
    .join('');
}

type Labels = readonly string[];
type LabelledValues = readonly (readonly [Labels, number | Distribution | undefined])[];

/** @param values pairs: the values of the labels, in the declared order, and the value of the metric */
export function formatMetric(
  name: string,
  { type, help, labels, bounds }: Declaration,
  values: LabelledValues,
): string {
  const lines = values.flatMap(([texts, value]) => {
    const pairs = labels.map((label, i) => `${label}="${escapeLabel(texts[i] ?? '')}"`);
    if (value === undefined) return [];
    return typeof value === 'number'
      ? [line(name, pairs, value)]
      : formatDistribution(name, pairs, bounds, value);
  });
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** Prometheus expects that the count of a bucket includes all smaller buckets. */
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

/** @param condition undefined to omit its metrics */
function registryFacts(condition: RegistryStatus | undefined, nowSeconds: number) {
  const { readModel, lastBackup: last, lastImport, imports } = condition ?? {};
  const rows = Object.entries(condition?.rows ?? {});
  const added = Object.assign({}, ...(condition?.added ?? []).map(({ metrics }) => metrics(nowSeconds)));
  return {
    registry_rows: rows.map(([table, count]) => [[table], count] as const),
    registry_files_bytes: condition?.bytes,
    registry_wal_bytes: condition?.logBytes,
    registry_disk_free_bytes: condition?.freeBytes,
    registry_disk_reserved_bytes: condition?.reservedBytes,
    registry_stale_members: readModel?.stale,
    registry_read_model_outdated: readModel && Number(readModel.hasOtherRules),
    registry_feed_sequence: condition?.sequence?.lastSequence,
    registry_imports_running: imports?.running,
    registry_imports_staged_bytes: imports?.stagedBytes,
    registry_last_import_timestamp_seconds: lastImport?.importedAt,
    registry_last_backup_timestamp_seconds: last ? last.instantMs / 1000 : undefined,
    registry_last_backup_verified: last
      ? Number(last.verifiedAtMs !== null && last.fault === null)
      : undefined,
    registry_last_backup_present: last ? Number(last.place !== 'missing') : undefined,
    ...(added as Pick<Metrics, Extract<MetricName, `registry_webhook_${string}`>>),
  } satisfies Partial<Metrics>;
}

const RESOLUTION_MS = 10;
const NS_PER_MS = 1e6;

/** Resets the delays, so that each call returns only the delays since the previous call. */
function readProcess(delays: ReturnType<typeof monitorEventLoopDelay>) {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const metrics = {
    registry_event_loop_delay_p99_seconds: toDelay(delays.percentile(99)),
    registry_event_loop_delay_max_seconds: toDelay(delays.max),
    registry_heap_bytes: heapUsed,
    process_cpu_seconds_total: (user + system) / 1e6,
    process_resident_memory_bytes: rss,
    process_start_time_seconds: performance.timeOrigin / 1000,
  } satisfies Partial<Metrics>;
  delays.reset();
  return metrics;
}

/** Subtracts the interval of samples. @param ns nanoseconds between two samples @returns seconds of delay */
const toDelay = (ns: number): number => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS) / 1000;

const METHODS = ['GET', 'HEAD'];

/** @param onError receives errors of `collect`. The client only gets status 500. */
function createMetricsHandler(collect: () => Promise<Metrics>, onError: (error: unknown) => void) {
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url = '' } = incoming;
    incoming.resume();
    if (url.replace(/\?.*/s, '') !== '/metrics') end(outgoing, 404, 'Not found.\n');
    else if (!METHODS.includes(method)) {
      outgoing.setHeader('Allow', METHODS.join(', '));
      end(outgoing, 405, 'Method not allowed.\n');
    } else end(outgoing, 200, formatMetrics(await collect()), TEXT_FORMAT);
  }
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    answer(incoming, outgoing).catch((error: unknown) => {
      onError(error);
      end(outgoing, 500, 'A server error occurred.\n');
    });
  };
}

function end(outgoing: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8') {
  const headers = { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) };
  // Node omits the body of a response to HEAD.
  outgoing.writeHead(status, headers).end(text);
}

/** Enough for several Prometheus servers and a browser. */
const MAX_CONNECTIONS = 16;

/** Minimum interval between reads of the status. */
const CONDITION_MS = 1_000;

class ServiceMetrics implements Measures {
  private readonly requests = new RequestCounts();
  private readonly commitWrites = new Histogram('registry_group_commit_writes');
  private readonly commitSeconds = new Histogram('registry_group_commit_duration_seconds');
  private connectionsClosed = 0;
  private addressesRefused = 0;
  private readonly ledgerLag = new Histogram('registry_ledger_lag_seconds');
  private readonly accessCounts = { recorded: 0, refused: 0 };
  private readonly delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  private server: RunningServer | undefined;

  constructor() {
    this.delays.enable();
  }

  readonly commit = (writes: number, durationMs: number): void => {
    this.commitWrites.observe(writes);
    this.commitSeconds.observe(durationMs / 1000);
  };

  readonly refusedAddress = (): void => {
    this.addressesRefused++;
  };

  readonly accesses = (count: number, durationMs: number, isRecorded: boolean): void => {
    this.accessCounts[isRecorded ? 'recorded' : 'refused'] += count;
    if (isRecorded) this.ledgerLag.observe(durationMs / 1000);
  };

  readonly counting = (log: AccessLog): AccessLog => ({
    ...log,
    request: (entry) => {
      this.requests.count(entry);
      log.request(entry);
    },
    connectionClosed: (message) => {
      this.connectionsClosed++;
      log.connectionClosed(message);
    },
  });

  /** @throws (as a rejection) CommandError if the address cannot be used */
  async listen(address: SocketAddress, service: ComposedService): Promise<readonly Serving[]> {
    const onError = (error: unknown) => service.log.unexpected('metrics', error);
    const added = await service.loadStatus();
    const { clock, storage } = service;
    let readMs = Number.NEGATIVE_INFINITY;
    let condition: Promise<RegistryStatus | undefined> | undefined;
    const collect = () => {
      if (clock.monotonicMs() - readMs >= CONDITION_MS) {
        readMs = clock.monotonicMs();
        condition = readStatus(storage, added, 'serve').catch((error: unknown) => void onError(error));
      }
      return this.collect(service, condition);
    };
    const handler = createMetricsHandler(collect, onError);
    const log = { refused: () => undefined, closed: () => undefined };
    const options = { ...address, handler, log, maxConnections: MAX_CONNECTIONS };
    this.server = await listen(options).catch((error: unknown) => {
      throw toListenError(error, { ...address, setting: 'METRICS' });
    });
    return [{ name: 'metrics', address: this.server.address }];
  }

  async close(): Promise<void> {
    await this.server?.close();
    this.delays.disable();
  }

  private async collect(
    { clock, findUnready, ledger, limiter, metrics, store }: ComposedService,
    condition: Promise<RegistryStatus | undefined> | undefined,
  ): Promise<Metrics> {
    const isReady = (await findUnready()) === undefined;
    const { keys, bytes } = limiter.size;
    const { replacedFiles, reservedAccesses } = ledger?.state?.() ?? {};
    return {
      ...this.requests.read(),
      registry_addresses_refused_often_total: this.addressesRefused,
      registry_connections_closed_total: this.connectionsClosed,
      registry_limiter_keys: keys,
      registry_limiter_bytes: bytes,
      registry_group_commit_writes: this.commitWrites.read(),
      registry_group_commit_duration_seconds: this.commitSeconds.read(),
      registry_ledger_readings_total: Object.entries(this.accessCounts).map(([name, n]) => [[name], n]),
      registry_ledger_lag_seconds: this.ledgerLag.read(),
      registry_ledger_files_replaced_total: replacedFiles,
      registry_ledger_reserved_readings: reservedAccesses,
      ...(metrics() as Pick<Metrics, 'registry_exports_running'>),
      registry_searches_waiting: store.searchesWaiting(),
      registry_ready: Number(isReady),
      ...registryFacts(await condition, nowSeconds(clock)),
      ...readProcess(this.delays),
    };
  }
}

export const serveMetrics: AddToService = ({ metrics: address }) => {
  if (address === undefined) return {};
  const metrics = new ServiceMetrics();
  return {
    measures: metrics,
    listen: (service) => metrics.listen(address, service),
    close: () => metrics.close(),
  };
};
