/** Finds the next message for an endpoint in the sequence of events. */

import { type ApiKey, hasExpired, type Visible } from '../access/api-keys.ts';
import type { RegistryEvent } from '../events/feed.ts';
import type { ServedRows } from '../open-registry.ts';
import type { NarrowableStore } from '../registry/registry-store.ts';
import type { TimeZone } from '../values/date-time.ts';
import type { FeedPosition, WebhookEndpoint } from './open-webhook-store.ts';
import type { WebhookType } from './target.ts';
import { type Addressed, eventMessage, importMessage, type WebhookMessage } from './webhook-message.ts';

const EVENTS_AT_ONCE = 100;

export const FAILURES_TO_REPORT = 5;

export interface Next {
  /** Undefined if the endpoint wants none of the events up to the position. */
  readonly message: WebhookMessage | undefined;
  /** Position of the endpoint after the message is delivered. */
  readonly position: FeedPosition;
}

export const wants = ({ types }: WebhookEndpoint, type: WebhookType): boolean =>
  types === null || types.includes(type);

/** Returns the position after the newest event. */
export function readEnd({ events }: Pick<ServedRows, 'events'>): FeedPosition {
  const { epoch, lastSequence: sequence } = events.read({ after: undefined, limit: 1, epoch: undefined });
  return { epoch, sequence };
}

/** Returns the message about an event or, if the event is part of an import, about the entire import. */
export async function messageOf(
  stores: NarrowableStore<ServedRows>,
  visible: Visible,
  event: RegistryEvent,
  to: Addressed,
  zone: TimeZone,
): Promise<WebhookMessage> {
  const { events } = stores.narrowedTo(visible);
  const range = events.findImport(event);
  if (range === undefined) return eventMessage(to, event, zone);
  return importMessage(to, event, range, await events.countByType(range.first, range.last), zone);
}

export class MessageReader {
  private readonly stores: NarrowableStore<ServedRows>;
  private readonly zone: TimeZone;
  private readAhead: readonly RegistryEvent[] = [];
  /** The undelivered message, cached because counting the events of an import is slow. */
  private pending: Next | undefined;

  constructor(stores: NarrowableStore<ServedRows>, zone: TimeZone) {
    this.stores = stores;
    this.zone = zone;
  }

  /**
   * @returns undefined if no event follows the position
   * @throws RegistryError (as a rejection) `gone` if the sequence has restarted, or the next events were
   *   deleted
   */
  async next(endpoint: WebhookEndpoint, position: FeedPosition, visible: Visible): Promise<Next | undefined> {
    const { epoch, sequence: after } = position;
    if (this.pending !== undefined && this.pending.position.sequence > after) return this.pending;
    this.pending = undefined;
    this.readAhead = this.readAhead.filter(({ sequence }) => sequence > after);
    if (this.readAhead.length === 0) {
      const page = this.stores.narrowedTo(visible).events.read({ after, limit: EVENTS_AT_ONCE, epoch });
      if (page.events.length === 0)
        return page.lastSequence === after ? undefined : passed(position, page.lastSequence);
      this.readAhead = page.events;
    }
    const event = this.readAhead[0] as RegistryEvent;
    const to = { endpointId: endpoint.id, epoch };
    const message = await messageOf(this.stores, visible, event, to, this.zone);
    const last = message.events?.last ?? event.sequence;
    if (!wants(endpoint, message.type as WebhookType)) return passed(position, last);
    this.pending = { message, position: { epoch, sequence: last } };
    return this.pending;
  }

  /** Clears the caches after a change of the epoch or of the visible cooperatives. */
  forget(): void {
    this.readAhead = [];
    this.pending = undefined;
  }
}

const passed = ({ epoch }: FeedPosition, sequence: number): Next => ({
  message: undefined,
  position: { epoch, sequence },
});

// Permission of a key to receive messages (docs/webhooks.md#keys)

/** Returns the reason why the key receives nothing, or undefined if it may receive. */
export function findPause(key: ApiKey | undefined, nowSeconds: number): string | undefined {
  if (key === undefined) return 'there is no such key';
  if (!key.isActive) return 'the key is disabled';
  if (hasExpired(key, nowSeconds)) return 'the key has expired';
  if (!key.scopes.includes('webhooks:receive')) return 'the key has no scope webhooks:receive';
  // The same rule applies to `/events`: events contain ids of members.
  return key.isLookupOnly ? 'the key only looks up' : undefined;
}
