/** Handles requests to the desk: checks browser and session, and sends the page of the requested screen. */

import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { accessByUser } from '../access/access-ledger.ts';
import { namedRegistry } from '../runtime/config.ts';
import { nowSeconds } from '../runtime/scheduler.ts';
import { type Awaitable, RegistryError } from '../values/errors.ts';
import { type Html, html, toDocument } from '../values/html.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { findLanguage, type Language, onPage } from '../values/language.ts';
import { type InPlaces, Message, say, type Text, type Values } from '../values/message.ts';
import { type Around, layout } from './layout.ts';
import { writingIn } from './localized-formats.ts';
import { withCommands } from './parts.ts';
import { readForm, TooLarge } from './read-form.ts';
import type {
  Continuation,
  DeskDependencies,
  Download,
  Form,
  Page,
  Screen,
  Session,
  Visit,
} from './screen.ts';
import { isSameSecret, Sessions } from './sessions.ts';

// Without a session, a page says why there is none, and how to open the desk again (docs/desk.md#coming-back)

type Notice = readonly [heading: Text, ...sentences: Text[]];

/** Only the last instruction needs a shell. */
const COME_BACK: readonly Text[] = [
  say('Open "Registry desk" among the programs of this machine, if it is there.'),
  say('If the desk is on another machine, ask its administrator for a new link.'),
  say('Run `registry desk` again and open the link that it prints. A link works once, within a minute.'),
];

const NO_SESSION: Notice = [
  say('Your session has ended'),
  say('A session ends with “Leave”, and after 30 minutes without a request. Saved changes are kept.'),
  ...COME_BACK,
];
/** For a form sent after the end of the session. If scripts run, assets/idle.js usually stops such forms. */
const NOT_SAVED: Notice = [
  say('Your session has ended'),
  say('The form that you just sent was not saved. Keep this page, and open the desk again in this browser.'),
  say('Then reload this page: the browser sends it once more.'),
  ...COME_BACK,
];
const USED_LINK: Notice = [say('This link does not work any more'), ...COME_BACK];
const NOT_OUR_FORM: Notice = [
  say('This form was not sent by the desk'),
  say('Nothing was changed. Go back, reload the page and send it again.'),
];
const NOT_FOUND: readonly [heading: Message, sentence: Text] = [
  say('Page not found'),
  say('The page no longer exists, or belongs to an earlier session. Search again.'),
];
const TOO_LARGE: Notice = [
  say('This file is too large for a form'),
  say('Drop it on the page, or import it with `registry import` in the terminal.'),
];
const FAILED: Notice = [
  say('This page cannot be shown'),
  say('The terminal in which the desk runs shows the error.'),
];
const LEFT: Notice = [say('You have left the desk'), ...COME_BACK];

// Visits: requests as screens see them

async function visiting<T>(
  desk: DeskDependencies,
  request: Pick<Visit, 'session' | 'language' | 'places' | 'query'>,
  work: (visit: Visit) => Awaitable<T>,
): Promise<T> {
  const opened: { close(): void }[] = [];
  const { language } = request;
  const write = writingIn(language, desk.storage.zone);
  const visit: Visit = {
    ...request,
    desk,
    now: nowSeconds(desk.clock),
    write,
    say: <const Template extends string>(template: Template, ...[values]: InPlaces<Template>) =>
      onPage(new Message(template, (values ?? {}) as Values), language, write.written),
    translate: (text) => onPage(text, language, write.written),
    use(open) {
      const store = open(desk.storage);
      opened.push(store);
      return store;
    },
  };
  try {
    return await work(visit);
  } finally {
    for (const store of opened.reverse()) store.close();
  }
}

// Responses and their headers

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: OutgoingHttpHeaders = {},
): void {
  const length = { 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...HEADERS, ...length, ...headers });
  // node:http omits the body of a response to HEAD.
  response.end(body);
}

const sendPage = (
  response: ServerResponse,
  status: number,
  page: Html,
  headers: OutgoingHttpHeaders = {},
): void =>
  send(response, status, toDocument(page), { 'Content-Type': 'text/html; charset=utf-8', ...headers });

const goTo = (response: ServerResponse, path: string, headers: OutgoingHttpHeaders = {}): void =>
  send(response, 303, '', { Location: path, ...headers });

/** Stops if the browser disconnects. @throws (as a rejection) errors of `parts` */
async function sendDownload(response: ServerResponse, { fileName, type, parts }: Download): Promise<void> {
  const name = `attachment; filename="${fileName}"`;
  response.writeHead(200, { ...HEADERS, 'Content-Type': type, 'Content-Disposition': name });
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  for await (const part of parts) {
    // Copied, because the producer of the parts may reuse the buffer.
    if (!response.write(Buffer.from(part)))
      await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
    if (gone.signal.aborted) return;
  }
  response.end();
}

