/** What is sent to an endpoint: its id, its body and its signatures (docs/webhooks.md#messages). */
import { createHmac, createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import type { EventType, RegistryEvent } from '../domain/events.ts';
import { formatDateTime, type TimeZone } from '../domain/values/date-time.ts';
import type { WebhookType } from '../domain/webhooks/types.ts';
import { serializeEvent } from '../json/events.ts';
import type { Static } from '../json/schema.ts';
import type { IMPORT_MESSAGE, RESTART_MESSAGE, TEST_MESSAGE, WEBHOOK_HEADERS } from '../json/webhooks.ts';
import type { ImportRange } from '../store/contract/events.ts';
import type { WebhookAttempt } from '../store/contract/webhooks.ts';
import type { PostResult } from './post.ts';

export interface WebhookMessage {
  /** The same in each attempt: derived from what is told, so that a kill changes nothing. */
  readonly id: string;
  readonly type: WebhookType | 'webhook.test';
  /** The events that it stands for, by their sequence numbers; undefined for a test. */
  readonly events: ImportRange | undefined;
  /** JSON. */
  readonly body: string;
}

/** Whose message it is, and in which epoch of the sequence. */
export interface Addressed {
  readonly endpointId: number;
  readonly epoch: string;
}

// No full stop: it separates the parts of what is signed.
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

/** One message for all events of an import, or of the undo of one. @param event any of them */
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

/** Says that the sequence does not go on: the receiver starts again from a copy of everything. */
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

const SECRET_BYTES = 32;

export const newSecret = (): Uint8Array => randomBytes(SECRET_BYTES);

/** As the receiver gets it. */
export const formatSecret = (secret: Uint8Array): string => `whsec_${Buffer.from(secret).toString('base64')}`;

/** Keys of secrets, each made once: that takes four times as long as signing. */
export class SigningKeys {
  private made = new Map<string, KeyObject>();

  of(secrets: readonly Uint8Array[]): KeyObject[] {
    const named = secrets.map((secret) => [Buffer.from(secret).toString('base64'), secret] as const);
    // Those that have ended are forgotten.
    this.made = new Map(
      named.map(([name, secret]) => [name, this.made.get(name) ?? createSecretKey(secret)] as const),
    );
    return [...this.made.values()];
  }
}

/**
 * The headers of one attempt.
 * @param keys sign one after the other: during a rotation each receiver knows one of two secrets
 */
export function signedHeaders(
  { id, body }: WebhookMessage,
  keys: readonly KeyObject[],
  nowSeconds: number,
): { readonly [name in keyof typeof WEBHOOK_HEADERS]: string } {
  const signed = `${id}.${nowSeconds}.${body}`;
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
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
