/**
 * Pages in Chromium, as people see them: narrow and wide, light and dark. Whatever a page should never do
 * fails the test that visits it.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const HEIGHT = 800;
const NARROW = { width: 360, height: HEIGHT };
const WIDE = { width: 1280, height: HEIGHT };
/** What is left of the wide one at a zoom of 200 %. */
const ZOOMED = { width: 640, height: HEIGHT / 2 };
const LOOKS = [NARROW, WIDE].flatMap((size) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ size, colorScheme })),
);
/** A national ID has 16 digits. */
const LONG_NUMBER = /\d{13}/;
/** In which a page has to end what it does; much longer than that takes. */
const TIMEOUT_MS = 30_000;
/** A folder for a picture of each page; none are kept when it is not set. */
const PICTURES = process.env.PICTURES;

export interface Visit {
  readonly page: Page;
  /** Checks what is shown now in each look; call it wherever a person would stop and look. */
  check(name: string): Promise<void>;
  /** Only keeps a picture: of a place of a page that was checked. */
  picture(name: string): Promise<void>;
}

export interface VisitOptions extends Pick<BrowserContextOptions, 'javaScriptEnabled'> {
  /** Where the pages are; a request to anywhere else fails the test. */
  readonly origin: string;
  /** The language that the browser asks for. */
  readonly locale?: string;
  /** In which width it begins, and goes on after each check. */
  readonly isNarrow?: boolean;
}

/**
 * Visits pages in a session of its own; what is checked is checked in each width and colour scheme.
 * @throws AssertionError for an error in the console, such as a violation of the CSP, for a request to
 *   elsewhere, a national ID in an address or a title, and for what `check` finds
 */
export async function visitInEachLook(
  context: TestContext,
  { origin, locale = 'en', isNarrow = false, ...more }: VisitOptions,
  visit: (visit: Visit) => Promise<void>,
): Promise<void> {
  const browser = await openBrowser(context);
  const viewport = isNarrow ? NARROW : WIDE;
  const session = await browser.newContext({ locale, viewport, ...more });
  session.setDefaultTimeout(TIMEOUT_MS);
  const faults: string[] = [];
  session.on('page', (page) => watch(page, origin, faults));
  const page = await session.newPage();
  await visit({
    page,
    async check(name) {
      assert.doesNotMatch(await page.title(), LONG_NUMBER);
      await inEachLook(page, `${name}-${locale}`, checkLook);
      await page.setViewportSize(ZOOMED);
      await assertFits(page, `${name}-${locale}, zoomed`);
      await page.setViewportSize(viewport);
      assert.deepEqual(faults, [], name);
    },
    picture: (name) => inEachLook(page, `${name}-${locale}`, keepPicture),
  });
  await session.close();
  assert.deepEqual(faults, []);
}

const CHROMIUM = '/usr/bin/chromium';

export async function openBrowser(context: Pick<TestContext, 'after'>): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error('Chromium is missing: apt-get install chromium');
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    // Its sandbox does not work for root, as whom containers run.
    chromiumSandbox: process.getuid?.() !== 0,
  });
  context.after(() => browser.close());
  return browser;
}

async function inEachLook(
  page: Page,
  name: string,
  work: (page: Page, name: string) => Promise<void>,
): Promise<void> {
  for (const { size, colorScheme } of LOOKS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await work(page, `${name}-${size.width}-${colorScheme}`);
  }
}

/** @param faults gets what goes wrong on the page from now on */
function watch(page: Page, origin: string, faults: string[]): void {
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) faults.push(`request to ${url}`);
  });
  page.on('framenavigated', (frame) => {
    if (LONG_NUMBER.test(frame.url())) faults.push(`a long number in ${frame.url()}`);
  });
}

async function keepPicture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}

async function assertFits(page: Page, name: string): Promise<void> {
  const [shown, width] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth];
  });
  assert.ok(Number(shown) <= Number(width), `${name} is ${shown} pixels wide, on ${width}`);
}

async function checkLook(page: Page, name: string): Promise<void> {
  await keepPicture(page, name);
  await assertFits(page, name);
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run({
      ...{ preload: false, resultTypes: ['violations'] },
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      rules: { 'target-size': { enabled: true } },
    });
    return violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0]?.html }));
  });
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(serious, [], name);
}