// Assets: style sheet, scripts and icon of the pages

const FOLDER = fileURLToPath(new URL('./assets/', import.meta.url));

const TYPES: { readonly [extension: string]: string } = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads all assets in advance, so that no request can choose a file to read. */
const readAssets = () =>
  new Map<string, { readonly type: string; readonly content: Buffer }>(
    readdirSync(FOLDER).flatMap((name) => {
      const type = TYPES[extname(name)];
      return type === undefined
        ? []
        : [[`/assets/${name}`, { type, content: readFileSync(join(FOLDER, name)) }] as const];
    }),
  );

/** Excludes national IDs, which no address may contain. */
const PLACE = '(?!\\d{13})[A-Za-z0-9-]{1,32}';

export function createRouter(screens: readonly Screen[]) {
  const patterns = screens.map((screen) => ({
    screen,
    pattern: new RegExp(`^${screen.path.replace(/:(\w+)/g, `(?<$1>${PLACE})`)}$`),
  }));
  return (path: string): { screen: Screen; places: Visit['places'] } | undefined => {
    for (const { screen, pattern } of patterns) {
      const match = pattern.exec(path);
      if (match !== null) return { screen, places: { ...match.groups } as Visit['places'] };
    }
    return undefined;
  };
}

// Protection against other sites. Their pages can make the browser send requests to the desk, and their host
// names may resolve to 127.0.0.1 (docs/desk.md#security).

/** Returns the accepted Host headers. Because they contain the port, a tunnel must not change the port. */
const hostsOf = (port: number): readonly string[] => [`127.0.0.1:${port}`, `localhost:${port}`];

