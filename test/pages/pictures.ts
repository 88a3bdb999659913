/** Takes the pictures that README and docs/desk.md show, from the demo data: `make pictures`. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser } from './browser.ts';
import { demoDesk, find } from './desk.ts';
import { dropAndRead, sample } from './dropping.ts';

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const MAX_BYTES = 150_000;
const WIDE = { viewport: { width: 1100, height: 880 }, deviceScaleFactor: 1.25, locale: 'en' } as const;
const TALL = { ...WIDE, viewport: { width: 1100, height: 960 } } as const;
const PHONE = { viewport: { width: 360, height: 700 }, deviceScaleFactor: 1.5, locale: 'rw' } as const;

interface Picture {
  readonly name: string;
  readonly look: BrowserContextOptions;
  /** Goes to the page, from the start. */
  readonly lead: (page: Page) => Promise<unknown>;
}

const PICTURES: readonly Picture[] = [
  { name: 'person', look: WIDE, lead: (page) => find(page, '1198079244288038') },
  { name: 'cooperative', look: TALL, lead: (page) => find(page, 'KOMUKINYU-GSG') },
  {
    ...{ name: 'import', look: WIDE },
    lead: async (page) => {
      await dropAndRead(page, sample('members-french.csv'));
    },
  },
  {
    ...{ name: 'phone', look: { ...PHONE, colorScheme: 'dark' } },
    lead: async (page) => {
      await find(page, 'KOMUKINYU-GSG');
      await page.locator('figure').nth(4).scrollIntoViewIfNeeded();
    },
  },
];

const ends: (() => unknown)[] = [];
const context = { after: (end: () => unknown) => void ends.unshift(end) } as never;
try {
  const [browser, desk] = [await openBrowser(context), await demoDesk(context)];
  for (const { name, look, lead } of PICTURES) {
    const page = await browser.newPage(look);
    await page.goto(desk.issueLink());
    await page.waitForURL(`${desk.origin}/`);
    await lead(page);
    const path = join(FOLDER, `${name}.png`);
    await page.screenshot({ path });
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; at most ${MAX_BYTES} are wanted.`);
    process.stdout.write(`docs/pictures/${name}.png: ${size} bytes\n`);
  }
} finally {
  for (const end of ends) await end();
}
