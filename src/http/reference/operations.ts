/** One operation of the reference: what it needs, takes and answers. */

import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { exampleOf } from '../../json/example.ts';
import { fullPath, type Route, scopesOf } from '../declare/route.ts';
import { curlLine, isExport, pythonProgram, typescriptProgram } from './commands.ts';
import { type DescribedResponse, type Description, nameIn, type Operation, resolve } from './description.ts';
import {
  code,
  entries,
  entry,
  fieldList,
  marksOf,
  meaningOf,
  objectLink,
  typeOf,
  withCode,
} from './fields.ts';

/** A long path breaks at its slashes. */
const breakable = (path: string): HtmlValue =>
  path.split('/').map((part, i) => (i === 0 ? part : html`<wbr>/${part}`));

const nameOf = ({ method }: Route, path: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span> <code>${breakable(path)}</code>`;

/** Without what all paths of the API begin with. */
export const shortNameOf = (route: Route): Html => nameOf(route, route.path);

export function operationSection(route: Route, description: Description, baseUrl: string): Html {
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
  return html`Needs ${key}${toExport}.${more} <a href="#keys">Narrow keys</a>: lookup-only keys are
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
  const lines = declared.map((each) => {
    const parameter = resolve(each, components.parameters);
    const { name, in: place, schema, description, example } = parameter;
    const type = html`${typeOf(schema)}, ${PLACES[place]}`;
    const shown = example === undefined ? undefined : html` For example <code>${example}</code>.`;
    const marks = marksOf(place === 'path', parameter);
    return entry(name, type, marks, html`${meaningOf(schema, description)}${shown}`);
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
  const named = Object.keys(headers).filter((name) => !name.includes('RateLimit'));
  const extra = named.length === 0 ? undefined : html` <a href="#headers">Headers</a>: ${code(named, ', ')}.`;
  return html`<p><span class="status good">${status}</span> ${withCode(description)}${object}${extra}</p>
${text === undefined ? undefined : html`<pre><code>${text}</code></pre>`}`;
}
