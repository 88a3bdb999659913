/** What the process itself uses. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './declarations.ts';

/** How often the delay of the event loop is looked at. */
const RESOLUTION_MS = 10;
const NS_PER_MS = 1e6;

export class ProcessFacts {
  private readonly delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.delays.enable();
  }

  /** Each reading of the delays begins another one. */
  read() {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const metrics = {
      registry_event_loop_delay_p99_seconds: toDelay(this.delays.percentile(99)),
      registry_event_loop_delay_max_seconds: toDelay(this.delays.max),
      registry_heap_bytes: heapUsed,
      process_cpu_seconds_total: (user + system) / 1e6,
      process_resident_memory_bytes: rss,
      process_start_time_seconds: performance.timeOrigin / 1000,
    } satisfies Partial<Metrics>;
    this.delays.reset();
    return metrics;
  }

  close(): void {
    this.delays.disable();
  }
}

/** Node measures the time between two looks, of which the delay is what exceeds the resolution. */
const toDelay = (ns: number): number => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS) / 1000;
