/** Status of webhooks for the command `status`, the desk's health page and the metrics. */
import { table } from '../desk/parts.ts';
import type { Visit } from '../desk/screen.ts';
import type { AddedStatus, FactsForIssues, Issue, ReadAdded } from '../health/registry-status.ts';
import type { Connection } from '../sqlite/connection.ts';
import { StorageError, toStorageError } from '../sqlite/sqlite-errors.ts';
import type { SequencePosition } from '../sqlite/storage.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { type Html, html } from '../values/html.ts';
import { type Message, say } from '../values/message.ts';
import { counted } from '../values/text.ts';
import { FAILURES_TO_REPORT, findPause } from './next-message.ts';
import { hasWebhooks, type WebhookEndpoint, WebhookStore } from './open-webhook-store.ts';

export interface EndpointStatus {
  readonly endpoint: WebhookEndpoint;
  /** Number of undelivered events; null if the sequence of events has restarted. */
  readonly behind: number | null;
  /** Time of the oldest undelivered event in epoch seconds; null if all events are delivered. */
  readonly oldestAt: number | null;
}

const LONGEST_LAG_SECONDS = 900;

export const readWebhooks: ReadAdded = (databaseFile, waitMs) => {
  const endpoints = listEndpoints(databaseFile, waitMs);
  if (endpoints instanceof StorageError) return () => unreadable(endpoints);
  return (db, sequence, zone) => {
    const statuses = endpoints.map((endpoint) => readEndpointStatus(db, endpoint, sequence));
    return statusOf(statuses, zone);
  };
};

/** Returns an error of the file instead of throwing it, so that the rest of the status is shown. */
function listEndpoints(databaseFile: string, waitMs: number): readonly WebhookEndpoint[] | StorageError {
  if (!hasWebhooks(databaseFile)) return [];
  let store: WebhookStore | undefined;
  try {
    store = new WebhookStore(databaseFile, { waitMs, create: false });
    return store.list();
  } catch (error) {
    const fault = error instanceof StorageError ? error : toStorageError(error);
    if (fault === undefined) throw error;
    return fault;
  } finally {
    store?.close();
  }
}

const unreadable = ({ message: fault }: StorageError): AddedStatus => ({
  line: ['webhooks', 'unknown'],
  document: { webhooks: [] },
  issues: ({ command }) => [
    {
      about: 'webhooks',
      text: say('The webhooks cannot be read: {fault}', { fault }),
      command: command('check'),
    },
  ],
  section: () => false,
  metrics: () => ({}),
});

function readEndpointStatus(
  db: Connection,
  endpoint: WebhookEndpoint,
  sequence: SequencePosition | undefined,
): EndpointStatus {
  const { position } = endpoint;
  if (position.epoch !== sequence?.epoch) return { endpoint, behind: null, oldestAt: null };
  const oldest = 'SELECT at FROM events WHERE sequence > ? ORDER BY sequence LIMIT 1';
  return {
    endpoint,
    behind: sequence.lastSequence - position.sequence,
    oldestAt: db.value<number | undefined>(oldest, [position.sequence]) ?? null,
  };
}

export const statusOf = (endpoints: readonly EndpointStatus[], zone: TimeZone): AddedStatus => ({
  line: ['webhooks', formatEndpoints(endpoints)],
  document: {
    webhooks: endpoints.map(({ endpoint, behind, oldestAt }) => ({
      id: String(endpoint.id),
      failures: endpoint.failures,
      disabled: endpoint.disabledAt !== null,
      behind,
      oldest_at: oldestAt === null ? null : formatDateTime(oldestAt, zone),
    })),
  },
  issues: (facts) => endpoints.flatMap((each) => issueOf(each, facts) ?? []),
  section: (visit) => endpoints.length > 0 && showEndpoints(visit, endpoints),
  metrics: (nowSeconds) => metricsOf(endpoints, nowSeconds),
});

function formatEndpoints(endpoints: readonly EndpointStatus[]): string {
  if (endpoints.length === 0) return 'none';
  const lags = endpoints.flatMap(({ behind }) => behind ?? []);
  const restarting = endpoints.length - lags.length;
  return [
    counted(endpoints.length, 'endpoint'),
    ...(lags.length === 0 ? [] : [`at most ${counted(Math.max(...lags), 'event')} behind`]),
    ...(restarting === 0 ? [] : [`${restarting} starting again`]),
  ].join(', ');
}

function issueOf(
  { endpoint, behind, oldestAt }: EndpointStatus,
  { keys, isServed, now, command }: FactsForIssues,
): Issue | undefined {
  const { id, keyId, disabledAt, failures } = endpoint;
  const entry = (text: Message, what: string): Issue => ({
    about: 'webhooks',
    text,
    command: command(what),
  });
  const key = keys.find((one) => one.id === keyId);
  const pause = findPause(key, now);
  if (disabledAt !== null)
    return entry(
      say('Endpoint {id} is disabled: its receiver answered 410.', { id }),
      `webhooks enable ${id}`,
    );
  if (pause !== undefined)
    return entry(say('Endpoint {id} gets nothing: {pause}.', { id, pause }), `keys show ${keyId}`);
  if (failures >= FAILURES_TO_REPORT)
    return entry(
      say('Endpoint {id} has failed {failures} times with one message.', { id, failures }),
      `webhooks deliveries ${id}`,
    );
  if (!isServed || oldestAt === null || now - oldestAt <= LONGEST_LAG_SECONDS) return undefined;
  return entry(
    say('Endpoint {id} is {behind|# event|# events} behind, for more than 15 minutes.', {
      id,
      behind: behind ?? 0,
    }),
    `webhooks deliveries ${id}`,
  );
}

const showEndpoints = ({ say, write }: Visit, endpoints: readonly EndpointStatus[]): Html =>
  html`<h2>${say('Webhooks')}</h2>${table(
    say('Webhooks'),
    [
      { heading: say('Endpoint') },
      { heading: say('State') },
      { heading: say('Events behind'), isNumber: true },
      { heading: say('Failures'), isNumber: true },
    ],
    endpoints.map(({ endpoint, behind }) => [
      `${endpoint.id} · ${new URL(endpoint.url).host}`,
      endpoint.disabledAt === null ? say('delivering') : say('disabled'),
      behind === null ? say('starts again') : write.number(behind),
      write.number(endpoint.failures),
    ]),
  )}`;

function metricsOf(endpoints: readonly EndpointStatus[], nowSeconds: number) {
  const valuesOf = (read: (status: EndpointStatus) => number | undefined) =>
    endpoints.map((status) => [[String(status.endpoint.id)], read(status)]);
  return {
    registry_webhook_lag_seconds: valuesOf(({ behind, oldestAt }) =>
      behind === null ? undefined : oldestAt === null ? 0 : Math.max(0, nowSeconds - oldestAt),
    ),
    registry_webhook_lag_events: valuesOf(({ behind }) => behind ?? undefined),
    registry_webhook_failures: valuesOf(({ endpoint }) => endpoint.failures),
    registry_webhook_disabled: valuesOf(({ endpoint }) => Number(endpoint.disabledAt !== null)),
  };
}
