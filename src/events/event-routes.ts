/** Route of the event sequence, for systems that follow changes (docs/api.md#events). */

import { wholeNumber } from '../http/declare/query.ts';
import { BodyParts, JsonText, ok } from '../http/declare/response.ts';
import { defineRoute, type Route, SHOWS_PERSONS } from '../http/declare/route.ts';
import { EVENT_TYPES } from '../registry/changes/event-types.ts';
import type { NarrowableStore } from '../registry/registry-store.ts';
import type { TimeZone } from '../values/date-time.ts';
import { whenReady } from '../values/errors.ts';
import { array, EXAMPLE_MOMENT, integer, object, string } from '../values/schema.ts';
import { quote, serializeArray } from '../values/serializer.ts';
import { BLANK } from '../values/text.ts';
import { type EventStore, MAX_WAIT_SECONDS, parseTypes } from './event-store.ts';
import { EVENT, type FeedPage, type FeedRequest, serializeEvent } from './feed.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;
/** Events in each part of a long page. The service reads the next part when the client is ready. */
const PART_LENGTH = 100;

const EVENT_PAGE = object(
  {
    epoch: string({ description: 'Names the sequence: fixed until a backup is restored.' }),
    results: array(EVENT, { maxItems: MAX_LIMIT }),
    last_sequence: integer({
      minimum: 0,
      description:
        'The last sequence number of this page; for an empty page, the number after which the next event ' +
        'comes.',
    }),
  },
  { title: 'EventPage' },
);

const EVENT_PAGE_EXAMPLE = {
  epoch: '5f1c09a3b2d4e687',
  results: [
    {
      type: 'member.updated',
      timestamp: EXAMPLE_MOMENT,
      sequence: 4711,
      actor: 'key:7',
      data: { id: '2', cooperative_id: '1', fields_changed: ['mobile', 'status'] },
    },
  ],
  last_sequence: 4711,
};

const QUERY = {
  after: wholeNumber(
    'The last sequence number that you have read; 0 for all stored events. Without this parameter, only ' +
      'events still to come.',
    { minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  ),
  limit: wholeNumber(`Events of a page; larger values are reduced to ${MAX_LIMIT}.`, {
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
  }),
  wait: wholeNumber(
    'Seconds to hold the request while there is no event; ' +
      `larger values are reduced to ${MAX_WAIT_SECONDS}.`,
    { minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0 },
  ),
  types: {
    description:
      'Only events of these types, separated by commas; `loan.*` means all events of loans. ' +
      'last_sequence also counts events of other types: pass it as the next `after`.',
    schema: string({ minLength: 1 }),
    parse: (value: string) => parseTypes(value.split(','), EVENT_TYPES),
  },
  epoch: {
    description: 'The epoch that you expect; if the registry has another one, the response is 410.',
    schema: string({ minLength: 1 }),
    parse: (value: string) => (value === '' ? BLANK : value),
  },
};

const startOf = ({ epoch }: FeedPage): string => `{"epoch":${quote(epoch)},"results":[`;
const endOf = ({ lastSequence }: FeedPage): string => `],"last_sequence":${lastSequence}}`;

export function eventRoutes(
  stores: NarrowableStore<{ readonly events: EventStore }>,
  zone: TimeZone,
): Route[] {
  /** Followers at the same position share a page and its text. */
  const texts = new WeakMap<FeedPage, string>();
  const textOf = (page: FeedPage): string => {
    const text = texts.get(page) ?? serializeArray(page.events, serializeEvent, zone).slice(1, -1);
    texts.set(page, text);
    return text;
  };

  /**
   * If the next events expire between two parts, `read` throws and the service cuts the connection, because
   * it has already sent status 200. The client then repeats the request and gets 410
   * (docs/api.md#following-the-sequence).
   * @param page first part
   */
  function* readOn(
    store: EventStore,
    page: FeedPage,
    limit: number,
    types: FeedRequest['types'],
  ): Generator<string> {
    yield startOf(page) + textOf(page);
    let part = page;
    let left = limit - part.events.length;
    while (left > 0 && part.events.length === PART_LENGTH) {
      const { lastSequence: after, epoch } = part;
      part = store.read({ after, limit: Math.min(left, PART_LENGTH), epoch, types });
      left -= part.events.length;
      if (part.events.length > 0) yield `,${textOf(part)}`;
    }
    yield endOf(part);
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/events',
      operationId: 'listEvents',
      summary: 'Follow the sequence of changes',
      description:
        'Every change of a cooperative, member, loan or payment, in the order of commits. ' +
        'An event names the changed fields, not their new values: read the resource again.',
      tag: 'events',
      access: { scope: 'webhooks:receive' },
      // Events contain the ids of members.
      narrowed: SHOWS_PERSONS,
      // Events contain the names of changed fields, but no values.
      personal: 'none',
      query: QUERY,
      responses: {
        200: { description: 'The next events.', schema: EVENT_PAGE, example: EVENT_PAGE_EXAMPLE },
      },
      refusals: [400, 410],
      handle(request) {
        const store = stores.narrowedTo(request.visible).events;
        const { after, limit = DEFAULT_LIMIT, wait = 0, epoch, types } = request.query;
        const first = { after, limit: Math.min(limit, PART_LENGTH), epoch, types };
        const page =
          wait === 0
            ? store.read(first)
            : store.wait(first, wait * 1000, (leave) => request.whenClosed(leave));
        return whenReady(page, (part) =>
          part.events.length < PART_LENGTH || limit <= PART_LENGTH
            ? ok(new JsonText(startOf(part) + textOf(part) + endOf(part)))
            : ok(new BodyParts(readOn(store, part, limit, types))),
        );
      },
    }),
  ];
}
