/**
 * Declares all metrics. To add a metric, declare it here, and set its value in `collect` of
 * service-metrics.ts. The table in docs/metrics.md is generated from the declarations. Values of labels are
 * path templates, words and ids, but never a national ID, a secret or an address.
 */
import { STALE_COUNTED } from '../health/registry-status.ts';

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
    'Seconds from the arrival of a request until the system had taken its response',
    'route',
    'method',
  ),
  registry_refusals_total: counter('Requests refused with 401, 403, 429 or 503', 'status', 'reason'),
  registry_addresses_refused_often_total: counter(
    'Times that one address reached 100 refusals of keys in a minute; the log names the address',
  ),
  registry_connections_closed_total: counter(
    'Connections refused or closed because too many were open, or too much was left unread',
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
  registry_ledger_reserved_readings: gauge('Accesses, roughly, that still fit in the ledger on a full disk'),
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

export interface Distribution {
  /** Number of values in each bucket. The last bucket is for values above all bounds. */
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
