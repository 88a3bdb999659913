/**
 * Pages in Chromium, as people see them: narrow and wide, light and dark. Whatever a page should never do
 * fails the test that visits it.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

const WIDTHS = [360, 1280];
const SCHEMES = ['light', 'dark'] as const;
const HEIGHT = 800;
/** A folder for a picture of each page; none are kept when it is not set. */
const PICTURES = process.env.PICTURES;

export interface Visit {
  readonly page: Page;
  /** Checks what is shown now; call it wherever a person would stop and look. */
  check(name: string): Promise<void>;
  /** Only keeps a picture: of a place of a page that was checked. */
  picture(name: string): Promise<void>;
}

export interface VisitOptions {
  /** Where the pages are; a request to anywhere else fails the test. */
  readonly origin: string;
  /** The language that the browser asks for. */
  readonly locale?: string;
}

/**
 * Does the same in each width and colour scheme, every time in a new session.
 * @throws AssertionError for an error in the console, such as a violation of the CSP, for a request to
 *   elsewhere and for what `check` finds
 */
export async function visitInEachLook(
  context: TestContext,
  { origin, locale = 'en' }: VisitOptions,
  visit: (visit: Visit) => Promise<void>,
): Promise<void> {
  const browser = await openBrowser(context);
  for (const width of WIDTHS)
    for (const colorScheme of SCHEMES) {
      const look = `${width}-${colorScheme}-${locale}`;
      const session = await browser.newContext({ locale, colorScheme, viewport: { width, height: HEIGHT } });
      const page = await session.newPage();
      const faults = watch(page, origin);
      await visit({
        page,
        check: (name) => check(page, `${name}-${look}`),
        picture: (name) => keepPicture(page, `${name}-${look}`),
      });
      await session.close();
      assert.deepEqual(faults, [], look);
    }
}

async function openBrowser(context: TestContext): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    // Its sandbox does not work for root, as whom containers run.
    chromiumSandbox: process.getuid?.() !== 0,
  });
  context.after(() => browser.close());
  return browser;
}

/** @returns what goes wrong on the page from now on */
function watch(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) faults.push(`request to ${url}`);
  });
  return faults;
}

async function keepPicture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

async function check(page: Page, name: string): Promise<void> {
  await keepPicture(page, name);
  const [shown, width] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth];
  });
  assert.ok(Number(shown) <= Number(width), `${name} is ${shown} pixels wide, on ${width}`);
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run({ preload: false });
    return violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0]?.html }));
  });
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(serious, [], name);
}
