/** Documents webhooks in OpenAPI and in the API reference. */

import { EVENT } from '../events/feed.ts';
import type { Components, Json } from '../reference/headers.ts';
import type { OutgoingMessages } from '../reference/openapi.ts';
import { code, entries, entry, objectLink } from '../reference/schema-fields.ts';
import { EVENT_TYPES } from '../registry/changes/event-types.ts';
import { type Html, html, withCode } from '../values/html.ts';
import { exampleOf, type Schema } from '../values/schema.ts';
import { IMPORT_TYPES } from './target.ts';
import { IMPORT_MESSAGE, RESTART_MESSAGE, TEST_MESSAGE, WEBHOOK_HEADERS } from './webhook-message.ts';

const WEBHOOK_RESPONSES = {
  '2XX': {
    description: 'Stored. After any other status, or no response within 15 s, the message is sent again.',
  },
  410: { description: 'The endpoint is disabled.' },
};

/** Describes all types of a message in OpenAPI, each with the same path item. */
function describe(components: Components, { types, operationId, schema, summary }: DescribedMessage): Json {
  const parameters = Object.entries(WEBHOOK_HEADERS).map(([name, { description, ...value }]) =>
    components.refer('parameters', name, { name, in: 'header', required: true, description, schema: value }),
  );
  const content = { 'application/json': { schema: components.schema(schema) } };
  const post = {
    operationId,
    summary,
    security: [],
    parameters,
    requestBody: { required: true, content },
    responses: WEBHOOK_RESPONSES,
  };
  const item = components.refer('pathItems', String(schema.title), { post });
  return Object.fromEntries(types.map((type) => [type, item]));
}

interface DescribedMessage {
  readonly types: readonly string[];
  readonly operationId: string;
  readonly schema: Schema;
  readonly summary: string;
}

export const WEBHOOK_MESSAGES: readonly DescribedMessage[] = [
  {
    types: EVENT_TYPES,
    operationId: 'receiveEvent',
    schema: EVENT,
    summary: 'One change, as /events has it',
  },
  {
    types: IMPORT_TYPES,
    operationId: 'receiveImport',
    schema: IMPORT_MESSAGE,
    summary: 'An import, or its undo: one message for all of its events',
  },
  {
    types: ['feed.restarted'],
    operationId: 'receiveRestart',
    schema: RESTART_MESSAGE,
    summary: 'Start again from an export',
  },
  { types: ['webhook.test'], operationId: 'receiveTest', schema: TEST_MESSAGE, summary: 'A test' },
];

/** Returns the section on webhooks of the API reference, without the heading. */
const explain = (): Html => html`<p>The operator of the registry adds an address
of yours, and gives you its secret. Every change is then posted there, in the order of
<a href="#listEvents"><code>/events</code></a>, signed, until it is answered. A message is sent again under
the same <code>webhook-id</code> when its answer was lost: store the id, and do nothing twice.</p>
<h3 id="webhook-headers">Headers of a message</h3>
${entries(
  Object.entries(WEBHOOK_HEADERS).map(([name, { description }]) =>
    entry(name, undefined, [], withCode(String(description ?? ''))),
  ),
)}
<h3 id="webhook-answers">What to answer</h3>
${entries(
  Object.entries(WEBHOOK_RESPONSES).map(([status, { description }]) =>
    entry(status, undefined, [], withCode(description)),
  ),
)}
${WEBHOOK_MESSAGES.map(
  ({ types, schema, summary }) => html`<section class="operation">
<h3 id="webhook-${String(schema.title)}">${summary}</h3>
<p>The types ${code(types, ', ')}. ${objectLink(String(schema.title))} has the fields.</p>
<pre><code>${JSON.stringify(exampleOf(schema), null, 2)}</code></pre>
</section>
`,
)}`;

export const WEBHOOKS_DESCRIBED: OutgoingMessages = {
  describe: (components) =>
    Object.assign({}, ...WEBHOOK_MESSAGES.map((message) => describe(components, message))),
  explain,
};
