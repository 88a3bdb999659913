/** A desk on the demo data, and what a person does at it. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { openCommandLedger } from '../../src/ledger/open-ledger.ts';
import { openConfiguredStorage } from '../../src/terminal/settings.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { temporaryFolder, testClock } from '../support/app.ts';
import { command } from '../support/command.ts';
import { type TestDesk, testDesk } from '../support/desk.ts';
import { type Visit, type VisitOptions, visitInEachLook } from './browser.ts';

export const LANGUAGES = ['en', 'fr', 'rw'] as const;
/** After the newest date of the samples, as in the processes of the test desk. */
export const TODAY_MS = Date.UTC(2026, 9, 1);

let made: Promise<string> | undefined;

async function make(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'registry-demo-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { status, err } = await command(
    ['seed'],
    { REGISTRY_DB: join(folder, 'registry.db') },
    testClock(TODAY_MS),
  );
  assert.equal(status, 0, err);
  return folder;
}

/** A desk on a copy of the demo data, which are made once in a process. */
export async function demoDesk(
  context: TestContext,
): Promise<TestDesk & { readonly origin: string; readonly databaseFile: string }> {
  made ??= make();
  const folder = temporaryFolder(context);
  cpSync(await made, folder, { recursive: true });
  const databaseFile = join(folder, 'registry.db');
  const storage = openConfiguredStorage({ storage: databaseFile, timeZone: KIGALI }, testClock(TODAY_MS));
  const desk = await testDesk(context, databaseFile, { ledger: openCommandLedger(storage.pathForOpening()) });
  desk.clock.advance(TODAY_MS - desk.clock.now());
  return { ...desk, databaseFile, origin: `http://127.0.0.1:${desk.port}` };
}

/** Visits a desk of its own, whose link is opened. */
export async function visitDesk(
  context: TestContext,
  options: Omit<VisitOptions, 'origin'>,
  visit: (visit: Visit & { readonly databaseFile: string }) => Promise<void>,
): Promise<void> {
  const { origin, issueLink, databaseFile } = await demoDesk(context);
  await visitInEachLook(context, { origin, ...options }, async (visited) => {
    const { page } = visited;
    await page.goto(issueLink());
    await page.waitForURL(`${origin}/`);
    await visit({ ...visited, databaseFile });
    assert.equal(await page.locator('html').getAttribute('lang'), options.locale ?? 'en');
  });
}

/** Types into the box, by keyboard only. */
export async function find(page: Page, text: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type(text);
  await leading(page, () => page.keyboard.press('Enter'));
}

/** Fills and sends the form of an action, which stands in whatever is folded away. */
export async function send(
  page: Page,
  action: string,
  fields: { readonly [name: string]: string } = {},
): Promise<void> {
  const form = page.locator(`form:has(> input[name="action"][value="${action}"])`).first();
  const folded = page.locator('details:not([open])', { has: form }).locator('> summary');
  if ((await folded.count()) > 0) await folded.click();
  for (const [name, value] of Object.entries(fields)) {
    const field = form.locator(`[name="${name}"]`).first();
    const kind = await field.evaluate((element: HTMLInputElement) => element.type);
    if (kind === 'select-one') await field.selectOption(value);
    else if (kind === 'checkbox') await form.locator(`[name="${name}"][value="${value}"]`).check();
    else await field.fill(value);
  }
  await leading(page, () => form.getByRole('button').click());
}

/** Waits until the page that something leads to is there. */
export async function leading(page: Page, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForEvent('domcontentloaded'), act()]);
}

/** Follows a link to a path. */
export const follow = (page: Page, path: string): Promise<void> =>
  leading(page, () => page.locator(`main a[href^="${path}"]`).first().click());

/** Opens an entry of the menu. */
export const openMenu = (page: Page, path: string): Promise<void> =>
  leading(page, () => page.locator(`nav a[href="${path}"]`).click());
