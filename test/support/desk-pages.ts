/** Every page of the desk, found by its links: a new screen is visited without being named. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { RECORDED } from '../../src/browse/cooperative-list-pages.ts';
import { createRouter } from '../../src/desk/desk-requests.ts';
import { SCREENS } from '../../src/desk-screens.ts';
import type { Language } from '../../src/values/language.ts';
import { type Browser, type DeskResponse, testDesk } from './desk.ts';
import { sendEveryForm } from './desk-forms.ts';
import { give, SAMPLES_MS, submit } from './desk-import.ts';
import { untranslated } from './desk-words.ts';
import { members, nid } from './importing.ts';
import { rowsOfEverything } from './rows-of-everything.ts';

const RECORDED_PATHS = Object.values(RECORDED).map(({ path }) => path);

/** Rows of a list that are opened; those that are linked are counted. */
const OPENED = 2;

export interface VisitedPages {
  /** Paths of screens of which a page was made. */
  readonly screens: ReadonlySet<string>;
  /** How many addresses of the screen are linked, without what follows `?`. */
  linked(path: string): number;
  /** Screens with the actions of their forms that were sent. */
  readonly sent: ReadonlySet<string>;
  /** Sentences that are not in the language, with the page that first shows each. */
  readonly untranslated: ReadonlyMap<string, string>;
}

/** @returns the page of a file that was imported, and the import undone */
async function undoneFile(browser: Browser): Promise<string> {
  const { path } = await give(browser, 'undone.csv', members(`C-1,${nid(999_999)},X-2,Keza`));
  await submit(browser, path, 'check');
  const { text } = await submit(browser, path, 'import');
  const [, recorded = ''] = /href="(\/imports\/\d+)"/.exec(text) ?? [];
  await submit(browser, recorded, 'plan');
  await submit(browser, recorded, 'undo');
  return path;
}

export interface Visiting {
  readonly language?: Language;
  /** Whether the forms of the pages are sent too, which changes the registry. */
  readonly sendsForms?: boolean;
}

/**
 * @throws AssertionError for a page that is not there, or shows what is not a value
 */
export async function visitEveryPage(
  context: TestContext,
  rows: number,
  { language = 'en', sendsForms = false }: Visiting = {},
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
    // Each page of a list, some of its rows, some pages of entries, and of lists in other orders.
    const isRow = path.includes(':') && (searchParams.size === 0 || searchParams.has('list'));
    const isOfEntries = path === '/person/:person' || RECORDED_PATHS.includes(path);
    const isSome = searchParams.size > 0 && (isOfEntries || searchParams.has('sort'));
    const most = isRow ? OPENED : isSome ? 3 * OPENED : Number.POSITIVE_INFINITY;
    const kind = isSome ? `${path}?` : path;
    const count = (opened.get(kind) ?? 0) + 1;
    if (known.has(address) || count > most) return;
    if (isRow || isSome) opened.set(kind, count);
    known.add(address);
    pending.push(address);
  }

  for (const text of [nid(1), 'Keza', '0780010000', 'C-1/M-1', 'Cooperative', 'Zzyzx Zzyzx'])
    follow((await browser.find(text)).path);
  for (const { path, actions = {} } of SCREENS)
    if ('filter' in actions && !path.includes(':'))
      follow((await browser.post(path, { action: 'filter', text: 'coo' })).headers.location ?? '');
  if (rows > 0) {
    const header = 'cooperative_code,member_code,delivered_at,kg,full_name';
    // A number with too many decimals, which is refused until a button rounds its column.
    const file = [header, 'C-1,M-1,2025-01-01,12.34567,Keza', 'C-1,M-1,2025-01-02,12,Keza'].join('\n');
    const { path: given } = await give(browser, 'production.csv', file);
    await submit(browser, given, 'check');
    follow(given);
    follow(`${given}/rejects`);
    follow(await undoneFile(browser));
  }
  const screens = new Set<string>();
  const texts: string[] = [];
  const faults = new Map<string, string>();
  function check({ status, headers, text }: DeskResponse, where: string): void {
    assert.ok(status < 500, `${where}: ${desk.reported.join('')}`);
    // A file to keep is not a page.
    if (!String(headers['content-type']).startsWith('text/html')) return;
    assert.doesNotMatch(text, /\bundefined\b|\bNaN\b|Invalid Date|\[object|1 Jan 1970, /, where);
    for (const fault of language === 'en' ? [] : untranslated(text, language))
      if (!faults.has(fault)) faults.set(fault, where);
    texts.push(text);
  }
  for (let address = pending.shift(); address !== undefined; address = pending.shift()) {
    const page = await browser.whenDone(address);
    assert.equal(page.status, 200, `${address} with ${rows} rows: ${desk.reported.join('')}`);
    check(page, address);
    screens.add(screenOf(new URL(address, 'http://desk').pathname)?.screen.path ?? '');
    for (const [, link = ''] of page.text.matchAll(/ href="([^"#]*)"/g))
      follow(link.replaceAll('&amp;', '&'));
  }
  const sent = sendsForms
    ? await sendEveryForm(browser, texts, join(place.folder, 'backups'), check)
    : new Set<string>();
  assert.deepEqual(desk.reported, []);
  return { screens, sent, untranslated: faults, linked: (path) => linked.get(path)?.size ?? 0 };
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

/** Forms that are not sent. */
const NOT_SENT: readonly string[] = [
  // It takes files, which were given before.
  '/import add',
  // It is shown only while the command is at work.
  '/import/:file stop',
];

/** @throws AssertionError unless each action of each screen was asked for by a form */
export function assertAllSent({ sent }: VisitedPages): void {
  const actions = SCREENS.flatMap(({ path, actions: of = {} }) =>
    Object.keys(of).map((action) => `${path} ${action}`),
  );
  assert.deepEqual(
    actions.filter((action) => !sent.has(action)),
    NOT_SENT,
  );
}
