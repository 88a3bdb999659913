/** The API reference: one page, rendered from the same declarations as openapi.json. */

import { SCOPE_MEANINGS } from '../access/api-keys.ts';
import { mediaTypesOf } from '../http/declare/request-body.ts';
import { API_PREFIX, fullPath, type Route, scopesOf } from '../http/declare/route.ts';
import { codeElement, type Html, type HtmlValue, html, withCode } from '../values/html.ts';
import { exampleOf } from '../values/schema.ts';
import { API_VERSION, describeApi, exampleOfBody, type OutgoingMessages } from './openapi.ts';
import {
  code,
  type Described,
  type DescribedResponse,
  type Description,
  entries,
  entry,
  fieldList,
  marksOf,
  meaningOf,
  nameIn,
  type Operation,
  objectLink,
  resolve,
  typeOf,
} from './schema-fields.ts';
import { inFrame, SCRIPT } from './style-and-script.ts';

export const isExport = ({ access }: Route): boolean =>
  typeof access === 'object' && access.isExport === true;

// Complete examples of an operation in curl, Python and TypeScript

/** Quotes a text as one word for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The command takes the key from the variable KEY. */
function curlLine(route: Route, baseUrl: string): string {
  const { method, access, body } = route;
  const parts = [
    `curl -s${isExport(route) ? 'OJ --compressed' : ''}`,
    ...(method === 'GET' || method === 'POST' ? [] : [`-X ${method}`]),
    ...(access === 'public' ? [] : ['-H "Authorization: Bearer $KEY"']),
    ...('creation' in route ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...(body === undefined
      ? []
      : [
          `-H 'Content-Type: ${mediaTypesOf(body).at(-1)}'`,
          `-d ${quoted(JSON.stringify(exampleOfBody(body), null, 2))}`,
        ]),
    quoted(addressOf(route, baseUrl)),
  ];
  return parts.join(body === undefined ? ' ' : ' \\\n  ');
}

const addressOf = (route: Route, baseUrl: string): string =>
  baseUrl + fullPath(route).replace(/\{(\w+)\}/g, (_, name: string) => route.params?.[name]?.example ?? name);

const indented = (lines: readonly string[], by: string): string =>
  lines
    .flatMap((line) => line.split('\n'))
    .map((line) => `${by}${line}\n`)
    .join('');

/** Returns a program for Python's standard library (docs/clients.md#python). */
function pythonProgram(route: Route, baseUrl: string): string {
  const { method, access, body } = route;
  const isCreating = 'creation' in route;
  const headers = [
    ...(access === 'public' ? [] : [`"Authorization": f"Bearer {os.environ['KEY']}",`]),
    ...(body === undefined ? [] : [`"Content-Type": "${mediaTypesOf(body).at(-1)}",`]),
    ...(isCreating ? ['"Idempotency-Key": str(uuid.uuid4()),'] : []),
  ];
  const settings = [
    `${JSON.stringify(addressOf(route, baseUrl))},`,
    ...(method === 'GET' ? [] : [`method="${method}",`]),
    ...(headers.length === 0 ? [] : [`headers={\n${indented(headers, '    ')}},`]),
    ...(body === undefined ? [] : [`data=json.dumps(${pythonLiteral(exampleOfBody(body))}).encode(),`]),
  ];
  const modules = [
    ...(body === undefined ? [] : ['json']),
    ...(access === 'public' ? [] : ['os']),
    'urllib.request',
    ...(isCreating ? ['uuid'] : []),
  ];
  return `import ${modules.join(', ')}

request = urllib.request.Request(
${indented(settings, '    ')})
with urllib.request.urlopen(request, timeout=60) as response:
    for line in response:
        print(line.decode(), end="")`;
}

const PYTHON_WORDS: { readonly [json: string]: string } = { true: 'True', false: 'False', null: 'None' };

const pythonLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 4).replace(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (word) => PYTHON_WORDS[word] ?? word,
  );