/** The origin may be `null`, because the pages send no referrer. Then the header `Sec-Fetch-Site` decides. */
export function isOurForm(headers: IncomingHttpHeaders, port: number): boolean {
  const { origin = 'null' } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === 'null') return site === 'same-origin';
  return hostsOf(port).includes(origin.toLowerCase().replace(/^http:\/\//, ''));
}

// Cookies. Browsers share cookies between all ports of a host, so each name contains the port.

function readCookie(header: string | undefined, name: string): string | undefined {
  const cookie = header?.split('; ').find((text) => text.startsWith(`${name}=`));
  return cookie?.slice(name.length + 1);
}

const sessionCookie = (port: number): string => `desk_${port}`;
const languageCookie = (port: number): string => `desk_language_${port}`;

/** @param seconds lifetime of the cookie; by default, until the browser is closed */
const setCookie = (name: string, value: string, seconds?: number): string =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${seconds === undefined ? '' : `; Max-Age=${seconds}`}`;
const YEAR_SECONDS = 365 * 86_400;

// Access records, written before a page is sent (docs/ledger.md)

/** @throws RegistryError `unavailable` if the access cannot be recorded; then the page must not be sent */
async function recordPage(visit: Visit, screen: Screen, shows: Page['shows']): Promise<void> {
  if (screen.personal === 'none' || shows === 'nobody') return;
  if (shows === undefined) throw new Error(`The screen ${screen.path} does not say whose data it shows.`);
  const { clock, ledger } = visit.desk;
  await ledger?.record([accessByUser(clock, visit.session.user, { route: `desk ${screen.path}`, ...shows })]);
}

/** @param accepted header `Accept-Language`, with languages and weights in any order */
function chooseLanguage(chosen: string | undefined, accepted = ''): Language {
  const preferences = accepted.split(',').map((preference) => {
    const [name = '', ...options] = preference.trim().toLowerCase().split(';');
    const weight = options.map((option) => /^\s*q=([0-9.]+)$/.exec(option)?.[1]).find(Boolean);
    return { name: name.split('-')[0] ?? '', weight: Number(weight ?? 1) };
  });
  const names = preferences.sort((one, other) => other.weight - one.weight).map(({ name }) => name);
  return [chosen ?? '', ...names].map(findLanguage).find((language) => language !== undefined) ?? 'en';
}

const HOST = '127.0.0.1';

export interface DeskServerOptions extends DeskDependencies {
  /** Prints an unexpected error, in which national IDs are hidden. */
  readonly report: (line: string) => void;
  /** Secret with which a second `registry desk` of the same user gets a link. */
  readonly secret: string;
  /** Numbers for persons and searches in the URLs of pages start after this one; by default, a random one. */
  readonly numbersBefore?: number;
}

interface DeskRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly port: number;
  readonly url: URL;
  readonly language: Language;
}

class DeskPages {
  private readonly options: DeskServerOptions;
  private readonly sessions: Sessions;
  private readonly findScreen: ReturnType<typeof createRouter>;
  private readonly assets = readAssets();

  constructor(options: DeskServerOptions) {
    this.options = options;
    this.sessions = new Sessions(options.clock, options.numbersBefore);
    this.findScreen = createRouter(options.screens);
  }

  issueLink(user: string, port: number): string {
    return `http://${HOST}:${port}/open/${this.sessions.issueLink(user)}`;
  }

  /** Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
    const chosen = readCookie(request.headers.cookie, languageCookie(port));
    const language = chooseLanguage(chosen, request.headers['accept-language']);
    try {
      const { method = '', url = '' } = request;
      if (!hostsOf(port).includes(request.headers.host?.toLowerCase() ?? ''))
        return void send(response, 403, WRONG_HOST, PLAIN);
      if (!['GET', 'HEAD', 'POST'].includes(method) || !url.startsWith('/'))
        return void send(response, 405, 'Only GET and POST.\n', { ...PLAIN, Allow: 'GET, HEAD, POST' });
      // Concatenated, because `new URL(url, base)` would take the start of a path `//…` for a host.
      const fullUrl = new URL(`http://${HOST}:${port}${url}`);
      await this.answerRequest({ request, response, port, language, url: fullUrl }, method === 'POST');
    } catch (error) {
      this.fail(response, language, error);
    }
  }

  private async answerRequest(received: DeskRequest, isPost: boolean): Promise<void> {
    const { request, response, url, port, language } = received;
    const asset = this.assets.get(url.pathname);
    if (asset !== undefined && !isPost)
      return send(response, 200, asset.content, { 'Content-Type': asset.type });
    if (url.pathname === '/link' && isPost) return await this.sendLink(received);
    if (url.pathname.startsWith('/open/')) return this.open(received);
    const secret = readCookie(request.headers.cookie, sessionCookie(port));
    const session = secret === undefined ? undefined : this.sessions.find(secret);
    if (secret === undefined || session === undefined)
      return sendPage(response, 401, this.notice(language, isPost ? NOT_SAVED : NO_SESSION));
    if (!isPost) return await this.answerVisit(received, session, undefined);
    const takesFiles = this.findScreen(url.pathname)?.screen.takesFiles;
    const form = isOurForm(request.headers, port) ? await readForm(request, takesFiles) : undefined;
    if (form === undefined || !isSameSecret(form.get('token'), session.token))
      return sendPage(response, 403, this.notice(language, NOT_OUR_FORM));
    if (url.pathname === '/session') return send(response, 204, '');
    if (url.pathname === '/language') return switchLanguage(received, form);
    if (url.pathname === '/leave') {
      this.sessions.end(secret);
      return sendPage(response, 200, this.notice(language, LEFT), {
        'Set-Cookie': setCookie(sessionCookie(port), '', 0),
        'Clear-Site-Data': '"cache"',
      });
    }
    await this.answerVisit(received, session, form);
  }

  /** For a second `registry desk` of the same user. Browsers cannot get a link: they lack the secret. */
  private async sendLink({ request, response, port }: DeskRequest): Promise<void> {
    const { authorization = '' } = request.headers;
    const form = isSameSecret(authorization, this.options.secret) ? await readForm(request) : undefined;
    if (form === undefined) return send(response, 403, '', PLAIN);
    send(response, 200, this.issueLink(form.get('user'), port), PLAIN);
  }

  /**
   * Sends no redirect, but a page that refreshes to `/`: if the user has clicked the link on another site,
   * browsers omit the strict cookie from a redirected request.
   */
  private open({ request, response, url, port, language }: DeskRequest): void {
    const secret = request.method === 'GET' ? this.sessions.open(url.pathname.slice(6)) : undefined;
    if (secret === undefined) {
      sendPage(response, 403, this.notice(language, USED_LINK));
      return;
    }
    const link = html`<p><a href="/">${onPage(say('Open the desk'), language)}</a></p>`;
    const page = this.layout(language, say('Registry desk'), link);
    const cookie = setCookie(sessionCookie(port), secret);
    sendPage(response, 200, page, { 'Set-Cookie': cookie, Refresh: '0; url=/' });
  }

  private async answerVisit(received: DeskRequest, session: Session, form: Form | undefined): Promise<void> {
    const { response, url, language } = received;
    const { screen, places } = this.findScreen(url.pathname) ?? {};
    const { actions = {} } = screen ?? {};
    const name = form?.get('action') ?? '';
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (screen === undefined || places === undefined || (form !== undefined && action === undefined))
      return this.sendNotFound(received, session);
    const request = { session, language, places, query: url.searchParams };
    const answer = await visiting(this.options, request, async (visit) => {
      const answer = await (form && action ? action(visit, form) : screen.read(visit));
      if (answer !== undefined && (!('goTo' in answer) || answer.shows !== undefined))
        await recordPage(visit, screen, answer.shows);
      if (answer !== undefined && 'parts' in answer) await sendDownload(response, answer);
      return answer;
    });
    if (answer === undefined) return this.sendNotFound(received, session);
    if ('parts' in answer) return;
    if ('goTo' in answer) return follow(response, session, answer);
    this.sendScreen(received, session, screen.title, answer);
  }

  private sendScreen(received: DeskRequest, session: Session, title: Message, page: Page): void {
    const { response, url, language } = received;
    const menu = this.options.screens.flatMap(({ path, menu: label }) =>
      label === undefined ? [] : [{ path, label }],
    );
    const { token, user, notice } = session;
    session.notice = undefined;
    const around = { token, user, menu, path: url.pathname, notice, searched: page.searched };
    const text = this.layout(language, page.title ?? title, page.body, around);
    const { status = 200, refreshSeconds } = page;
    sendPage(response, status, text, refreshSeconds ? { Refresh: String(refreshSeconds) } : {});
  }

  private sendNotFound(received: DeskRequest, session: Session): void {
    const [heading, sentence] = NOT_FOUND.map((text) => onPage(text, received.language));
    const body = html`<h1>${heading}</h1>
<p>${sentence}</p>`;
    // Pages contain their path. `/nothing` replaces the requested path, which may contain a national ID.
    const page = { body, status: 404 };
    const url = new URL('/nothing', received.url);
    this.sendScreen({ ...received, url }, session, NOT_FOUND[0], page);
  }

  private layout(language: Language, title: Text, body: Html, around?: Around): Html {
    return layout({ language, config: this.options.config, title, body, around });
  }

  private notice(language: Language, [heading, ...sentences]: Notice): Html {
    const db = namedRegistry(this.options.config);
    const texts = sentences.map((text) => html`<p>${withCommands(onPage(text, language), db)}</p>`);
    return this.layout(language, heading, html`<h1>${onPage(heading, language)}</h1>${texts}`);
  }

  private fail(response: ServerResponse, language: Language, error: unknown): void {
    if (response.headersSent) response.destroy();
    else if (error instanceof RegistryError && error.code === 'unavailable')
      sendPage(response, 503, this.notice(language, [say('Try again'), error.message]));
    else if (error instanceof TooLarge) sendPage(response, 413, this.notice(language, TOO_LARGE));
    else {
      const { stack = String(error) } = error as Error;
      this.options.report(`The desk could not make a page: ${hideIdentityCards(stack)}\n`);
      sendPage(response, 500, this.notice(language, FAILED));
    }
  }
}

