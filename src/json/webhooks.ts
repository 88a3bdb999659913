/** What endpoints of webhooks receive, but for events: messages and headers (docs/webhooks.md#messages). */
import type { Counts } from '../domain/statistics.ts';
import { IMPORT_TYPES } from '../domain/webhooks/types.ts';
import { choiceOf, integer, literal, object, type Schema, string } from './schema.ts';

const TIMESTAMP = string({ format: 'date-time' });
const sequence = (description: string) => integer({ minimum: 0, description });

export const IMPORT_MESSAGE = object(
  {
    type: choiceOf(IMPORT_TYPES),
    timestamp: TIMESTAMP,
    actor: string({ pattern: '^(import|undo):[0-9]+$' }),
    data: object({
      import_id: integer({ minimum: 1 }),
      first_sequence: sequence('Of its events, which the feed has one by one.'),
      last_sequence: sequence('Of its events.'),
      counts: {
        type: 'object',
        description: 'Its events that the key sees, by their types.',
        additionalProperties: integer({ minimum: 1 }),
      } as Schema<Counts>,
    }),
  },
  { title: 'ImportMessage' },
);

export const RESTART_MESSAGE = object(
  {
    type: literal('feed.restarted'),
    timestamp: TIMESTAMP,
    data: object({
      epoch: string({ description: 'The new one.' }),
      last_sequence: sequence('The next message is of an event after it.'),
    }),
  },
  { title: 'RestartMessage' },
);

export const TEST_MESSAGE = object(
  { type: literal('webhook.test'), timestamp: TIMESTAMP, data: object({ endpoint_id: string() }) },
  { title: 'TestMessage' },
);

/** Of every message. */
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
