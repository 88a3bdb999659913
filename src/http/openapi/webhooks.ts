/** What is posted to endpoints of webhooks, by the types of messages. */
import { EVENT_TYPES } from '../../domain/events.ts';
import { IMPORT_TYPES } from '../../domain/webhooks/types.ts';
import { EVENT } from '../../json/events.ts';
import type { Schema } from '../../json/schema.ts';
import { IMPORT_MESSAGE, RESTART_MESSAGE, TEST_MESSAGE, WEBHOOK_HEADERS } from '../../json/webhooks.ts';
import type { Components, Json } from './components.ts';

export const WEBHOOK_RESPONSES = {
  '2XX': { description: 'Stored. Any other status, and none within 15 s, has it sent again.' },
  410: { description: 'The endpoint is disabled.' },
};

/** All messages of these types have one description. */
function messages(components: Components, { types, schema, summary }: WebhookMessage): Json {
  const parameters = Object.entries(WEBHOOK_HEADERS).map(([name, { description, ...value }]) =>
    components.refer('parameters', name, { name, in: 'header', required: true, description, schema: value }),
  );
  const content = { 'application/json': { schema: components.schema(schema) } };
  const post = {
    summary,
    security: [],
    parameters,
    requestBody: { required: true, content },
    responses: WEBHOOK_RESPONSES,
  };
  const item = components.refer('pathItems', String(schema.title), { post });
  return Object.fromEntries(types.map((type) => [type, item]));
}

export interface WebhookMessage {
  readonly types: readonly string[];
  readonly schema: Schema;
  readonly summary: string;
}

/** In the order in which they are described. */
export const WEBHOOK_MESSAGES: readonly WebhookMessage[] = [
  { types: EVENT_TYPES, schema: EVENT, summary: 'One change, as /events has it' },
  {
    types: IMPORT_TYPES,
    schema: IMPORT_MESSAGE,
    summary: 'An import, or its undo: one message for all of its events',
  },
  { types: ['feed.restarted'], schema: RESTART_MESSAGE, summary: 'Start again from an export' },
  { types: ['webhook.test'], schema: TEST_MESSAGE, summary: 'A test' },
];

export const webhooksOf = (components: Components): Json =>
  Object.assign({}, ...WEBHOOK_MESSAGES.map((message) => messages(components, message)));
