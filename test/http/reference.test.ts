/** The pages for those who write programs: `/` and `/docs` (docs/api.md#routes). */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { BodyParts } from '../../src/http/declare/response.ts';
import { type ApiRequest, fullPath } from '../../src/http/declare/route.ts';
import { describeApi } from '../../src/reference/openapi.ts';
import { renderReference } from '../../src/reference/reference-page.ts';
import { pageRoutes } from '../../src/reference/reference-routes.ts';
import { SCRIPT } from '../../src/reference/style-and-script.ts';
import { createRoutes } from '../../src/routes.ts';
import { packageVersion } from '../../src/runtime/process.ts';
import { codeElement } from '../../src/values/html.ts';
import { exampleOf } from '../../src/values/schema.ts';
import { WEBHOOK_MESSAGES, WEBHOOKS_DESCRIBED } from '../../src/webhooks/webhook-reference.ts';
import { startApp, type TestApp, temporaryFolder } from '../support/app.ts';
import { declaredRoutes, routeDependencies } from '../support/openapi-file.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const described = declaredRoutes().filter(({ isPage }) => isPage !== true);
const AT = { baseUrl: 'https://example.rw/registry', prefix: '/registry' };
const reference = (): string => renderReference(described, AT, WEBHOOKS_DESCRIBED);

/** As a browser shows it. */
const toText = (page: string): string =>
  page
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');

const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

async function ask(app: TestApp, path: string, headers: { [name: string]: string } = {}) {
  const response = await fetch(app.url + path, { headers });
  return { response, text: await response.text() };
}

test('the address of the service says what it is, to browsers as a page and to programs as JSON', async (context) => {
  const app = await startApp(context);
  const service = {
    ...{ name: 'cooperative-registry', version: packageVersion(), ready: true },
    ...{ api: `${app.url}/api/v1/`, reference: `${app.url}/docs`, openapi: `${app.url}/openapi.json` },
  };
  for (const accept of ['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0', '']) {
    const isJson = accept !== 'application/json, text/html';
    const { response, text } = await ask(app, '/', { Accept: accept });
    assert.equal(response.headers.get('vary'), 'Accept');
    if (isJson) assert.deepEqual(JSON.parse(text), service, accept);
    else assert.match(text, /^<!doctype html>/);
  }
  const { response, text } = await ask(app, '/', { Accept: BROWSER });
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  for (const shown of [packageVersion(), '>ready<', service.api, 'href="/docs"', 'href="/openapi.json"'])
    assert.ok(text.includes(shown), shown);
});

test('a service that is stopping, or whose database or ledger does not answer, is not ready', async () => {
  const request = { incoming: { headers: {} }, baseUrl: '', prefix: '' } as unknown as ApiRequest;
  const isReady = async (unready: 'stopping' | 'not_ready' | 'ledger' | undefined) => {
    const routes = createRoutes({ ...routeDependencies, findUnready: async () => unready });
    const route = routes.find(({ operationId }) => operationId === 'getService');
    assert.ok(route?.method === 'GET');
    return ((await route.handle(request)).body as { ready: boolean }).ready;
  };
  assert.equal(await isReady(undefined), true);
  for (const unready of ['stopping', 'not_ready', 'ledger'] as const)
    assert.equal(await isReady(unready), false, unready);
});

test('the reference says beside a field when it is null, and how long what works goes on working', () => {
  const text = toText(reference());
  assert.match(
    text,
    /loan_history list of LoanHistoryEntry or null.*\n?.*At most 10 loans: first granted loans/,
  );
  assert.match(
    text,
    /savings_summary SavingsSummary or null.*\n?.*Null without the scope members:financials/,
  );
  assert.match(text, /deprecated for six months/);
});

