/** Endpoints of webhooks and their last attempts, as texts. */
import type { ApiKey } from '../../domain/access/api-keys.ts';
import { formatDateTime, type TimeZone } from '../../domain/values/date-time.ts';
import { FAILURES_TO_REPORT } from '../../domain/webhooks/retries.ts';
import type { WebhookAttempt, WebhookEndpoint } from '../../store/contract/webhooks.ts';
import { findPause } from '../../webhooks/receiving-key.ts';
import { formatRows } from '../terminal/output.ts';

/** An endpoint with what says how it is doing. */
export interface ShownEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly key: ApiKey | undefined;
  readonly lastAttempt: WebhookAttempt | undefined;
}

export interface Showing {
  /** Epoch seconds. */
  readonly now: number;
  readonly zone: TimeZone;
}

const timeOf = (ms: number, { zone }: Showing): string => formatDateTime(Math.floor(ms / 1000), zone);

function stateOf(
  { endpoint, key }: ShownEndpoint,
  { now }: Showing,
): { state: string; reason: string | null } {
  if (endpoint.disabledAt !== null) return { state: 'disabled', reason: 'the receiver answered 410' };
  const pause = findPause(key, now);
  if (pause !== undefined) return { state: 'paused', reason: pause };
  if (endpoint.failures === 0) return { state: 'active', reason: null };
  return { state: endpoint.failures < FAILURES_TO_REPORT ? 'retrying' : 'failing', reason: null };
}

export function describeEndpoint(shown: ShownEndpoint, showing: Showing) {
  const { endpoint, lastAttempt } = shown;
  const { state, reason } = stateOf(shown, showing);
  return {
    id: String(endpoint.id),
    key_id: String(endpoint.keyId),
    url: endpoint.url,
    events: endpoint.types,
    allow_private: endpoint.allowsPrivate,
    state,
    reason: reason ?? (endpoint.failures > 0 ? (lastAttempt?.fault ?? null) : null),
    last_sequence: endpoint.position.sequence,
    failures: endpoint.failures,
    failing_sequence: endpoint.failingSequence,
    next_attempt_at: endpoint.nextAttemptAtMs === 0 ? null : timeOf(endpoint.nextAttemptAtMs, showing),
    last_attempt_at: lastAttempt === undefined ? null : timeOf(lastAttempt.atMs, showing),
    created_at: formatDateTime(endpoint.createdAt, showing.zone),
  };
}

type DescribedEndpoint = ReturnType<typeof describeEndpoint>;

/** A row for each endpoint, and below the table a line for each that does not deliver. */
export function formatEndpoints(endpoints: readonly DescribedEndpoint[]): string {
  const table = formatRows(endpoints, {
    ID: 'id',
    KEY: 'key_id',
    STATE: 'state',
    'DONE UP TO': 'last_sequence',
    'LAST ATTEMPT': (each) => each.last_attempt_at ?? 'never',
    EVENTS: (each) => each.events?.join(' ') ?? 'all',
    URL: 'url',
  });
  return table + endpoints.map(formatTrouble).join('');
}

function formatTrouble(each: DescribedEndpoint): string {
  if (each.reason === null) return '';
  const start = `Endpoint ${each.id} is ${each.state}: ${each.reason}`;
  if (each.failures === 0 || each.state === 'paused') return `${start}\n`;
  const times = each.failures === 1 ? 'once' : `${each.failures} times`;
  const what = `event ${each.failing_sequence} failed ${times}`;
  const next = each.state === 'disabled' ? '' : `, next attempt ${each.next_attempt_at ?? 'at once'}`;
  return `${start} (${what}${next})\n`;
}

export const describeAttempt = (attempt: WebhookAttempt, showing: Showing) => ({
  webhook_id: attempt.webhookId,
  type: attempt.type,
  sequence: attempt.sequence,
  attempted_at: timeOf(attempt.atMs, showing),
  duration_ms: attempt.durationMs,
  status: attempt.status,
  delivered: attempt.fault === null,
  fault: attempt.fault,
});

export const formatAttempts = (attempts: readonly ReturnType<typeof describeAttempt>[]): string =>
  formatRows(attempts, {
    AT: 'attempted_at',
    TYPE: 'type',
    SEQUENCE: 'sequence',
    RESULT: ({ fault, status }) => fault ?? `delivered (${status})`,
    TOOK: ({ duration_ms: ms }) => `${Math.round(ms)} ms`,
  });
