/** The reference of the API: one page, from the declarations that openapi.json is made of. */
import { SCOPE_MEANINGS } from '../../domain/access/api-keys.ts';
import { type Html, html, scriptElement } from '../../html/html.ts';
import { API_PREFIX, type Route } from '../declare/route.ts';
import { describeApi } from '../openapi/openapi.ts';
import { isExport } from './commands.ts';
import type { Described, Description } from './description.ts';
import { entries, entry, fieldList, withCode } from './fields.ts';
import { inFrame } from './frame.ts';
import { operationSection, shortNameOf } from './operations.ts';
import { SCRIPT } from './script.ts';
import { webhooks } from './webhooks.ts';

export interface Addresses {
  /** What stands before all paths. */
  readonly baseUrl: string;
  readonly prefix: string;
}

interface Group {
  readonly anchor: string;
  readonly title: string;
  readonly description: string;
  readonly routes: readonly Route[];
}

const BEFORE = { keys: 'Keys', scopes: 'Scopes', rules: 'Conventions' };
const BEHIND = { webhooks: 'Webhooks', statuses: 'Errors', headers: 'Headers', objects: 'Objects' };

/** @param routes of the API, all of which are described */
export function renderReference(routes: readonly Route[], version: string, addresses: Addresses): string {
  const { baseUrl, prefix } = addresses;
  const description = describeApi(routes, version) as unknown as Description;
  const groups = description.tags.map((tag) => groupOf(tag, routes));
  const body = html`<a class="skip" href="#start">Skip to the content</a>
<div class="columns">
${contents(groups, prefix)}
${scriptElement(SCRIPT)}
<main id="start">
<h1>Reference of the API</h1>
<p>Version ${version}, under <code>${baseUrl}${API_PREFIX}</code>. For programs:
<a href="${prefix}/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
${introduction(description, baseUrl)}
${groups.map(
  (group) => html`<h2 id="${group.anchor}">${group.title}</h2>
<p>${withCode(group.description)}</p>
${group.routes.map((route) => operationSection(route, description, baseUrl))}`,
)}<h2 id="webhooks">${BEHIND.webhooks}</h2>
${webhooks()}
${refusals(description)}
${headers(description)}
${objects(description)}
</main>
</div>`;
  return inFrame('Reference of the API · Cooperative registry', body);
}

/** Exports come last: they are read least. */
const groupOf = ({ name, description }: Description['tags'][number], routes: readonly Route[]): Group => ({
  anchor: `about-${name}`,
  title: name.charAt(0).toUpperCase() + name.slice(1),
  description,
  routes: routes.filter(({ tag }) => tag === name).sort((a, b) => Number(isExport(a)) - Number(isExport(b))),
});

const links = (titles: { readonly [anchor: string]: string }): Html =>
  html`<ul class="row">${Object.entries(titles).map(
    ([anchor, title]) => html`<li><a href="#${anchor}">${title}</a></li>`,
  )}</ul>`;

const contents = (groups: readonly Group[], prefix: string): Html => html`<nav aria-label="Contents">
<p><a href="${prefix}/">Cooperative registry</a></p>
<label class="filter" hidden>Filter operations <input type="search" autocomplete="off" spellcheck="false">
<output></output></label>
${links(BEFORE)}
${groups.map(
  ({ anchor, title, routes }) => html`<p><a href="#${anchor}">${title}</a></p>
<ul>${routes.map(
    (route) =>
      html`<li data-words="${route.summary}"><a href="#${route.operationId}">${shortNameOf(route)}</a></li>`,
  )}</ul>
`,
)}${links(BEHIND)}
</nav>`;

/** @param baseUrl for absolute links */
export const tryKey = (baseUrl: string): Html => html`<pre class="curl"
><code>read -rs KEY && export KEY   # paste the key
curl -s -H "Authorization: Bearer $KEY" '${baseUrl}${API_PREFIX}/me'</code></pre>`;

const introduction = ({ info }: Description, baseUrl: string): Html => html`<h2 id="keys">${BEFORE.keys}</h2>
<p>Every request under <code>${API_PREFIX}</code> carries a key, which the operator of this registry issues.
The commands and programs on this page take it from a variable. What your key may do, and what is left of its
limits:</p>
${tryKey(baseUrl)}
<p>The examples are invented. In the demo data, <code>1198079244288038</code> is somebody's national ID.</p>
<p>A key may be narrow: a lookup-only key finds persons by their full national ID and nothing else; for a key
that is limited to some cooperatives, no others exist. Exports need a right of their own.</p>
<h2 id="scopes">${BEFORE.scopes}</h2>
${entries(
  Object.entries(SCOPE_MEANINGS).map(([name, meaning]) => entry(name, undefined, [], withCode(meaning))),
)}
<h2 id="rules">${BEFORE.rules}</h2>
${info.description.split('\n\n').map((paragraph) => html`<p>${withCode(paragraph)}</p>`)}
<p>Fields and query parameters that an operation does not have are refused, and all faults of a request are
reported together. After 429 or 503, wait for as many seconds as <code>Retry-After</code> says. A POST with an
<code>Idempotency-Key</code> can be repeated safely after these, a timeout or a broken connection.</p>
`;

function refusals({ components }: Description): Html {
  const statuses = Object.entries(components.responses)
    .filter(([name]) => name.startsWith('Refused'))
    .map(([name, response]) => ({ status: name.slice('Refused'.length) || 'default', ...response }))
    .sort((a, b) => (a.status < b.status ? -1 : 1));
  return html`<h2 id="statuses">${BEHIND.statuses}</h2>
${statuses.map(
  ({ status, description, content }) => html`<section class="part">
<h3 id="status-${status}">${status === 'default' ? 'Others' : status}</h3>
<p>${withCode(description)}</p>
<pre><code>${JSON.stringify(content?.['application/json']?.example)}</code></pre>
</section>
`,
)}`;
}

function headers({ components }: Description): Html {
  const meanings = Object.entries(components.headers).map(([name, { description }]) => ({
    name: name.replace('-Optional', ''),
    description,
  }));
  const byName = new Map(meanings.map((each) => [each.name, each]));
  const lines = [...byName.values()].map(({ name, description }) =>
    entry(name, undefined, [], withCode(description)),
  );
  return html`<h2 id="headers">${BEHIND.headers}</h2>
${entries(lines)}`;
}

/** Those of responses: bodies are with their operations. */
const isShown = ({ title = '' }: Described): boolean => !title.endsWith('Body') && title !== 'Ignored';

const objects = ({
  components: { schemas },
}: Description): Html => html`<h2 id="objects">${BEHIND.objects}</h2>
${Object.entries(schemas)
  .filter(([, schema]) => isShown(schema))
  .map(
    ([name, schema]) => html`<section class="part">
<h3 id="${name}">${name}</h3>
${fieldList(schema, schemas, 'response')}
</section>
`,
  )}`;