test('the reference is one page with a script of its own, at most 150 KB compressed, that loads nothing', async (context) => {
  const app = await startApp(context);
  const { response, text } = await ask(app, '/docs', { 'Accept-Encoding': 'identity' });
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(response.headers.get('vary'), 'Accept-Encoding');
  assert.doesNotMatch(text, /<script\s|<link rel="stylesheet|<img|<iframe|\sstyle="|\son\w+="/);
  const scripts = all(text, /<script>(.*?)<\/script>/gs);
  assert.equal(scripts.length, 1);
  const style = /<style>(.*?)<\/style>/s.exec(text)?.[1] ?? '';
  const policy = response.headers.get('content-security-policy') ?? '';
  const [ofScript, ofStyle] = [...scripts, style].map((each) => `'sha256-${hash('sha256', each, 'base64')}'`);
  assert.ok(policy.startsWith(`default-src 'none'; script-src ${ofScript}; style-src ${ofStyle}; `), policy);
  const head = await app.send('//docs', {
    method: 'HEAD',
    key: null,
    headers: { 'Accept-Encoding': 'gzip' },
  });
  assert.equal(head.headers['content-encoding'], 'gzip');
  assert.ok(Number(head.headers['content-length']) < 150_000, head.headers['content-length']);
  // fetch decompresses.
  assert.equal((await ask(app, '/docs', { 'Accept-Encoding': 'gzip' })).text, text);
});

test('the reference is rendered once, and has the address by which it is asked for', async () => {
  const [first] = described;
  assert.ok(first);
  let readings = 0;
  const counting = { ...first, responses: first.responses };
  Object.defineProperty(counting, 'summary', { enumerable: true, get: () => `Read ${++readings} times` });
  const route = pageRoutes([counting], async () => true)[1];
  assert.ok(route?.method === 'GET');
  const pageAt = async (baseUrl: string, prefix: string) => {
    const request = { incoming: { headers: {} }, baseUrl, prefix } as unknown as ApiRequest;
    const { parts } = (await route.handle(request)).body as BodyParts;
    return Buffer.concat([...(parts as Iterable<Uint8Array>)]).toString();
  };
  const page = await pageAt('http://a.example', '');
  const rendered = readings;
  const other = await pageAt(AT.baseUrl, AT.prefix);
  assert.equal(readings, rendered);
  assert.ok(page.includes(`'http://a.example/api/v1/me'`) && page.includes('href="/openapi.json"'));
  assert.ok(other.includes(`'${AT.baseUrl}/api/v1/me'`) && other.includes('href="/registry/openapi.json"'));
  assert.doesNotMatch(page + other, /\.invalid/);
});

test('the reference names all that the description has: paths, parameters, fields, choices, statuses', () => {
  const text = toText(reference());
  const api = describeApi(described, WEBHOOKS_DESCRIBED);
  for (const { method, operationId, summary, ...route } of described) {
    assert.ok(text.includes(`${method} ${fullPath(route)}`), operationId);
    assert.ok(text.includes(summary.replaceAll('`', '')), operationId);
    for (const name of Object.keys({ ...route.params, ...route.query })) assert.ok(text.includes(name), name);
  }
  const words = JSON.stringify(api.components);
  for (const choice of all(words, /"enum":\[([^\]]*)\]/g).flatMap((list) => all(list, /"([^"]+)"/g)))
    assert.ok(text.includes(choice), choice);
  const { schemas } = api.components as { schemas: { [title: string]: { properties?: object } } };
  for (const { properties = {} } of Object.values(schemas))
    for (const field of Object.keys(properties)) assert.ok(text.includes(field), field);
  const examples = described
    .flatMap(({ responses }) => Object.values(responses))
    .map(({ schema, example = exampleOf(schema) }) => example);
  const squeezed = text.replace(/\s/g, '');
  for (const example of examples)
    assert.ok(squeezed.includes(JSON.stringify(example).replace(/\s/g, '')), JSON.stringify(example));
});

test('every link leads to a place of the page, or under the prefix, and no two places have one name', () => {
  const page = reference();
  const places = all(page, /\sid="([^"]*)"/g);
  assert.equal(new Set(places).size, places.length);
  assert.ok(places.length > 80, `${places.length} places`);
  for (const link of all(page, /href="([^"]*)"/g).filter((each) => each !== 'data:,'))
    if (link.startsWith('#')) assert.ok(places.includes(link.slice(1)), link);
    else assert.ok(['/registry/', '/registry/openapi.json'].includes(link), link);
});

test('the reference has every type of webhook, its payload, and what to answer', () => {
  const text = toText(reference());
  const squeezed = text.replace(/\s/g, '');
  const { webhooks } = describeApi(described, WEBHOOKS_DESCRIBED) as { webhooks: object };
  for (const type of Object.keys(webhooks)) assert.ok(text.includes(type), type);
  assert.deepEqual(
    WEBHOOK_MESSAGES.flatMap(({ types }) => types),
    Object.keys(webhooks),
  );
  for (const { schema } of WEBHOOK_MESSAGES)
    assert.ok(squeezed.includes(JSON.stringify(exampleOf(schema))), String(schema.title));
  assert.match(text, /webhook-signature\s*v1, and the HMAC-SHA256/);
  assert.match(text, /410\s*The endpoint is disabled\./);
});

test('what a declaration says is shown as text', () => {
  const [first] = described;
  assert.ok(first);
  const page = renderReference([{ ...first, summary: '<img src=x onerror=alert(1)>' }], AT);
  assert.ok(page.includes('&lt;img src=x onerror=alert(1)&gt;'));
  assert.doesNotMatch(page.replace(String(codeElement('script', SCRIPT)), ''), /<img|<script/);
});

const MEMBER = { identity_card: '1198589000123158', member_code: 'M-1', full_name: 'Uwase' };
const LOAN = { amount: '100000', interest_rate: '10', status: 'approved' };
const OF_OTHER_ROWS = /cannot be changed|must be unique/;
const NEEDED = ['curl', 'openssl'].filter((name) => spawnSync(name, ['version']).error !== undefined);

