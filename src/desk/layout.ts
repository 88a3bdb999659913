/** The frame of every page: menu, search box, languages. */

import { type Config, namedRegistry } from '../runtime/config.ts';
import { type Html, html } from '../values/html.ts';
import { LANGUAGE_NAMES, LANGUAGES, type Language, onPage } from '../values/language.ts';
import type { Text } from '../values/message.ts';
import { withCommands } from './parts.ts';
import type { ActionNotice } from './screen.ts';
import { IDLE_MS, WARNING_MS } from './sessions.ts';

/** Parts that only pages of a session have. */
export interface Around {
  readonly token: string;
  readonly user: string;
  readonly menu: readonly { readonly path: string; readonly label: Text }[];
  readonly path: string;
  readonly notice: ActionNotice | undefined;
  readonly searched?: string | undefined;
}

interface Framed {
  readonly language: Language;
  readonly config: Pick<Config, 'storage' | 'registryName'>;
  readonly title: Text;
  readonly body: Html;
  readonly around?: Around | undefined;
}

type Say = (text: Text) => string;

export function layout({ language, config, title, body, around }: Framed): Html {
  const { registryName: registry } = config;
  const say: Say = (text) => onPage(text, language);
  return html`<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${say(title)} · ${registry ?? say('Registry desk')}</title>
<link rel="icon" href="/assets/icon.svg">
<link rel="stylesheet" href="/assets/desk.css">
<script type="module" src="/assets/desk.js"></script>
</head>
<body>
<a class="skip" href="#main">${say('Skip to the content')}</a>
${registry !== undefined && html`<p class="registry">${registry}</p>`}
${around && head(say, around)}
<main id="main" tabindex="-1">
${around?.notice && done(say, around.notice, namedRegistry(config))}
${body}
</main>
${around && foot(say, around, language)}
${around && idle(say)}
</body>
</html>`;
}

const done = (say: Say, { text, operationId, another }: ActionNotice, db: string | undefined): Html =>
  html`<p class="told" role="status">${withCommands(say(text), db)}${
    operationId !== undefined && html` <a href="/imports/${operationId}">${say('Undo…')}</a>`
  }${another !== undefined && html` <a href="${another}">${say('Enter another')}</a>`}</p>`;

const head = (say: Say, { token, menu, path, searched }: Around): Html => html`<header class="top">
<nav aria-label="${say('Menu')}"><ul>${menu.map(
  (entry) =>
    html`<li><a href="${entry.path}"${path === entry.path && html` aria-current="page"`}
>${say(entry.label)}</a></li>`,
)}</ul></nav>
${path !== '/' && findBox(say, token, searched)}
</header>`;

export const findBox = (
  say: Say,
  token: string,
  searched = '',
): Html => html`<form class="find" method="post" action="/" role="search">
<input type="hidden" name="token" value="${token}"><input type="hidden" name="action" value="find">
<label for="find" class="unseen">${say('Find a person or a cooperative')}</label>
<input id="find" name="text" type="search" required maxlength="200" autocomplete="off" spellcheck="false"
 value="${searched}" aria-keyshortcuts="/" placeholder="${say('Number, name, phone')}">
<button>${say('Find')}</button>
</form>`;

/** Warnings about the end of the session, hidden until assets/idle.js shows one. */
const idle = (
  say: Say,
): Html => html`<div id="idle" role="alert" data-life="${IDLE_MS}" data-warning="${WARNING_MS}"
 hidden>
<p data-when="soon">
${say('This session ends in five minutes, because it has not been used.')}</p>
<p data-when="ended">${say('Your session has ended. Your input is still on this page.')}
${say('Open the desk again in this browser, then continue here.')}</p>
<button type="button">${say('Go on')}</button></div>`;

const foot = (say: Say, { token, user, path }: Around, language: Language): Html => html`<footer>
<form method="post" action="/language">
<input type="hidden" name="token" value="${token}"><input type="hidden" name="back" value="${path}">
${LANGUAGES.map((choice) =>
  choice === language
    ? html`<b lang="${choice}">${LANGUAGE_NAMES[choice]}</b> `
    : html`<button class="plain" name="language" value="${choice}" lang="${choice}"
>${LANGUAGE_NAMES[choice]}</button> `,
)}
</form>
<form method="post" action="/leave">
<input type="hidden" name="token" value="${token}">
<span>${say('Changes are recorded under:')} <b>${user}</b></span>
<button class="plain">${say('Leave')}</button>
</form>
</footer>`;
