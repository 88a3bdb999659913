/** Metrics of a service: what is counted while it runs, what is asked for each reading, and the server. */

import type { SocketAddress } from '../config.ts';
import type { AccessLog } from '../http/server/access-log.ts';
import { listen } from '../http/server/server.ts';
import type { Metrics } from '../metrics/declarations.ts';
import { createMetricsHandler } from '../metrics/handler.ts';
import { Histogram } from '../metrics/histogram.ts';
import { ProcessFacts } from '../metrics/process-facts.ts';
import { RequestCounts } from '../metrics/request-counts.ts';

/** Several of Prometheus, and one of a person who looks. */
const MAX_CONNECTIONS = 16;

/** What is asked for each reading. */
export interface MeasuredService {
  readonly exporter: { running(): number };
  readonly limiter: { readonly size: { readonly keys: number; readonly bytes: number } };
  readonly store: { searchesWaiting(): number };
}

export class ServiceMetrics {
  private readonly requests = new RequestCounts();
  private readonly commitWrites = new Histogram('registry_group_commit_writes');
  private readonly commitSeconds = new Histogram('registry_group_commit_duration_seconds');
  private readonly ofProcess = new ProcessFacts();

  readonly measureCommit = (writes: number, durationMs: number): void => {
    this.commitWrites.observe(writes);
    this.commitSeconds.observe(durationMs / 1000);
  };

  /** The log, with each of its requests counted. */
  counting(log: AccessLog): AccessLog {
    return {
      ...log,
      request: (entry) => {
        this.requests.count(entry);
        log.request(entry);
      },
    };
  }

  /** @throws (as rejection) the system's error when the address cannot be listened on */
  listen(address: SocketAddress, service: MeasuredService, onError: (error: unknown) => void) {
    const handler = createMetricsHandler(() => this.collect(service), onError);
    const log = { refused: () => undefined };
    return listen({ ...address, handler, log, maxConnections: MAX_CONNECTIONS });
  }

  close(): void {
    this.ofProcess.close();
  }

  private async collect({ exporter, limiter, store }: MeasuredService): Promise<Metrics> {
    const { keys, bytes } = limiter.size;
    return {
      ...this.requests.read(),
      registry_limiter_keys: keys,
      registry_limiter_bytes: bytes,
      registry_group_commit_writes: this.commitWrites.read(),
      registry_group_commit_duration_seconds: this.commitSeconds.read(),
      registry_exports_running: exporter.running(),
      registry_searches_waiting: store.searchesWaiting(),
      ...this.ofProcess.read(),
    };
  }
}