/** Returns a program for Node (docs/clients.md#typescript). */
function typescriptProgram(route: Route, baseUrl: string): string {
  const { method, access, body } = route;
  const headers = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the example contains a template
    ...(access === 'public' ? [] : ['Authorization: `Bearer ${process.env.KEY}`,']),
    ...(body === undefined ? [] : [`'Content-Type': '${mediaTypesOf(body).at(-1)}',`]),
    ...('creation' in route ? ["'Idempotency-Key': crypto.randomUUID(),"] : []),
  ];
  const settings = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    ...(headers.length === 0 ? [] : [`headers: {\n${indented(headers, '  ')}},`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${JSON.stringify(exampleOfBody(body), null, 2)}),`]),
  ];
  const address = JSON.stringify(addressOf(route, baseUrl));
  const options = settings.length === 0 ? '' : `, {\n${indented(settings, '  ')}}`;
  return `const response = await fetch(${address}${options});
${
  isExport(route)
    ? 'for await (const part of response.body ?? []) process.stdout.write(part);'
    : 'console.log(response.status, await response.text());'
}`;
}

// Sections of operations

/** Allows line breaks at the slashes of a path. */
const breakable = (path: string): HtmlValue =>
  path.split('/').map((part, i) => (i === 0 ? part : html`<wbr>/${part}`));

const nameOf = ({ method }: Route, path: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span> <code>${breakable(path)}</code>`;

function operationSection(route: Route, description: Description, baseUrl: string): Html {
  const path = fullPath(route);
  const operation = description.paths[path]?.[route.method.toLowerCase()] as Operation;
  return html`<section class="operation">
<h3 id="${route.operationId}">${nameOf(route, path)}</h3>
<p><strong>${withCode(route.summary)}</strong></p>
${route.description === undefined ? undefined : html`<p>${withCode(route.description)}</p>`}
${deprecation(route)}
<p>${needs(route)}</p>
<pre class="curl"><code>${curlLine(route, baseUrl)}</code></pre>
<details><summary>Python</summary>
<pre class="python"><code>${pythonProgram(route, baseUrl)}</code></pre></details>
<details><summary>TypeScript</summary>
<pre class="typescript"><code>${typescriptProgram(route, baseUrl)}</code></pre></details>
${parameters(operation, description)}
${requestBody(operation, description)}
${answers(route, operation, description)}
</section>
`;
}

const deprecation = ({ deprecated }: Route): HtmlValue =>
  deprecated &&
  html`<p class="deprecated">Deprecated since ${deprecated.since}; it may end on ${deprecated.sunset}.
<a href="${deprecated.link}">What to use instead</a></p>`;

function needs(route: Route): Html {
  const { access, optionalScopes = [], narrowed } = route;
  if (access === 'public') return html`Needs no key.`;
  const scopes = scopesOf(route);
  const key =
    access === 'any key'
      ? 'any key'
      : html`the ${scopes.length > 1 ? 'scopes' : 'scope'} ${scopes.map(
          (scope, i) => html`${i > 0 ? ' and ' : ''}<a href="#scopes"><code>${scope}</code></a>`,
        )}`;
  const toExport = isExport(route) ? ' and the right to export' : '';
  const more =
    optionalScopes.length === 0
      ? undefined
      : html` It shows more to keys with ${code(optionalScopes, ', ')}.`;
  const lookupOnly = typeof narrowed.lookupOnly === 'string' ? narrowed.lookupOnly : 'byNumber';
  return html`Needs ${key}${toExport}.${more} <a href="#keys">Restricted keys</a>: lookup-only keys are
${LOOKUP_ONLY[lookupOnly]}; keys limited to cooperatives ${COOPERATIVES[narrowed.cooperatives]}.`;
}

const LOOKUP_ONLY = {
  allowed: 'allowed',
  refused: 'refused',
  byNumber: 'allowed with a full national ID only',
};

const COOPERATIVES = {
  narrowed: 'reach only what belongs to those',
  allowed: 'get the same as others',
  refused: 'are refused',
};

const PLACES = { path: 'in the path', query: 'in the query', header: 'in a header' };

function parameters({ parameters: declared = [] }: Operation, { components }: Description): HtmlValue {
  if (declared.length === 0) return undefined;
  const lines = declared.map((reference) => {
    const parameter = resolve(reference, components.parameters);
    const { name, in: place, schema, description, example } = parameter;
    const type = html`${typeOf(schema)}, ${PLACES[place]}`;
    const sample = example === undefined ? undefined : html` For example <code>${example}</code>.`;
    const marks = marksOf(place === 'path', parameter);
    return entry(name, type, marks, html`${meaningOf(schema, description)}${sample}`);
  });
  return html`<h4>Parameters</h4>
${entries(lines)}`;
}

function requestBody({ requestBody: body }: Operation, { components }: Description): HtmlValue {
  const types = Object.entries(body?.content ?? {});
  const schema = types[0]?.[1].schema;
  if (schema === undefined) return undefined;
  return html`<h4>Body <span class="quiet">${types.map(([type]) => type).join(' or ')}</span></h4>
${fieldList(schema, components.schemas, 'body')}`;
}

function answers(route: Route, { responses }: Operation, { components }: Description): Html {
  const all = Object.entries(responses).map(([status, response]) => ({
    status,
    ...resolve<DescribedResponse>(response, components.responses),
  }));
  const refusals = all.filter(({ status }) => status >= '4');
  return html`<h4>Responses</h4>
${all.filter(({ status }) => status < '4').map(({ status, ...response }) => success(route, status, response))}
<p>Errors: ${refusals.map(
    ({ status }) =>
      html`<a class="status" href="#status-${status}">${status === 'default' ? 'others' : status}</a> `,
  )}</p>`;
}

function success(route: Route, status: string, response: DescribedResponse): Html {
  const { description, content = {}, headers = {} } = response;
  const { schema, example = schema && exampleOf(schema) } = route.responses[Number(status)] ?? {};
  const isLines = isExport(route);
  const text = example === undefined ? undefined : JSON.stringify(example, null, isLines ? 0 : 2);
  const reference = Object.values(content)[0]?.schema.$ref;
  const linked = reference === undefined ? undefined : html` ${objectLink(nameIn({ $ref: reference }))}.`;
  const object = isLines ? html` Each line: ${objectLink(String(schema?.title))}; or CSV.` : linked;
  const names = Object.keys(headers).filter((name) => !name.includes('RateLimit'));
  const extra = names.length === 0 ? undefined : html` <a href="#headers">Headers</a>: ${code(names, ', ')}.`;
  return html`<p><span class="status good">${status}</span> ${withCode(description)}${object}${extra}</p>
${text === undefined ? undefined : html`<pre><code>${text}</code></pre>`}`;
}

export interface Addresses {
  /** Base of absolute links. */
  readonly baseUrl: string;
  readonly prefix: string;
}

const BEFORE = { keys: 'Keys', scopes: 'Scopes', rules: 'Conventions' };
const BEHIND = { webhooks: 'Webhooks', statuses: 'Errors', headers: 'Headers', objects: 'Objects' };

export function renderReference(
  routes: readonly Route[],
  addresses: Addresses,
  outgoing?: OutgoingMessages,
): string {
  const { baseUrl, prefix } = addresses;
  const description = describeApi(routes, outgoing) as unknown as Description;
  const groups = description.tags.map((tag) => groupOf(tag, routes));
  const body = html`<a class="skip" href="#start">Skip to the content</a>
<div class="columns">
${contents(groups, prefix)}
${codeElement('script', SCRIPT)}
<main id="start">
<h1>Reference of the API</h1>
<p>Version ${API_VERSION}, under <code>${baseUrl}${API_PREFIX}</code>. For programs:
<a href="${prefix}/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
${introduction(description, baseUrl)}
${groups.map(
  (group) => html`<h2 id="${group.anchor}">${group.title}</h2>
<p>${withCode(group.description)}</p>
${group.routes.map((route) => operationSection(route, description, baseUrl))}`,
)}<h2 id="webhooks">${BEHIND.webhooks}</h2>
${outgoing?.explain()}
${refusals(description)}
${headers(description)}
${objects(description)}
</main>
</div>`;
  return inFrame('Reference of the API · Cooperative registry', body);
}

/** Lists exports last. */
const groupOf = ({ name, description }: Description['tags'][number], routes: readonly Route[]) => ({
  anchor: `about-${name}`,
  title: name.charAt(0).toUpperCase() + name.slice(1),
  description,
  routes: routes.filter(({ tag }) => tag === name).sort((a, b) => Number(isExport(a)) - Number(isExport(b))),
});

const links = (titles: { readonly [anchor: string]: string }): Html =>
  html`<ul class="row">${Object.entries(titles).map(
    ([anchor, title]) => html`<li><a href="#${anchor}">${title}</a></li>`,
  )}</ul>`;

const contents = (
  groups: readonly ReturnType<typeof groupOf>[],
  prefix: string,
): Html => html`<nav aria-label="Contents">
<p><a href="${prefix}/">Cooperative registry</a></p>
<label class="filter" hidden>Filter operations <input type="search" autocomplete="off" spellcheck="false">
<output></output></label>
${links(BEFORE)}
${groups.map(
  ({ anchor, title, routes }) => html`<p><a href="#${anchor}">${title}</a></p>
<ul>${routes.map((route) => {
    const link = html`<a href="#${route.operationId}">${nameOf(route, route.path)}</a>`;
    return html`<li data-words="${route.summary}">${link}</li>`;
  })}</ul>
`,
)}${links(BEHIND)}
</nav>`;

export const tryKey = (baseUrl: string): Html => html`<pre class="curl"
><code>read -rs KEY && export KEY   # paste the key
curl -s -H "Authorization: Bearer $KEY" '${baseUrl}${API_PREFIX}/me'</code></pre>`;

const introduction = ({ info }: Description, baseUrl: string): Html => html`<h2 id="keys">${BEFORE.keys}</h2>
<p>Every request under <code>${API_PREFIX}</code> carries a key, which the operator of this registry issues.
The commands and programs on this page take it from a variable. What your key may do, and what is left of its
limits:</p>
${tryKey(baseUrl)}
<p>The examples are invented. In the demo data, <code>1198079244288038</code> is somebody's national ID.</p>
<p>A key may be restricted: a lookup-only key finds persons by their full national ID and nothing else; for a
key that is limited to some cooperatives, no others exist. Exports need a right of their own.</p>
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
  const meanings = Object.entries(components.headers).map(
    ([name, { description }]) => [name.replace('-Optional', ''), description] as const,
  );
  // A header may have a required and an optional component. Their descriptions are equal.
  const byName = new Map(meanings);
  const lines = [...byName].map(([name, description]) => entry(name, undefined, [], withCode(description)));
  return html`<h2 id="headers">${BEHIND.headers}</h2>
${entries(lines)}`;
}

/** False for schemas of bodies, because the page shows them with their operations. */
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
