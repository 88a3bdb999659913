/**
 * Declares every metric. To add one, declare it here and set its value in `collect` of service-metrics.ts;
 * the table in docs/metrics.md is generated from this one. No label may contain a national ID, a key's secret
 * or an address: label values are templates, words and ids.
 */
import { STALE_COUNTED } from '../health/registry-status.ts';

export interface Declaration {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence without its full stop. */
  readonly help: string;
  readonly labels?: readonly string[];
  /** Upper bounds, ascending; histograms only. */
  readonly bounds?: readonly number[];
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export const DECLARATIONS = {
  registry_http_requests_total: {
    type: 'counter',
    help: 'Requests answered, by template of the path (`unknown` if none matched), method and status',
    labels: ['route', 'method', 'status'],
  },
  registry_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Seconds from the arrival of a request until the system had taken its response',
    labels: ['route', 'method'],
    bounds: SECONDS,
  },
  registry_refusals_total: {
    type: 'counter',
    help: 'Requests refused with 401, 403, 429 or 503, by the `reason` of the log',
    labels: ['status', 'reason'],
  },
  registry_addresses_refused_often_total: {
    type: 'counter',
    help: 'How often keys were refused 100 times in a minute from one address; the log names it',
  },
  registry_connections_closed_total: {
    type: 'counter',
    help: 'Connections refused or closed because too many were open, or too much was left unread',
  },
  registry_limiter_keys: {
    type: 'gauge',
    help: 'Keys whose requests the limiter remembers',
  },
  registry_limiter_bytes: {
    type: 'gauge',
    help: 'Bytes in which the limiter remembers requests',
  },
  registry_group_commit_writes: {
    type: 'histogram',
    help: 'Writes over HTTP that shared one transaction',
    bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024],
  },
  registry_group_commit_duration_seconds: {
    type: 'histogram',
    help: 'Seconds that a transaction of writes took, from its begin until it was on disk',
    bounds: SECONDS,
  },
  registry_ledger_readings_total: {
    type: 'counter',
    help: 'Readings of personal data: `recorded` in the access ledger, or `refused` as they could not be',
    labels: ['outcome'],
  },
  registry_ledger_lag_seconds: {
    type: 'histogram',
    help: 'Seconds until the readings of an event-loop iteration were on disk',
    bounds: SECONDS,
  },
  registry_ledger_files_replaced_total: {
    type: 'counter',
    help: 'Files of the access ledger that were damaged or taken away, and replaced by new ones',
  },
  registry_ledger_reserved_readings: {
    type: 'gauge',
    help: 'Readings that the access ledger can record on a full disk, about; since the first reading',
  },
  registry_exports_running: {
    type: 'gauge',
    help: 'Exports over HTTP that are being written or sent',
  },
  registry_searches_waiting: {
    type: 'gauge',
    help: 'Searches by name under way, the one that runs included',
  },
  registry_ready: {
    type: 'gauge',
    help: '1 if the database and the access ledger answer and take writes, as `/readyz` says; else 0',
  },
  registry_rows: {
    type: 'gauge',
    help: 'Rows of the registry, by table',
    labels: ['table'],
  },
  registry_files_bytes: {
    type: 'gauge',
    help: 'Bytes of all databases of the registry, with their write-ahead logs',
  },
  registry_wal_bytes: {
    type: 'gauge',
    help: "Bytes of the write-ahead log of the registry's own database",
  },
  registry_disk_free_bytes: {
    type: 'gauge',
    help: 'Free bytes of the disk that the registry is on',
  },
  registry_disk_reserved_bytes: {
    type: 'gauge',
    help: 'With less than this free, writes are refused',
  },
  registry_stale_members: {
    type: 'gauge',
    help: `Members of whom lookups compute something each time, counted up to ${STALE_COUNTED}`,
  },
  registry_read_model_outdated: {
    type: 'gauge',
    help: '1 if a read model of another release was seen: run `summarize`; else 0',
  },
  registry_feed_sequence: {
    type: 'gauge',
    help: 'Number of the last event',
  },
  registry_imports_running: {
    type: 'gauge',
    help: 'Imports and dry runs under way; how far one has got is known only to itself',
  },
  registry_imports_staged_bytes: {
    type: 'gauge',
    help: 'Bytes that they have read and set aside',
  },
  registry_last_import_timestamp_seconds: {
    type: 'gauge',
    help: 'When the last import was applied, in epoch seconds; absent if there was none',
  },
  registry_last_backup_timestamp_seconds: {
    type: 'gauge',
    help: 'When the last complete backup was made, in epoch seconds; absent if this machine made none',
  },
  registry_last_backup_verified: {
    type: 'gauge',
    help: '1 if `backup verify` has found that backup sound; else 0',
  },
  registry_last_backup_present: {
    type: 'gauge',
    help: '1 if that backup is still where it was written; 0 if it is gone, as while its disk is not mounted',
  },
  registry_webhook_lag_seconds: {
    type: 'gauge',
    help: 'Age of the oldest event that waits for the endpoint; 0 if none waits',
    labels: ['endpoint'],
  },
  registry_webhook_lag_events: {
    type: 'gauge',
    help: 'Events that wait for the endpoint, those included that it will not get',
    labels: ['endpoint'],
  },
  registry_webhook_failures: {
    type: 'gauge',
    help: 'How often its next message has failed',
    labels: ['endpoint'],
  },
  registry_webhook_disabled: {
    type: 'gauge',
    help: '1 if the endpoint has answered 410 and gets nothing more; else 0',
    labels: ['endpoint'],
  },
  registry_event_loop_delay_p99_seconds: {
    type: 'gauge',
    help: 'Delay of the event loop since the last reading of this page, 99th percentile',
  },
  registry_event_loop_delay_max_seconds: {
    type: 'gauge',
    help: 'Longest delay of the event loop since the last reading of this page',
  },
  registry_heap_bytes: {
    type: 'gauge',
    help: 'Bytes of the JavaScript heap in use',
  },
  process_cpu_seconds_total: {
    type: 'counter',
    help: 'Processor time of the process, of user and system',
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    help: 'Resident memory of the process',
  },
  process_start_time_seconds: {
    type: 'gauge',
    help: 'When the process was started, in epoch seconds',
  },
} as const satisfies { readonly [name: string]: Declaration };

export type MetricName = keyof typeof DECLARATIONS;
type Of<Name extends MetricName> = (typeof DECLARATIONS)[Name];

export interface Distribution {
  /** Count of each bucket, not cumulative; the last bucket is for values above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** A value with its labels, in the order of the declaration. */
type Labelled<Name extends MetricName, Value> = readonly [
  labels: Of<Name> extends { readonly labels: infer L } ? { readonly [index in keyof L]: string } : never,
  value: Value,
];
type ValueOf<Name extends MetricName> = Of<Name>['type'] extends 'histogram' ? Distribution : number;

/** Values of all metrics at one time. Undefined: currently unknown, and omitted. */
export type Metrics = {
  readonly [Name in MetricName]: Of<Name> extends { readonly labels: readonly string[] }
    ? readonly Labelled<Name, ValueOf<Name>>[]
    : ValueOf<Name> | undefined;
};

/** Returns a declaration widened to the common type. */
export const declarationOf = (name: MetricName): Declaration => DECLARATIONS[name];
