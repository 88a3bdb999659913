/** The pages of the service in a browser. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { type Visit, visitInEachLook } from './browser.ts';

test('who opens the address of the service finds the reference, and in it every operation', async (context) => {
  const { url: origin } = await startApp(context);
  await visitInEachLook(context, { origin }, async ({ page, check, picture }) => {
    await page.goto(`${origin}/`);
    await check('start');
    await page.getByRole('link', { name: 'Every operation' }).click();
    await page.waitForURL(`${origin}/docs`);
    await check('reference');
    await page.getByRole('navigation').getByRole('link', { name: 'Objects' }).click();
    assert.ok(await page.getByRole('heading', { name: 'Objects', exact: true }).isVisible());
    await picture('objects');
    await page.goto(`${origin}/docs#createMember`);
    await picture('operation');
  });
});

test('the reference is used by keyboard, and printed without its contents', async (context) => {
  const { url: origin } = await startApp(context);
  await visitInEachLook(context, { origin }, async ({ page }) => {
    await page.goto(`${origin}/docs`);
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the content' });
    assert.ok(await skip.evaluate((link) => link === document.activeElement));
    await page.keyboard.press('Enter');
    assert.equal(new URL(page.url()).hash, '#start');
    assert.ok(await page.getByRole('navigation').isVisible());
    await page.emulateMedia({ media: 'print' });
    assert.ok(await page.getByRole('navigation').isHidden());
  });
});

test('operations are filtered, commands copied, what is read is marked, and anchors stay put', async (context) => {
  const { url: origin } = await startApp(context);
  for (const isNarrow of [false, true])
    await visitInEachLook(context, { origin, isNarrow }, async ({ page, check }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
      await page.goto(`${origin}/docs#createMember`);
      const topOf = () =>
        page.locator('#createMember').evaluate((place) => Math.round(place.getBoundingClientRect().top));
      const top = await topOf();
      assert.ok(top >= 0 && top < 60, `${top}`);
      const section = page.locator('.operation', { has: page.locator('#createMember') });
      await section.getByRole('button', { name: 'Copy' }).first().click();
      await section.getByRole('button', { name: 'Copied' }).waitFor();
      assert.equal(await topOf(), top);
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(copied, /^curl -s .*\/api\/v1\/members'$/s);
      const marked = page.locator('nav [aria-current]');
      await page.locator('nav [aria-current][href="#createMember"]').waitFor({ state: 'attached' });
      assert.equal(await marked.count(), 1);
      await page.goto(`${origin}/docs`);
      const field = page.getByRole('searchbox', { name: 'Filter operations' });
      await field.fill('patch loan');
      assert.equal(await page.locator('nav li[data-words]:visible').count(), 1);
      assert.match(await page.locator('nav output').innerText(), /^1 of [0-9]+$/);
      await check('filtered');
      await field.press('Enter');
      assert.match(new URL(page.url()).hash, /Loan$/);
    });
});

const SOUND = '<html lang="en"><title>A</title><link rel="icon" href="data:,"><main><h1>A</h1></main>';
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** Serves one page, and visits it. */
async function visitOnly(context: TestContext, page: string, policy = POLICY): Promise<void> {
  const headers = { 'Content-Type': 'text/html', 'Content-Security-Policy': policy };
  const server = createServer((_, response) =>
    response.writeHead(200, headers).end(`<!doctype html>${page}`),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  context.after(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await visitInEachLook(context, { origin }, async (visit: Visit) => {
    await visit.page.goto(origin);
    await visit.check('only');
  });
}

test('a page that is at fault would be found', async (context) => {
  await visitOnly(context, SOUND);
  const at = (page: string, policy?: string) => visitOnly(context, page, policy);
  await assert.rejects(at(`${SOUND}<script>1</script>`), /Content Security Policy/);
  await assert.rejects(at(`${SOUND}<script>throw Error('No')</script>`, ''), /No/);
  await assert.rejects(
    at(`${SOUND}<img alt="" src="http://127.0.0.2:1/">`, ''),
    /request to http:..127.0.0.2/,
  );
  await assert.rejects(at(`${SOUND}<p style="width: 600px">wide</p>`), /pixels wide, on 360/);
  await assert.rejects(at(`${SOUND}<p style="color: #ccc; background: #fff">pale</p>`), /color-contrast/);
});
