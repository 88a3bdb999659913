/** What is posted to endpoints of webhooks, by the types of messages. */
import { EVENT_TYPES } from '../../domain/events.ts';
import { IMPORT_TYPES } from '../../domain/webhooks/types.ts';
import { EVENT } from '../../json/events.ts';
import type { Schema } from '../../json/schema.ts';
import { IMPORT_MESSAGE, RESTART_MESSAGE, TEST_MESSAGE, WEBHOOK_HEADERS } from '../../json/webhooks.ts';
import type { Components, Json } from './components.ts';

const RESPONSES = {
  '2XX': { description: 'Stored. Any other status, and none within 15 s, has it sent again.' },
  410: { description: 'The endpoint is disabled.' },
};

/** All messages of these types have one description. */
function messages(components: Components, types: readonly string[], schema: Schema, summary: string): Json {
  const parameters = Object.entries(WEBHOOK_HEADERS).map(([name, { description, ...value }]) =>
    components.refer('parameters', name, { name, in: 'header', required: true, description, schema: value }),
  );
  const content = { 'application/json': { schema: components.schema(schema) } };
  const post = {
    summary,
    security: [],
    parameters,
    requestBody: { required: true, content },
    responses: RESPONSES,
  };
  const item = components.refer('pathItems', String(schema.title), { post });
  return Object.fromEntries(types.map((type) => [type, item]));
}

export const webhooksOf = (components: Components): Json => ({
  ...messages(components, EVENT_TYPES, EVENT, 'One change, as /events has it'),
  ...messages(
    components,
    IMPORT_TYPES,
    IMPORT_MESSAGE,
    'An import, or its undo: one message for all of its events',
  ),
  ...messages(components, ['feed.restarted'], RESTART_MESSAGE, 'Start again from an export'),
  ...messages(components, ['webhook.test'], TEST_MESSAGE, 'A test'),
});
