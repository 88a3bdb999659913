/** Builds messages to endpoints: id, body and signatures (docs/webhooks.md#messages). */
import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import type { ImportRange } from '../events/event-store.ts';
import { type RegistryEvent, serializeEvent } from '../events/feed.ts';
import type { EventType } from '../registry/changes/event-types.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { choiceOf, integer, literal, object, type Schema, type Static, string } from '../values/schema.ts';
import type { WebhookAttempt } from './open-webhook-store.ts';
import type { PostResult } from './post.ts';
import { IMPORT_TYPES, type WebhookType } from './target.ts';

// Schemas of messages other than events, and of the headers

const TIMESTAMP = string({ format: 'date-time' });
const sequence = (description: string) => integer({ minimum: 0, description });

export const IMPORT_MESSAGE = object(
  {
    type: choiceOf(IMPORT_TYPES),
    timestamp: TIMESTAMP,
    actor: string({ pattern: '^(import|undo):[0-9]+$' }),
    data: object({
      import_id: integer({ minimum: 1 }),
      first_sequence: sequence('First event of the import. /events lists all of them one by one.'),
      last_sequence: sequence('Last event of the import.'),
      counts: {
        type: 'object',
        description: 'Number of events that the key may see, by type.',
        additionalProperties: integer({ minimum: 1 }),
      } as Schema<{ [type: string]: number }>,
    }),
  },
  { title: 'ImportMessage' },
);

export const RESTART_MESSAGE = object(
  {
    type: literal('feed.restarted'),
    timestamp: TIMESTAMP,
    data: object({
      epoch: string({ description: 'Epoch in which the endpoint continues.' }),
      last_sequence: sequence('The next message is about an event after this one.'),
    }),
  },
  { title: 'RestartMessage' },
);

export const TEST_MESSAGE = object(
  { type: literal('webhook.test'), timestamp: TIMESTAMP, data: object({ endpoint_id: string() }) },
  { title: 'TestMessage' },
);

export const WEBHOOK_HEADERS = {
  'webhook-id': string({ pattern: '^msg_[0-9A-Za-z_-]+$', description: 'The same in each attempt.' }),
  'webhook-timestamp': integer({ description: 'Epoch second of this attempt.' }),
  'webhook-signature': string({
    pattern: '^v1,[0-9A-Za-z+/]{43}=( v1,[0-9A-Za-z+/]{43}=)*$',
    description:
      '`v1,` and the HMAC-SHA256, in Base64, of webhook-id, webhook-timestamp and the body with full stops ' +
      'between them, by the secret of the endpoint; during a rotation one by each secret.',
  }),
};

export interface WebhookMessage {
  /** Equal in all attempts, even after a restart, because it is made of the endpoint and the events. */
  readonly id: string;
  readonly type: WebhookType | 'webhook.test';
  /** Sequence numbers of the first and last event of the message; undefined for a test. */
  readonly events: ImportRange | undefined;
  readonly body: string;
}

export interface Addressed {
  readonly endpointId: number;
  readonly epoch: string;
}

// The id must not contain a full stop, which separates the parts of the signed text.
const idOf = ({ endpointId, epoch }: Addressed, rest: string): string => `msg_${endpointId}_${epoch}_${rest}`;

export const eventMessage = (to: Addressed, event: RegistryEvent, zone: TimeZone): WebhookMessage => ({
  id: idOf(to, String(event.sequence)),
  type: event.type,
  events: { first: event.sequence, last: event.sequence },
  body: serializeEvent(event, zone),
});

const toMessage = (
  id: string,
  events: ImportRange | undefined,
  message: { readonly type: WebhookMessage['type'] },
): WebhookMessage => ({ id, type: message.type, events, body: JSON.stringify(message) });

/** @param event any event of the import or of its undo */
export function importMessage(
  to: Addressed,
  event: RegistryEvent,
  { first, last }: ImportRange,
  counts: ReadonlyMap<EventType, number>,
  zone: TimeZone,
): WebhookMessage {
  const [kind, importId] = event.actor.split(':');
  const message: Static<typeof IMPORT_MESSAGE> = {
    type: kind === 'undo' ? 'import.undone' : 'import.completed',
    timestamp: formatDateTime(event.at, zone),
    actor: event.actor,
    data: {
      import_id: Number(importId),
      first_sequence: first,
      last_sequence: last,
      counts: Object.fromEntries(counts),
    },
  };
  return toMessage(idOf(to, String(last)), { first, last }, message);
}

export function restartMessage(
  to: Addressed,
  sequence: number,
  nowSeconds: number,
  zone: TimeZone,
): WebhookMessage {
  const message: Static<typeof RESTART_MESSAGE> = {
    type: 'feed.restarted',
    timestamp: formatDateTime(nowSeconds, zone),
    data: { epoch: to.epoch, last_sequence: sequence },
  };
  return toMessage(idOf(to, `${sequence}_restarted`), { first: sequence, last: sequence }, message);
}

export function testMessage(endpointId: number, nowSeconds: number, zone: TimeZone): WebhookMessage {
  const message: Static<typeof TEST_MESSAGE> = {
    type: 'webhook.test',
    timestamp: formatDateTime(nowSeconds, zone),
    data: { endpoint_id: String(endpointId) },
  };
  return toMessage(`msg_${endpointId}_test_${randomUUID()}`, undefined, message);
}

export const newSecret = (): Uint8Array => randomBytes(32);

export const formatSecret = (secret: Uint8Array): string => `whsec_${Buffer.from(secret).toString('base64')}`;

/** @param secrets each secret signs the message, because the receiver may know only one during a rotation */
export function signedHeaders(
  { id, body }: WebhookMessage,
  secrets: readonly Uint8Array[],
  nowSeconds: number,
): { readonly [name in keyof typeof WEBHOOK_HEADERS]: string } {
  const signed = `${id}.${nowSeconds}.${body}`;
  // Signing with a key object takes a quarter of the time of signing with bytes.
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', createSecretKey(secret)).update(signed).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(nowSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

export const toAttempt = (
  { id: webhookId, type, events }: WebhookMessage,
  atMs: number,
  { status, fault, durationMs }: PostResult,
): WebhookAttempt => ({
  webhookId,
  type,
  sequence: events?.last ?? null,
  atMs,
  durationMs,
  status,
  fault,
});
