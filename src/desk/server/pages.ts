/** Which browser asks a desk, what for, and the page that answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import { RegistryError } from '../../domain/values/errors.ts';
import { say, type Text } from '../../domain/values/message.ts';
import { type Html, html } from '../../html/html.ts';
import { findLanguage, type Language, onPage } from '../../language/language.ts';
import { layout } from '../page/layout.ts';
import type { Continuation, DeskDependencies, Form, Page, Session } from '../visit/screen.ts';
import { readAssets } from './assets.ts';
import { chooseLanguage } from './choose-language.ts';
import { forget, languageCookie, readCookie, sessionCookie, setCookie, setLasting } from './cookies.ts';
import { isOurForm, isOurHost } from './guard.ts';
import {
  entrance,
  FAILED,
  type Frame,
  LEFT,
  NO_SESSION,
  NOT_FOUND,
  NOT_OUR_FORM,
  NOT_SAVED,
  type Notice,
  notice,
  TOO_LARGE,
  USED_LINK,
} from './notices.ts';
import { readForm, TooLarge } from './read-form.ts';
import { recordReading } from './record.ts';
import { goTo, send, sendDownload, sendPage } from './respond.ts';
import { createRouter, type Found } from './router.ts';
import { isSameSecret, Sessions } from './sessions.ts';
import { visiting } from './visits.ts';

export const HOST = '127.0.0.1';

export interface DeskServerOptions extends DeskDependencies {
  /** Takes a line about what should not have happened: never a name, number or address. */
  readonly report: (line: string) => void;
  /** Who knows it may ask for links: another `registry desk` of the same user. */
  readonly secret: string;
  /** After which number those of persons and searches begin; any, unless it is given. */
  readonly numbersBefore?: number;
}

/** What is known of a request before its screen. */
interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly port: number;
  readonly url: URL;
  readonly language: Language;
}

