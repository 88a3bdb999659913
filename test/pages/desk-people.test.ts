/** Persons at the desk in a browser: found, read, corrected and printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find, follow, LANGUAGES, leading, send, visitDesk } from './desk.ts';

for (const [place, locale] of LANGUAGES.entries())
  test(`${locale}: somebody is found by half a name, read, corrected and printed`, async (context) => {
    await visitDesk(context, { locale, isNarrow: place === 0 }, async ({ page, check }) => {
      await check('start');
      await find(page, 'muka esp');
      await check('found');
      await page.keyboard.press('ArrowDown');
      await leading(page, () => page.keyboard.press('Enter'));
      assert.match(page.url(), /\/person\/\d+$/);
      await check('person');
      const person = page.url();
      const right = '1198570000000042';
      await send(page, 'number', { current: right });
      await check('correction');
      assert.equal(page.url(), person);
      await send(page, 'number', { reason: 'Mistyped' });
      assert.ok(await page.locator('.told').isVisible());
      assert.ok(await page.locator('dd', { hasText: right }).first().isVisible());
      await follow(page, `${new URL(person).pathname}/readers`);
      await check('readers');
      await page.goto(`${person}/held`);
      await check('held');
      await page.emulateMedia({ media: 'print' });
      assert.ok(await page.locator('header, footer').first().isHidden());
      assert.ok(await page.locator('h1').isVisible());
    });
  });
