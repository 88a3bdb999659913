/** What every proxy in `deploy/` must do in front of the service, on loopback and with TLS. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { request } from 'node:https';
import { createServer, type Socket, type TcpSocketConnectOpts } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { SCOPES } from '../../src/access/api-keys.ts';
import { startApp, type TestApp, temporaryFolder } from '../support/app.ts';
import { spawnPlainly } from '../support/command.ts';
import { freePort } from '../support/serving.ts';
import { missing, pathOf } from './programs.ts';

const HOST = 'registry.example.rw';
const NID = '1198079244288038';

export interface Site {
  /** Everything that the proxy writes is in it. */
  readonly folder: string;
  readonly port: number;
  readonly servicePort: number;
  readonly certificate: string;
  readonly privateKey: string;
  /** In place of the 75 s for which the proxy waits for an answer. */
  readonly patience: string;
}

export interface Proxy {
  readonly program: string;
  /** How many requests one address may have under way; undefined: as many as it likes. */
  readonly requestsOfAnAddress?: number;
  /** Writes the configuration of `deploy/` for this site. @returns the arguments that start it */
  configure(site: Site): Promise<readonly string[]>;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  readonly json: any;
}

interface Asked {
  readonly key?: string;
  /** The address that the client comes from. */
  readonly from?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: object;
}

function ask({ port, certificate }: Site, path: string, asked: Asked = {}): Promise<Answer> {
  const { key, from = '127.0.0.1', headers = {}, body } = asked;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        ...{ host: '127.0.0.1', port, servername: HOST, ca: readFileSync(certificate), localAddress: from },
        ...{ path: path.startsWith('//') ? path.slice(1) : `/api/v1${path}` },
        ...{ method: body === undefined ? 'GET' : 'POST' },
        headers: {
          Host: HOST,
          ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
      },
      (incoming) => {
        let text = '';
        incoming.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        const isJson = incoming.headers['content-type'] === 'application/json';
        incoming.on('error', reject).on('end', () => {
          resolve({
            status: incoming.statusCode ?? 0,
            retryAfter: incoming.headers['retry-after'],
            json: isJson ? JSON.parse(text) : undefined,
          });
        });
      },
    );
    outgoing.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function start(context: TestContext, { program, configure }: Proxy, patience = '75s') {
  const folder = temporaryFolder(context);
  const settings = { PUBLIC_URL: `https://${HOST}`, TRUSTED_PROXIES: '127.0.0.1' };
  const app = await startApp(context, { settings });
  const certificate = join(folder, 'certificate.pem');
  const privateKey = join(folder, 'private-key.pem');
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', privateKey, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, ...files], { stdio: 'pipe' });
  const ports = { port: await freePort(), servicePort: app.port };
  const site = { ...ports, folder, certificate, privateKey, patience };
  const directories = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const running = spawnPlainly([pathOf(program), ...(await configure(site))], directories);
  context.after(async () => {
    // With the processes that it has started.
    process.kill(-(running.child.pid as number), 'SIGKILL');
    await running.ended;
  });
  while ((await ask(site, '/').catch(() => undefined)) === undefined) {
    assert.equal(running.child.exitCode, null, running.output());
    await sleep(50);
  }
  const written = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .concat(running.output());
  return { site, app, written };
}

const MEMBER = { cooperative_id: '1', identity_card: NID, member_code: 'M-1', full_name: 'Uwase' };

async function addMember(app: TestApp): Promise<void> {
  const cooperative = { method: 'POST', body: { code: 'A', name: 'A' } };
  assert.equal((await app.send('/cooperatives', cooperative)).status, 201);
  assert.equal((await app.send('/members', { method: 'POST', body: MEMBER })).status, 201);
}

/** Listens where the service was, and cuts every connection once a request has begun. */
async function cutConnections(context: TestContext, port: number): Promise<() => number> {
  let requests = 0;
  const cutting = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      requests++;
      socket.destroy();
    });
  }).listen(port, '127.0.0.1');
  context.after(() => cutting.close());
  await once(cutting, 'listening');
  return () => requests;
}

