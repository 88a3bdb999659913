/** Pages without a session: why there is none, and how to come back (docs/desk.md#coming-back). */
import { say, type Text } from '../../domain/values/message.ts';
import { type Html, html } from '../../html/html.ts';
import { onPage } from '../../language/language.ts';
import { withCommands } from '../page/commands.ts';
import { type Framed, layout } from '../page/layout.ts';

/** What each page has, whatever it is about. */
export type Frame = Pick<Framed, 'language' | 'registry'>;

export type Notice = readonly [heading: Text, ...sentences: Text[]];

/** For somebody without a shell first. */
const COME_BACK: readonly Text[] = [
  say('If "Registry desk" is among the programs of this machine, open it there.'),
  say('If it is on another machine, ask those who look after that machine for a new link to the desk.'),
  say('Run `registry desk` again and open the link that it prints. A link works once, within a minute.'),
];

export const NO_SESSION: Notice = [
  say('The desk is closed here'),
  say('It closes when you leave it, and after 30 minutes without a request. What was saved is saved.'),
  ...COME_BACK,
];
/** In a browser without a script; with one, the form stays where it is (../assets/idle.js). */
export const NOT_SAVED: Notice = [
  say('The desk is closed here'),
  say('What you have just sent was not saved. Keep this page, and open the desk again in this browser.'),
  say('Then reload this page: the browser sends it once more.'),
  ...COME_BACK,
];
export const USED_LINK: Notice = [say('This link does not work any more'), ...COME_BACK];
export const NOT_OUR_FORM: Notice = [
  say('This form was not sent by the desk'),
  say('Nothing was changed. Go back, reload the page and send it again.'),
];
export const NOT_FOUND: readonly [heading: Text, sentence: Text] = [
  say('There is nothing here'),
  say('What stood here is gone, or was found in an earlier session. Search for it again.'),
];
export const TOO_LARGE: Notice = [
  say('This file is too large for a form'),
  say('Drop it on the page, or import it with `registry import` in the terminal.'),
];
export const FAILED: Notice = [
  say('This page could not be made'),
  say('What happened stands in the terminal in which the desk runs.'),
];
export const LEFT: Notice = [say('You have left the desk'), ...COME_BACK];

/** A page without a session. */
export function notice(frame: Frame, [heading, ...sentences]: Notice): Html {
  const said = sentences.map((each) => html`<p>${withCommands(onPage(each, frame.language))}</p>`);
  return layout({
    ...frame,
    title: heading,
    body: html`<h1>${onPage(heading, frame.language)}</h1>${said}`,
  });
}

export const entrance = (frame: Frame): Html =>
  layout({
    ...frame,
    title: say('Registry desk'),
    body: html`<p><a href="/">${onPage(say('Open the desk'), frame.language)}</a></p>`,
  });
