/** Every page of the desk, found by its links: a new screen is visited without being named. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { SCREENS } from '../../src/desk/desk.ts';
import { createRouter } from '../../src/desk/server/router.ts';
import type { Language } from '../../src/language/language.ts';
import { testDesk } from './desk.ts';
import { give, SAMPLES_MS, submit } from './desk-import.ts';
import { members, nid } from './importing.ts';
import { rowsOfEverything } from './rows-of-everything.ts';

/** Rows of a list that are opened; those that are linked are counted. */
const OPENED = 2;

export interface VisitedPages {
  /** Paths of screens of which a page was made. */
  readonly screens: ReadonlySet<string>;
  /** How many addresses of the screen are linked, without what follows `?`. */
  linked(path: string): number;
}

/** Words of English that are none of French or Kinyarwanda. */
const ENGLISH =
  /(?<![\w'’-])(?:the|of|is|was|were|has|been|with|this|that|which|from|there|and|not)(?![\w'’-])/i;

/** What a person reads on a page: neither code nor what somebody has typed in another language. */
const sentencesOf = (page: string): string[] =>
  page
    .replace(/<(code|title|select|script)\b.*?<\/\1>/gs, ' ')
    .split(/<[^>]*>/)
    .map((text) => text.trim())
    .filter((text) => text !== '');

/** @throws AssertionError for what reads like English, and a line that begins with a colon */
export function assertTranslated(page: string, where: string): void {
  const faults = sentencesOf(page).filter((text) => ENGLISH.test(text) || /^[:;!?]/.test(text));
  assert.deepEqual(faults, [], where);
}

/**
 * @param language of the pages, in which every sentence has to be
 * @throws AssertionError for a page that is not there, or shows what is not a value
 */
export async function visitEveryPage(
  context: TestContext,
  rows: number,
  language: Language = 'en',
): Promise<VisitedPages> {
  const place = await rowsOfEverything(context, rows);
  const desk = await testDesk(context, place.databaseFile);
  desk.clock.advance(SAMPLES_MS - desk.clock.now());
  const browser = await desk.enter(undefined, language);
  const screenOf = createRouter(SCREENS);
  const pending = ['/'];
  const linked = new Map<string, Set<string>>();
  const known = new Set<string>(pending);
  const opened = new Map<string, number>();

  function follow(address: string): void {
    const { pathname, searchParams } = new URL(address, 'http://desk');
    const path = screenOf(pathname)?.screen.path;
    if (path === undefined) return;
    linked.set(path, (linked.get(path) ?? new Set()).add(pathname));
    // Each page of a list, some of its rows, and some pages of the entries of a person.
    const isRow = searchParams.size === 0 && path.includes(':');
    const isEntries = searchParams.size > 0 && path === '/person/:person';
    const most = isRow ? OPENED : isEntries ? 3 * OPENED : Number.POSITIVE_INFINITY;
    const count = (opened.get(path) ?? 0) + 1;
    if (known.has(address) || count > most) return;
    if (isRow || isEntries) opened.set(path, count);
    known.add(address);
    pending.push(address);
  }

  for (const text of [nid(1), 'Keza', '0780010000', 'C-1/M-1', 'Cooperative', 'Nobody at all'])
    follow((await browser.find(text)).path);
  for (const { path, actions = {} } of SCREENS)
    if ('filter' in actions && !path.includes(':'))
      follow((await browser.post(path, { action: 'filter', text: 'coo' })).headers.location ?? '');
  if (rows > 0) {
    const file = members('C-1,123,X-1,Keza', `C-1,${nid(1)},M-1,Keza`);
    const { path: given } = await give(browser, 'members.csv', file);
    await submit(browser, given, 'check');
    follow(given);
    follow(`${given}/rejects`);
  }
  const screens = new Set<string>();
  for (let address = pending.shift(); address !== undefined; address = pending.shift()) {
    const page = await browser.whenDone(address);
    assert.equal(page.status, 200, `${address} with ${rows} rows: ${desk.reported.join('')}`);
    assert.doesNotMatch(page.text, /\bundefined\b|\bNaN\b|Invalid Date|\[object|1 Jan 1970, /, address);
    // A file to keep is not a page.
    const isPage = String(page.headers['content-type']).startsWith('text/html');
    if (language !== 'en' && isPage) assertTranslated(page.text, `${address} in ${language}`);
    screens.add(screenOf(new URL(address, 'http://desk').pathname)?.screen.path ?? '');
    for (const [, link = ''] of page.text.matchAll(/ href="([^"#]*)"/g))
      follow(link.replaceAll('&amp;', '&'));
  }
  assert.deepEqual(desk.reported, []);
  return { screens, linked: (path) => linked.get(path)?.size ?? 0 };
}

/** @throws AssertionError unless each screen was visited, and each row of its lists is linked by some page */
export function assertComplete({ screens, linked }: VisitedPages, rows: number): void {
  assert.deepEqual(
    SCREENS.filter(({ path }) => !screens.has(path)).map(({ path }) => path),
    [],
  );
  for (const path of ['/cooperative/:code', '/imports/:import', '/key/:key', '/person/:person'])
    assert.ok(linked(path) >= rows, `${path}: ${linked(path)} of ${rows} are reached by links`);
}