/** Sends the beginning of a request, and goes on with one byte of it a second. */
function sendSlowly({ port }: Site, beginning: string) {
  const opened = performance.now();
  const from: TcpSocketConnectOpts = { host: '127.0.0.1', port, localAddress: '127.0.0.2' };
  const socket = connect({ ...from, servername: HOST, rejectUnauthorized: false });
  let received = '';
  let answeredMs: number | undefined;
  socket
    .on('error', () => {})
    .on('data', (chunk: Buffer) => {
      answeredMs ??= performance.now();
      received += chunk.toString('latin1');
    });
  socket.write(beginning);
  const drip = setInterval(() => socket.write('a'), 1000);
  const closed = new Promise<{ seconds: number; status: number; answeredAfter: number }>((resolve) =>
    socket.on('close', () => {
      clearInterval(drip);
      resolve({
        seconds: (performance.now() - opened) / 1000,
        status: Number(received.split(' ')[1] ?? 0),
        answeredAfter: ((answeredMs ?? performance.now()) - opened) / 1000,
      });
    }),
  );
  return { socket, closed };
}

export function testProxy(proxy: Proxy): void {
  const skip = missing(proxy.program, 'openssl');

  test(`${proxy.program} passes on requests, who sends them, and the host`, { skip }, async (context) => {
    const { site, app } = await start(context, proxy);
    await addMember(app);
    await app.send('/cooperatives', { method: 'POST', body: { code: 'B', name: 'B' } });
    const key = app.fullKey;
    assert.equal((await ask(site, `/members/${NID}/`, { key })).json.primary_full_name, 'Uwase');
    const page = await ask(site, '/cooperatives?page_size=1', { key });
    assert.equal(page.json.next, `https://${HOST}/api/v1/cooperatives?page=2&page_size=1`);
    assert.equal((await ask(site, '/members/export', { key })).status, 200);

    const allowed = app.issue(SCOPES, { allowedAddresses: ['127.0.0.2'], allowedHosts: [HOST] }).key;
    const lookUp = async (from: string, headers = {}) =>
      (await ask(site, `/members/${NID}/`, { key: allowed, from, headers })).status;
    assert.equal(await lookUp('127.0.0.2'), 200);
    assert.equal(await lookUp('127.0.0.3'), 403);
    assert.equal(await lookUp('127.0.0.3', { 'X-Forwarded-For': '127.0.0.2' }), 403);
    assert.equal(app.logLines.filter((line) => line.includes('"reason":"address"')).length, 2);

    const { sequence } = (await ask(site, '/events?after=0', { key })).json.results.at(-1);
    const held = ask(site, `/events?after=${sequence}&wait=30`, { key });
    await app.send('/cooperatives', { method: 'POST', body: { code: 'C', name: 'C' } });
    assert.equal((await held).json.results[0].type, 'cooperative.created');

    const long = await ask(site, '/members', { key, body: { ...MEMBER, full_name: 'a'.repeat(70_000) } });
    assert.equal(long.status, 413);
    assert.deepEqual(long.json, { detail: 'Request body too large.' });
    for (const path of ['healthz', 'healthz/', 'readyz', 'readyz/', '%68ealthz', './readyz/']) {
      const { status, json } = await ask(site, `//${path}`);
      assert.ok(status === 404 && json?.status === undefined, `${path}: ${status}`);
    }
  });

  test(`no log of ${proxy.program} has a national ID, whatever fails`, { skip }, async (context) => {
    const { site, app, written } = await start(context, proxy);
    const key = app.fullKey;
    const headers = { 'X-Request-Id': NID, Referer: `https://${HOST}/${NID}`, 'User-Agent': NID };
    const tryAll = async () => [
      (await ask(site, `/members/${NID}/`, { key, headers })).status,
      (await ask(site, `/members?search=${NID}`, { key, headers })).status,
      (await ask(site, `/members/${NID}`, { key, headers, body: MEMBER })).status,
    ];
    assert.deepEqual(await tryAll(), [404, 200, 405]);
    const large = { ...MEMBER, full_name: 'a'.repeat(200_000) };
    const tooLarge = await ask(site, `/members/${NID}`, { key, headers, body: large });
    assert.ok([405, 413].includes(tooLarge.status), 'from the service or from the proxy');
    await app.registry.close();
    assert.deepEqual(await tryAll(), [503, 503, 503]);
    const countRequests = await cutConnections(context, site.servicePort);
    assert.deepEqual(await tryAll(), [503, 503, 503]);
    assert.equal(countRequests(), 3, 'no request was sent twice');
    const refused = readFileSync(join(site.folder, 'registry.log'), 'utf8').match(/\b503\b/g);
    assert.ok((refused?.length ?? 0) >= 6, 'each is in the log of requests');
    for (const log of written()) assert.doesNotMatch(log, new RegExp(NID));
  });

  test(`${proxy.program} answers for a service that restarts as the service does when it is busy`, {
    skip,
  }, async (context) => {
    const { site, app } = await start(context, proxy);
    await app.registry.close();
    const expected = {
      status: 503,
      retryAfter: '5',
      json: { detail: 'The service is not available. Try again.' },
    };
    assert.deepEqual(await ask(site, '/cooperatives', { key: app.fullKey }), expected);
    await cutConnections(context, site.servicePort);
    const written = { key: app.fullKey, body: { code: 'A', name: 'A' } };
    assert.deepEqual(await ask(site, '/cooperatives', written), expected);
  });

  test(`${proxy.program} gives up on who sends slowly, and goes on with others`, {
    skip,
  }, async (context) => {
    const { site, app } = await start(context, proxy);
    const lines = [
      'POST /api/v1/cooperatives HTTP/1.1',
      `Host: ${HOST}`,
      `Authorization: Bearer ${app.fullKey}`,
    ];
    const body = ['Content-Type: application/json', 'Content-Length: 60000', '', '{'];
    const many = Array.from({ length: 150 });
    const headers = many.map(() => sendSlowly(site, lines.join('\r\n')));
    const bodies = many.map(() => sendSlowly(site, [...lines, ...body].join('\r\n')));
    context.after(() => {
      for (const { socket } of [...headers, ...bodies]) socket.destroy();
    });
    await sleep(2000);
    assert.equal((await ask(site, '/cooperatives', { key: app.fullKey, from: '127.0.0.3' })).status, 200);

    const slow = await Promise.all(headers.map(({ closed }) => closed));
    const seconds = Math.max(...slow.map((each) => each.seconds));
    assert.ok(seconds < 20, `headers for ${seconds} s`);
    const ended = await Promise.all(bodies.map(({ closed }) => closed));
    const last = Math.max(...ended.map((each) => each.seconds));
    assert.ok(last < 45, `bodies for ${last} s`);
    // Those above the limit are refused at once; a body that is too slow is given up after its time.
    const refused = ended.filter((each) => each.status === 503 && each.answeredAfter < 15);
    assert.equal(
      refused.length,
      many.length - Math.min(many.length, proxy.requestsOfAnAddress ?? many.length),
    );
  });

  test(`${proxy.program} waits longer for an export than for other answers`, { skip }, async (context) => {
    const { site, app } = await start(context, proxy, '1s');
    await app.registry.close();
    const late = createHttpServer((_, outgoing) => setTimeout(() => outgoing.end('{}'), 3_000));
    await once(late.listen(site.servicePort, '127.0.0.1'), 'listening');
    context.after(() => {
      late.closeAllConnections();
      late.close();
    });
    const paths = ['/members/export', '/savings-transactions/export/?format=csv', '/members', '/exports'];
    const answers = await Promise.all(paths.map((path) => ask(site, path)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 503, 503],
    );
  });

  test(`${proxy.program} holds a request for as long as the service does`, { skip }, async (context) => {
    const { site, app } = await start(context, proxy);
    const held = ask(site, '/events?after=0&wait=30', { key: app.fullKey });
    // Just before the service itself would answer. Caddy's limit of bodies is not a limit of responses.
    await sleep(28_000);
    await app.send('/cooperatives', { method: 'POST', body: { code: 'A', name: 'A' } });
    assert.equal((await held).json.results[0].type, 'cooperative.created');
  });
}