function follow(response: ServerResponse, session: Session, continuation: Continuation): void {
  const { goTo: path, told: text, operationId, another } = continuation;
  session.notice = text === undefined ? undefined : { text, operationId, another };
  goTo(response, path);
}

function switchLanguage({ response, port }: DeskRequest, form: Form): void {
  const language = findLanguage(form.get('language'));
  const back = form.get('back');
  // Accepts only a path of the desk, never the address of another site.
  const path = /^\/(?:[A-Za-z0-9-]+\/)*[A-Za-z0-9-]*$/.test(back) ? back : '/';
  const cookie = language && setCookie(languageCookie(port), language, YEAR_SECONDS);
  goTo(response, path, cookie === undefined ? {} : { 'Set-Cookie': cookie });
}

const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' };
const WRONG_HOST =
  'The desk answers under http://127.0.0.1 and http://localhost with its own port only. ' +
  'Give a tunnel the same port at both ends.\n';

// The server, which listens on 127.0.0.1 only (docs/desk.md#security)

/** Limits for the headers and for the entire request, which may send a large file through a slow tunnel. */
const [HEADERS_MS, REQUEST_MS] = [10_000, 30 * 60_000];
const MAX_CONNECTIONS = 64;

export interface DeskServer {
  readonly port: number;
  /** Returns an address that works once, within a minute. @param user name to record with changes */
  issueLink(user: string): string;
  close(): Promise<void>;
}

/** @throws (as a rejection) the system's error if the server cannot listen on the port */
export async function listenForDesk(options: DeskServerOptions, port: number): Promise<DeskServer> {
  const pages = new DeskPages(options);
  const server = createServer({ headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void pages.answer(request, response, portOf(server));
  });
  server.listen(port, HOST);
  await once(server, 'listening');
  return {
    port: portOf(server),
    issueLink: (user) => pages.issueLink(user, portOf(server)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        // Responses take milliseconds, so connections that are left after a second are idle.
        setTimeout(() => server.closeAllConnections(), 1_000).unref();
      }),
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
