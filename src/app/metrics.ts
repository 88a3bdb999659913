/** Metrics of a service: what is counted while it runs, what is asked for each reading, and the server. */

import type { SocketAddress } from '../config.ts';
import type { Exporter } from '../export/exporter.ts';
import type { InProcessRateLimiter } from '../http/middleware/in-process-rate-limiter.ts';
import type { AccessLog } from '../http/server/access-log.ts';
import { listen } from '../http/server/server.ts';
import type { Metrics } from '../metrics/declarations.ts';
import { createMetricsHandler } from '../metrics/handler.ts';
import { Histogram } from '../metrics/histogram.ts';
import { ProcessFacts } from '../metrics/process-facts.ts';
import { registryFacts } from '../metrics/registry-facts.ts';
import { RequestCounts } from '../metrics/request-counts.ts';
import { type Clock, nowSeconds } from '../runtime/clock.ts';
import type { AccessLedger } from '../store/contract/access-ledger.ts';
import type { Condition } from '../store/contract/condition.ts';
import type { RegistryStore } from '../store/contract/registry.ts';
import type { Storage } from '../store/contract/storage.ts';

/** Several of Prometheus, and one of a person who looks. */
const MAX_CONNECTIONS = 16;

/** However often metrics are read, the files are looked at this rarely. */
const CONDITION_MS = 1_000;

/** What is asked for each reading. */
export interface MeasuredService {
  readonly clock: Clock;
  readonly exporter: Pick<Exporter, 'running'>;
  readonly limiter: Pick<InProcessRateLimiter, 'size'>;
  readonly storage: Pick<Storage, 'readCondition'>;
  readonly store: Pick<RegistryStore, 'searchesWaiting'>;
  readonly ledger: Pick<AccessLedger, 'state'> | undefined;
  /** Undefined when requests can be answered. */
  readonly findUnready: () => Promise<string | undefined>;
}

export class ServiceMetrics {
  private readonly requests = new RequestCounts();
  private readonly commitWrites = new Histogram('registry_group_commit_writes');
  private readonly commitSeconds = new Histogram('registry_group_commit_duration_seconds');
  private connectionsClosed = 0;
  private addressesRefused = 0;
  private readonly ledgerLag = new Histogram('registry_ledger_lag_seconds');
  private readonly readings = { recorded: 0, refused: 0 };
  private readonly ofProcess = new ProcessFacts();

  readonly measureCommit = (writes: number, durationMs: number): void => {
    this.commitWrites.observe(writes);
    this.commitSeconds.observe(durationMs / 1000);
  };

  countRefusedAddress(): void {
    this.addressesRefused++;
  }

  /** Of an iteration of the event loop; those that could not be recorded were refused. */
  readonly measureReadings = (readings: number, durationMs: number, isRecorded: boolean): void => {
    this.readings[isRecorded ? 'recorded' : 'refused'] += readings;
    if (isRecorded) this.ledgerLag.observe(durationMs / 1000);
  };

  /** The log, with each request and each connection that there was no room for counted. */
  counting(log: AccessLog): AccessLog {
    return {
      ...log,
      request: (entry) => {
        this.requests.count(entry);
        log.request(entry);
      },
      connectionClosed: (message) => {
        this.connectionsClosed++;
        log.connectionClosed(message);
      },
    };
  }

  /** @throws (as rejection) the system's error when the address cannot be listened on */
  listen(address: SocketAddress, service: MeasuredService, onError: (error: unknown) => void) {
    const readCondition = rarely(service.clock, async () => {
      try {
        return await service.storage.readCondition('serve');
      } catch (error) {
        onError(error);
        return undefined;
      }
    });
    const handler = createMetricsHandler(() => this.collect(service, readCondition), onError);
    const log = { refused: () => undefined, closed: () => undefined };
    return listen({ ...address, handler, log, maxConnections: MAX_CONNECTIONS });
  }

  close(): void {
    this.ofProcess.close();
  }

  private async collect(
    { clock, exporter, findUnready, ledger, limiter, store }: MeasuredService,
    readCondition: () => Promise<Condition | undefined>,
  ): Promise<Metrics> {
    const isReady = (await findUnready()) === undefined;
    const condition = await readCondition();
    const { keys, bytes } = limiter.size;
    const { replacedFiles, reservedReadings } = ledger?.state?.() ?? {};
    return {
      ...this.requests.read(),
      registry_addresses_refused_often_total: this.addressesRefused,
      registry_connections_closed_total: this.connectionsClosed,
      registry_limiter_keys: keys,
      registry_limiter_bytes: bytes,
      registry_group_commit_writes: this.commitWrites.read(),
      registry_group_commit_duration_seconds: this.commitSeconds.read(),
      registry_ledger_readings_total: Object.entries(this.readings).map(([outcome, n]) => [[outcome], n]),
      registry_ledger_lag_seconds: this.ledgerLag.read(),
      registry_ledger_files_replaced_total: replacedFiles,
      registry_ledger_reserved_readings: reservedReadings,
      registry_exports_running: exporter.running(),
      registry_searches_waiting: store.searchesWaiting(),
      registry_ready: Number(isReady),
      ...registryFacts(condition, nowSeconds(clock)),
      ...this.ofProcess.read(),
    };
  }
}

/** The last result, until it is older than a second. */
function rarely<T>(clock: Clock, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly atMs: number; readonly result: Promise<T> } | undefined;
  return () => {
    const nowMs = clock.monotonicMs();
    if (last === undefined || nowMs - last.atMs >= CONDITION_MS) last = { atMs: nowMs, result: read() };
    return last.result;
  };
}
