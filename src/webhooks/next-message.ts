/** What comes next for an endpoint: read from the one sequence of changes, of which no copy is kept. */
import type { Visible } from '../domain/access/visible.ts';
import type { RegistryEvent } from '../domain/events.ts';
import type { TimeZone } from '../domain/values/date-time.ts';
import type { WebhookType } from '../domain/webhooks/types.ts';
import type { NarrowableStore } from '../store/contract/registry.ts';
import type { FeedPosition, WebhookEndpoint } from '../store/contract/webhooks.ts';
import { eventMessage, importMessage, type WebhookMessage } from './message.ts';

/** Read at once. */
const PAGE = 100;

/** What comes next, and where the endpoint has got to after it. */
export interface Next {
  /** Undefined when nothing up to the position is for this endpoint. */
  readonly message: WebhookMessage | undefined;
  readonly position: FeedPosition;
}

/** Whether an endpoint gets messages of a type. */
export const wants = ({ types }: Pick<WebhookEndpoint, 'types'>, type: WebhookType): boolean =>
  types === null || types.includes(type);

/** The message of an event: its own, or that of the import to which it belongs. */
export async function messageOf(
  stores: NarrowableStore,
  visible: Visible,
  { event, endpointId, epoch }: { event: RegistryEvent; endpointId: number; epoch: string },
  zone: TimeZone,
): Promise<WebhookMessage> {
  const { events } = stores.narrowedTo(visible);
  const to = { endpointId, epoch };
  const range = events.findImport(event);
  if (range === undefined) return eventMessage(to, event, zone);
  return importMessage(to, event, range, await events.countByType(range.first, range.last), zone);
}

/** Reads for one endpoint. */
export class MessageReader {
  private readonly stores: NarrowableStore;
  private readonly zone: TimeZone;
  /** What was read and is still to come. */
  private events: readonly RegistryEvent[] = [];
  /** What was found and not passed yet: finding it again for each attempt would count an import again. */
  private found: Next | undefined;
  private visible: Visible = null;

  constructor(stores: NarrowableStore, zone: TimeZone) {
    this.stores = stores;
    this.zone = zone;
  }

  /**
   * @param position that the endpoint has reached
   * @returns undefined when there is nothing after it
   * @throws RegistryError (as rejection) `gone` when the sequence does not go on from there
   */
  async next(
    endpoint: Pick<WebhookEndpoint, 'id' | 'types'>,
    position: FeedPosition,
    visible: Visible,
  ): Promise<Next | undefined> {
    if (visible !== this.visible) this.forget(visible);
    const { epoch, sequence: after } = position;
    if (this.found !== undefined && this.found.position.sequence > after) return this.found;
    this.found = undefined;
    this.events = this.events.filter(({ sequence }) => sequence > after);
    if (this.events.length === 0) {
      const page = this.stores.narrowedTo(visible).events.read({ after, limit: PAGE, epoch });
      if (page.events.length === 0)
        return page.lastSequence === after ? undefined : passed(position, page.lastSequence);
      this.events = page.events;
    }
    const event = this.events[0] as RegistryEvent;
    const message = await messageOf(
      this.stores,
      visible,
      { event, endpointId: endpoint.id, epoch },
      this.zone,
    );
    const last = message.events?.last ?? event.sequence;
    if (!wants(endpoint, message.type as WebhookType)) return passed(position, last);
    this.found = { message, position: { epoch, sequence: last } };
    return this.found;
  }

  /** Drops what was read: it was of another sequence, or for another key. */
  forget(visible: Visible = null): void {
    this.visible = visible;
    this.events = [];
    this.found = undefined;
  }
}

const passed = ({ epoch }: FeedPosition, sequence: number): Next => ({
  message: undefined,
  position: { epoch, sequence },
});