test('every command of the reference works as it is', {
  skip: NEEDED.length > 0 && `${NEEDED.join()} missing`,
}, async (context) => {
  const app = await startApp(context);
  const commands = all((await ask(app, '/docs')).text, /<pre class="curl"\s*><code>(.*?)<\/code>/gs).map(
    toText,
  );
  assert.equal(commands.length, described.length + 1);
  const isPost = (command: string) => command.includes('Idempotency-Key');
  const others = commands.filter((each) => !isPost(each) && !each.startsWith('read '));
  assert.equal(others.length, described.length - 6);
  const cwd = temporaryFolder(context);
  const env = { ...process.env, KEY: app.fullKey };

  async function copy(command: string): Promise<void> {
    const line = `${command} -o answer -w '%{http_code}'`.replace('-sOJ', '-s');
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd, env });
    // An export counts until its file is closed, soon after it was read.
    if (stdout === '503') return copy(command);
    const answer = readFileSync(join(cwd, 'answer'), 'utf8');
    // An example may say of a row what this one cannot become.
    const faults = all(answer, /\["([^"]*)"\]/g);
    const isRead = stdout === '400' && faults.length > 0 && faults.every((text) => OF_OTHER_ROWS.test(text));
    assert.ok(isRead || /^(?:2..|404)$/.test(stdout), `${command}\n${stdout} ${answer}`);
  }

  const post = async (path: string, body: object) =>
    assert.equal((await app.send(path, { method: 'POST', body })).status, 201);
  const copyPost = (path: string) =>
    copy(commands.find((each) => isPost(each) && each.endsWith(`${path}'`)) as string);
  // The examples name each other by the ids that they get here.
  await copyPost('/cooperatives');
  await post('/members', { ...MEMBER, cooperative_id: '1' });
  await copyPost('/members');
  for (const entries of ['/deliveries', '/savings-transactions']) await copyPost(entries);
  for (const reference of ['L-1', 'L-2']) await post('/loans', { ...LOAN, member_id: '1', reference });
  await copyPost('/loans');
  await copyPost('/payments');
  for (const command of others) await copy(command);
});

/** Those of one language, in the order of the operations. */
const programsIn = (text: string, language: string): string[] =>
  all(text, new RegExp(`<pre class="${language}"><code>(.*?)</code>`, 'gs')).map(toText);

test('every program of the reference is one of its language, and what reads works as it is', async (context) => {
  const app = await startApp(context);
  const body = { code: 'C-1', name: 'Abahuzamugambi', province: 'South', district: 'Huye' };
  assert.equal((await app.send('/cooperatives/', { method: 'POST', body })).status, 201);
  await app.send('/members/', { method: 'POST', body: { ...MEMBER, cooperative_id: '1' } });
  const { text } = await ask(app, '/docs');
  const commands = all(text, /<pre class="curl"><code>(.*?)<\/code>/gs).map(toText);
  const reads = (i: number) => !/-X |Idempotency-Key/.test(commands[i] as string);
  const cwd = temporaryFolder(context);
  const env = { ...process.env, KEY: app.fullKey };
  const run = promisify(execFile);

  const typescript = programsIn(text, 'typescript');
  assert.equal(typescript.length, described.length);
  const blocks = typescript.map((program, i) => `if (${reads(i)}) {\n${program}\n}\n`).join('');
  // As in `copy` above, a client of an export may have to ask again.
  const retrying = `const { fetch: ask } = globalThis;
globalThis.fetch = async (...request) => {
  const response = await ask(...request);
  return response.status === 503 ? fetch(...request) : response;
};
`;
  writeFileSync(join(cwd, 'all.mts'), retrying + blocks);
  const { stdout } = await run(process.execPath, ['all.mts'], { cwd, env });
  const statuses = all(stdout, /^([0-9]{3}) /gm);
  assert.ok(statuses.filter((status) => status === '200').length > 10, stdout.slice(0, 2_000));
  assert.deepEqual(
    statuses.filter((status) => !/^(?:200|404)$/.test(status)),
    [],
  );

  const python = programsIn(text, 'python');
  assert.equal(python.length, described.length);
  if (spawnSync('python3', ['--version']).error !== undefined) return;
  const programs = pythonList(python.map((program, i) => [reads(i), program]));
  const loop = `import urllib.error
for reads, program in ${programs}:
    code = compile(program, 'program', 'exec')
    while reads:
        try:
            exec(code, {})
        except urllib.error.HTTPError as refusal:
            if refusal.code == 503: continue
            if refusal.code != 404: raise
        break
`;
  writeFileSync(join(cwd, 'all.py'), loop);
  const printed = await run('python3', ['all.py'], { cwd, env });
  assert.match(printed.stdout, /"code":"C-1"/);
});

const pythonList = (pairs: readonly (readonly [boolean, string])[]): string =>
  `[${pairs
    .map(([reads, program]) => `(${reads ? 'True' : 'False'}, ${JSON.stringify(program)})`)
    .join(', ')}]`;
