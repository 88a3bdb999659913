/** A desk on a port of its own, and a browser that has opened its link. */
import { type IncomingHttpHeaders, request } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type DeskOptions, openDesk } from '../../src/desk-screens.ts';
import { openConfiguredStorage } from '../../src/terminal/settings.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import type { Language } from '../../src/values/language.ts';
import { NOON, type TestClock, testClock } from './app.ts';
import { plainEnvironment } from './command.ts';

export interface DeskResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
}

type Headers = { readonly [name: string]: string };
type Fields = { readonly [name: string]: string | readonly string[] };

export interface TestDesk {
  readonly port: number;
  readonly clock: TestClock;
  /** Lines about what should not have happened. */
  readonly reported: string[];
  /** A link, as `registry desk` prints it. */
  issueLink(user?: string): string;
  /** One request, with nothing but these headers and a Host. */
  send(method: string, path: string, headers?: Headers, body?: string | Buffer): Promise<DeskResponse>;
  /** Opens a link, as a browser does. @param language that is chosen on its pages */
  enter(user?: string, language?: Language): Promise<Browser>;
}

export interface Browser {
  readonly cookie: string;
  get(path: string, headers?: Headers): Promise<DeskResponse>;
  /** Sends a form of a page of the desk, with its token. */
  post(path: string, fields: Fields, headers?: Headers): Promise<DeskResponse>;
  /** Sends a form with files, as a browser without a script. */
  upload(path: string, files: { readonly [name: string]: string | Buffer }): Promise<DeskResponse>;
  /** Asks for a page until what it waits for is done. */
  whenDone(path: string): Promise<DeskResponse>;
  /** Types into the box. @returns the page that it leads to */
  find(text: string): Promise<DeskResponse & { readonly path: string }>;
}

/** What a browser says of a form of a page without referrers. */
export const OWN_FORM: Headers = {
  origin: 'null',
  'sec-fetch-site': 'same-origin',
  'content-type': 'application/x-www-form-urlencoded',
};

const PROGRAM = fileURLToPath(new URL('./main-in-october.ts', import.meta.url));

export async function testDesk(
  context: TestContext,
  storageFile: string,
  more: Partial<DeskOptions> = {},
): Promise<TestDesk> {
  const clock = testClock(NOON);
  const config = {
    storage: storageFile,
    timeZone: KIGALI,
    accessLedgerDays: 730,
    accessLedger: true,
    registryName: undefined,
  };
  const reported: string[] = [];
  const storage = openConfiguredStorage(config, clock);
  const report = (line: string) => void reported.push(line);
  const server = await openDesk(
    {
      config,
      clock,
      storage,
      report,
      secret: 'secret',
      numbersBefore: 0,
      program: PROGRAM,
      environment: plainEnvironment,
      ...more,
    },
    0,
  );
  context.after(() => server.close());
  const { port } = server;
  const send: TestDesk['send'] = (method, path, headers = {}, body = '') =>
    new Promise((resolve, reject) => {
      const sent = request({ port, method, path, agent: false, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, text: bytes.toString(), bytes });
        });
      });
      sent.on('error', reject).end(body);
    });
  const issueLink = (user = 'N. N. (tester)') => server.issueLink(user);
  const enter = async (user?: string, language?: Language) => {
    const opened = await send('GET', new URL(issueLink(user)).pathname, { host: `127.0.0.1:${port}` });
    const cookie = opened.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const chosen = language === undefined ? '' : `; desk_language_${port}=${language}`;
    return browse(send, port, cookie + chosen);
  };
  return { port, clock, reported, issueLink, send, enter };
}

function browse(send: TestDesk['send'], port: number, cookie: string): Browser {
  const own = { host: `127.0.0.1:${port}`, cookie };
  const get: Browser['get'] = (path, headers = {}) => send('GET', path, { ...own, ...headers });
  const post: Browser['post'] = async (path, fields, headers = {}) => {
    const token = tokenOf((await get('/')).text);
    const sent = Object.entries({ token, ...fields }).flatMap(([name, given]) =>
      [given].flat().map((value): [string, string] => [name, String(value)]),
    );
    const body = new URLSearchParams(sent).toString();
    return send('POST', path, { ...own, ...OWN_FORM, ...headers }, body);
  };
  return {
    cookie,
    get,
    post,
    async upload(path, files) {
      const body = new FormData();
      body.set('token', tokenOf((await get('/')).text));
      body.set('action', 'add');
      for (const [name, content] of Object.entries(files))
        body.append('file', new Blob([new Uint8Array(Buffer.from(content))]), name);
      const request = new Request('http://localhost', { method: 'POST', body });
      const headers = { ...OWN_FORM, 'content-type': request.headers.get('content-type') ?? '' };
      return send('POST', path, { ...own, ...headers }, Buffer.from(await request.arrayBuffer()));
    },
    async whenDone(path) {
      let answer = await get(path);
      while (answer.headers.refresh !== undefined) {
        await setTimeout(50);
        answer = await get(path);
      }
      return answer;
    },
    async find(text) {
      let path = '/';
      let answer = await post('/', { action: 'find', text });
      while (answer.status === 303) {
        path = answer.headers.location ?? '';
        answer = await get(path);
      }
      return { ...answer, path };
    },
  };
}

/** The token of the forms of a page. */
export const tokenOf = (page: string): string => /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
