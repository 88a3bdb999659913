/** What the reference says of webhooks: the types of messages, their headers, and a payload of each. */
import { type Html, html } from '../../html/html.ts';
import { exampleOf } from '../../json/example.ts';
import { WEBHOOK_HEADERS } from '../../json/webhooks.ts';
import { WEBHOOK_MESSAGES, WEBHOOK_RESPONSES } from '../openapi/webhooks.ts';
import { code, entries, entry, objectLink, withCode } from './fields.ts';

/** Under a heading of their own. */
export const webhooks = (): Html => html`<p>The operator of the registry adds an address
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