export class DeskPages {
  private readonly options: DeskServerOptions;
  private readonly sessions: Sessions;
  private readonly findScreen: (path: string) => Found | undefined;
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
      if (!isOurHost(request.headers, port)) return void send(response, 403, WRONG_HOST, PLAIN);
      if (!['GET', 'HEAD', 'POST'].includes(method) || !url.startsWith('/'))
        return void send(response, 405, 'Only GET and POST.\n', { ...PLAIN, Allow: 'GET, HEAD, POST' });
      // Not relative to the address: `//` would begin another host.
      const asked = { request, response, port, language, url: new URL(`http://${HOST}:${port}${url}`) };
      await this.answerAsked(asked, method === 'POST');
    } catch (error) {
      this.fail(response, language, error);
    }
  }

  private async answerAsked(asked: Asked, isPost: boolean): Promise<void> {
    const { request, response, url, port, language } = asked;
    const asset = this.assets.get(url.pathname);
    if (asset !== undefined && !isPost)
      return send(response, 200, asset.content, { 'Content-Type': asset.type });
    if (url.pathname === '/link' && isPost) return await this.sendLink(asked);
    if (url.pathname.startsWith('/open/')) return this.open(asked);
    const secret = readCookie(request.headers.cookie, sessionCookie(port));
    const session = secret === undefined ? undefined : this.sessions.find(secret);
    if (secret === undefined || session === undefined)
      return sendPage(response, 401, this.notice(language, isPost ? NOT_SAVED : NO_SESSION));
    if (!isPost) return await this.answerVisit(asked, session, undefined);
    const takesFiles = this.findScreen(url.pathname)?.screen.takesFiles;
    const form = isOurForm(request.headers, port) ? await readForm(request, takesFiles) : undefined;
    if (form === undefined || !isSameSecret(form.get('token'), session.token))
      return sendPage(response, 403, this.notice(language, NOT_OUR_FORM));
    if (url.pathname === '/session') return send(response, 204, '');
    if (url.pathname === '/language') return switchLanguage(asked, form);
    if (url.pathname === '/leave') {
      this.sessions.end(secret);
      return sendPage(response, 200, this.notice(language, LEFT), {
        'Set-Cookie': forget(sessionCookie(port)),
        'Clear-Site-Data': '"cache"',
      });
    }
    await this.answerVisit(asked, session, form);
  }

  /** For another `registry desk` of the same user: a browser cannot know the secret. */
  private async sendLink({ request, response, port }: Asked): Promise<void> {
    const { authorization = '' } = request.headers;
    const form = isSameSecret(authorization, this.options.secret) ? await readForm(request) : undefined;
    if (form === undefined) return send(response, 403, '', PLAIN);
    send(response, 200, this.issueLink(form.get('user'), port), PLAIN);
  }

  /** A page that leads on, not a redirect: the cookie is kept from other sites, and whoever came from one. */
  private open({ request, response, url, port, language }: Asked): void {
    const opened = request.method === 'GET' ? this.sessions.open(url.pathname.slice(6)) : undefined;
    if (opened === undefined) {
      sendPage(response, 403, this.notice(language, USED_LINK));
      return;
    }
    const cookie = setCookie(sessionCookie(port), opened);
    sendPage(response, 200, entrance(this.frame(language)), { 'Set-Cookie': cookie, Refresh: '0; url=/' });
  }

  private async answerVisit(asked: Asked, session: Session, form: Form | undefined): Promise<void> {
    const { response, url, language } = asked;
    const found = this.findScreen(url.pathname);
    const action = form && found?.screen.actions?.[form.get('action')];
    if (found === undefined || (form !== undefined && action === undefined))
      return this.sendNotFound(asked, session);
    const visited = { session, language, places: found.places, query: url.searchParams };
    const result = await visiting(this.options, visited, async (visit) => {
      const answer = await (form && action ? action(visit, form) : found.screen.read(visit));
      if (answer === undefined) return undefined;
      const isContinuation = 'goTo' in answer;
      if (!isContinuation || answer.shows !== undefined) await recordReading(visit, found.screen, answer);
      if (isContinuation) return answer;
      return 'parts' in answer ? sendDownload(response, answer).then(() => 'sent' as const) : answer;
    });
    if (result === 'sent') return;
    if (result === undefined) return this.sendNotFound(asked, session);
    if ('goTo' in result) return follow(response, session, result);
    this.sendScreen(asked, session, found.screen.title, result);
  }

  private sendScreen(asked: Asked, session: Session, title: Text, page: Page): void {
    const { response, url, language } = asked;
    const menu = this.options.screens.flatMap(({ path, menu: label }) =>
      label === undefined ? [] : [{ path, label }],
    );
    const { token, user, told } = session;
    session.told = undefined;
    const around = { token, user, menu, path: url.pathname, told, searched: page.searched };
    const framed = { ...this.frame(language), title: page.title ?? title, body: page.body, around };
    const { status = 200, refreshSeconds } = page;
    sendPage(response, status, layout(framed), refreshSeconds ? { Refresh: String(refreshSeconds) } : {});
  }

  private sendNotFound(asked: Asked, session: Session): void {
    const [heading, sentence] = NOT_FOUND.map((text) => onPage(text, asked.language));
    const body = html`<h1>${heading}</h1>
<p>${sentence}</p>`;
    // Not its path, which the page would repeat: whatever somebody has typed there.
    const page = { body, status: 404 };
    this.sendScreen({ ...asked, url: new URL('/nothing', asked.url) }, session, NOT_FOUND[0], page);
  }

  private frame(language: Language): Frame {
    return { language, registry: this.options.config.registryName };
  }

  private notice(language: Language, said: Notice): Html {
    return notice(this.frame(language), said);
  }

  private fail(response: ServerResponse, language: Language, error: unknown): void {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error instanceof RegistryError && error.code === 'unavailable') {
      sendPage(response, 503, this.notice(language, [say('Try again'), error.message]));
      return;
    }
    if (error instanceof TooLarge) {
      sendPage(response, 413, this.notice(language, TOO_LARGE));
      return;
    }
    const { stack = String(error) } = error as Error;
    this.options.report(`The desk could not make a page: ${hideIdentityCards(stack)}\n`);
    sendPage(response, 500, this.notice(language, FAILED));
  }
}

function follow(response: ServerResponse, session: Session, continuation: Continuation): void {
  const { goTo: path, told: text, operationId, another } = continuation;
  session.told = text === undefined ? undefined : { text, operationId, another };
  goTo(response, path);
}

function switchLanguage({ response, port }: Asked, form: Form): void {
  const language = findLanguage(form.get('language'));
  const back = form.get('back');
  // Only a path of the desk, never the address of another site.
  const path = /^\/(?:[A-Za-z0-9-]+\/)*[A-Za-z0-9-]*$/.test(back) ? back : '/';
  const cookie = language && setLasting(languageCookie(port), language);
  goTo(response, path, cookie === undefined ? {} : { 'Set-Cookie': cookie });
}

const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' };
const WRONG_HOST =
  'The desk answers under http://127.0.0.1 and http://localhost with its own port only. ' +
  'Give a tunnel the same port at both ends.\n';
