/** Requests by route, method and status, and refusals by reason: counted where they are logged. */
import type { Metrics } from './declarations.ts';
import { Histogram } from './histogram.ts';

/** What is counted of a request. */
export interface AnsweredRequest {
  /** The template of its path; empty when none matched. */
  readonly route: string;
  /** One of those that are served, or `OTHER`. */
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  /** One of a fixed set of words. */
  readonly reason?: string | undefined;
}

/** Of one route and method. */
interface RouteCounts {
  readonly durations: Histogram;
  /** By status. */
  readonly answered: Float64Array;
}

/** Numbers that three digits can be, so that every status has its slot. */
const STATUSES = 1_000;
/** Refusals that say something about keys or load: the others are the client's mistakes. */
const REFUSING = [401, 403, 429, 503];

export class RequestCounts {
  private readonly byRoute = new Map<string, Map<string, RouteCounts>>();
  private readonly refused = new Map<number, Map<string, number>>(
    REFUSING.map((status) => [status, new Map<string, number>()]),
  );

  count({ route, method, status, durationMs, reason }: AnsweredRequest): void {
    const counts = this.byRoute.get(route)?.get(method) ?? this.add(route, method);
    (counts.answered[status] as number)++;
    counts.durations.observe(durationMs / 1000);
    if (reason === undefined) return;
    const reasons = this.refused.get(status);
    reasons?.set(reason, (reasons.get(reason) ?? 0) + 1);
  }

  private add(route: string, method: string): RouteCounts {
    let byMethod = this.byRoute.get(route);
    if (byMethod === undefined) {
      byMethod = new Map();
      this.byRoute.set(route, byMethod);
    }
    const durations = new Histogram('registry_http_request_duration_seconds');
    const counts = { durations, answered: new Float64Array(STATUSES) };
    byMethod.set(method, counts);
    return counts;
  }

  read() {
    const all = [...this.byRoute].flatMap(([route, byMethod]) =>
      [...byMethod].map(([method, counts]) => ({ ...counts, route: route || 'unknown', method })),
    );
    return {
      registry_http_requests_total: all.flatMap(({ route, method, answered }) =>
        [...answered].flatMap((count, status) =>
          count === 0 ? [] : [[[route, method, String(status)], count] as const],
        ),
      ),
      registry_http_request_duration_seconds: all.map(
        ({ route, method, durations }) => [[route, method], durations.read()] as const,
      ),
      registry_refusals_total: [...this.refused].flatMap(([status, reasons]) =>
        [...reasons].map(([reason, count]) => [[String(status), reason], count] as const),
      ),
    } satisfies Partial<Metrics>;
  }
}
