/** The desk in browsers of all kinds: by keyboard, without scripts, in two tabs, with files that do harm. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MEMBERS_HEADER, member, nid } from '../support/importing.ts';
import { visitInEachLook } from './browser.ts';
import { demoDesk, find, leading, openMenu, send, visitDesk } from './desk.ts';
import { checkFile, type Dropped, drop, dropAndRead, waitFor } from './dropping.ts';

const COOPERATIVE = 'KOMUKINYU-GSG';
const MEMBERS: Dropped = {
  name: 'members.csv',
  content: `${MEMBERS_HEADER}\n${member(4, COOPERATIVE)}\n${member(5, COOPERATIVE)}\n`,
};
/** Of the demo data. */
const KNOWN = '1198079244288038';

test('everything is reached by keyboard, and nothing is trapped', async (context) => {
  await visitDesk(context, {}, async ({ page }) => {
    const focused = () =>
      page.evaluate(() => {
        const { activeElement: element } = document;
        return element === document.body ? '' : (element?.id ?? '') || (element?.textContent ?? '');
      });
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'main');
    // In the box a slash is a slash.
    await page.keyboard.press('/');
    assert.equal(await focused(), 'find');
    await page.keyboard.type('GSG/1');
    assert.equal(await page.locator('#find').inputValue(), 'GSG/1');
    await page.locator('#find').fill('muka');
    await leading(page, () => page.keyboard.press('Enter'));
    await page.keyboard.press('ArrowDown');
    const first = await focused();
    await page.keyboard.press('ArrowDown');
    const second = await focused();
    assert.ok(first !== '' && second !== '' && first !== second);
    await page.keyboard.press('ArrowUp');
    assert.equal(await focused(), first);
    await leading(page, () => page.keyboard.press('Enter'));
    assert.match(page.url(), /\/person\/\d+$/);
    const places = await page.locator('a, button, summary, select, [tabindex="0"], input').count();
    let presses = 0;
    do await page.keyboard.press('Tab');
    while ((await focused()) !== 'Leave' && ++presses <= places);
    await page.keyboard.press('Tab');
    assert.notEqual(await focused(), 'Leave');
  });
});

test('a national ID is in no address, title or history, and what is shown once is not gone back to', async (context) => {
  await visitDesk(context, {}, async ({ page, check }) => {
    await find(page, KNOWN);
    await check('by-number');
    assert.match(page.url(), /\/person\/\d+$/);
    await openMenu(page, '/keys');
    await send(page, 'issue', { name: 'Union portal', scopes: 'members:read' });
    assert.ok(await page.locator('.secret').isVisible());
    await openMenu(page, '/health');
    await page.goBack();
    assert.equal(await page.locator('.secret').count(), 0);
  });
});

test('without scripts everything is read, and a file imported', async (context) => {
  await visitDesk(context, { javaScriptEnabled: false }, async ({ page }) => {
    await page.locator('#find').fill('muka esp');
    await leading(page, () => page.getByRole('button', { name: 'Find' }).click());
    await leading(page, () => page.locator('a.hit').first().click());
    assert.match(page.url(), /\/person\/\d+$/);
    assert.ok(await page.locator('.plot svg').isVisible());
    for (const path of ['/cooperatives', '/import', '/duplicates', '/keys', '/health']) {
      await openMenu(page, path);
      assert.ok(await page.locator('h1').isVisible());
    }
    await openMenu(page, '/import');
    const { name, content } = MEMBERS;
    const file = { name, mimeType: 'text/csv', buffer: Buffer.from(content) };
    await page.locator('input[type="file"]').setInputFiles(file);
    await leading(page, () => page.locator('form:has(input[type="file"]) button').click());
    await waitFor(page, 'check');
    await checkFile(page);
    await send(page, 'import');
    await page.locator('.told').waitFor();
  });
});

test('a file made to do harm is shown as text, and its ten thousand columns fit', async (context) => {
  const mark = '"><img src=x onerror=alert(1)>';
  const script = '<script>alert(1)</script>';
  const cells = [script, "=cmd|' /C calc'!A0", 'محمد بن عبد الله', mark].map((text) =>
    text.replaceAll('"', '""'),
  );
  const columns = Array.from({ length: 10_000 }, (_, i) => `Column ${i}`);
  const row = (code: string, ...more: readonly string[]) =>
    [COOPERATIVE, nid(8), code, ...more].map((text) => `"${text}"`).join();
  const content = [
    `${MEMBERS_HEADER},${cells.map((text) => `"${text}"`).join()},${columns.join()}`,
    row('T-8', cells[2] ?? '', ...cells),
    row('T-9', cells[3] ?? '', ...cells),
  ].join('\n');
  await visitDesk(context, { isNarrow: true }, async ({ page, check }) => {
    const assertText = async () => {
      assert.equal(await page.locator('main script, main img, main [onerror]').count(), 0);
      assert.ok((await page.locator('main').innerText()).includes('onerror=alert(1)'));
    };
    await dropAndRead(page, { name: `${mark}.csv`, content });
    await check('hostile-choosing');
    await assertText();
    assert.ok(await page.getByText('محمد بن عبد الله').first().isVisible());
    await checkFile(page);
    await check('hostile-checked');
    await assertText();
    await openMenu(page, '/import');
    await assertText();
    await drop(
      page,
      { name: 'no.csv', content: Buffer.from([0, 1, 2, 255]) },
      { name: 'a.xlsx', content: 'PK' },
    );
    await page.locator('main a', { hasText: 'no.csv' }).waitFor();
    await page.locator('main a', { hasText: 'a.xlsx' }).click();
    await page.locator('.refused').waitFor();
    await check('unreadable');
  });
});

test('two tabs agree to what they show, and a closed one loses nothing', async (context) => {
  await visitDesk(context, {}, async ({ page }) => {
    await dropAndRead(page, MEMBERS);
    await checkFile(page);
    const { pathname } = new URL(page.url());
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.locator('a[href$="?choose=yes"]').click();
    await checkFile(other);
    await send(page, 'import');
    assert.match(await page.locator('.told').innerText(), /The data has changed in the meantime/);
    await send(other, 'import');
    await other.close();
    await openMenu(page, '/import');
    await page.locator(`a[href="${pathname}"]`).click();
    await page.locator('.told', { hasText: 'The file is imported.' }).waitFor();
  });
});

test('before a session ends the page says so, and what is typed outlives the end', async (context) => {
  const { origin, issueLink, clock } = await demoDesk(context);
  await visitInEachLook(context, { origin }, async ({ page, check }) => {
    await page.clock.install();
    const pass = async (minutes: number) => {
      clock.advance(minutes * 60_000);
      await page.clock.fastForward(minutes * 60_000);
    };
    await page.goto(issueLink());
    await page.waitForURL(`${origin}/`);
    const panel = page.locator('#idle');
    const goOn = panel.getByRole('button', { name: 'Go on' });
    await pass(24);
    assert.ok(await panel.isHidden());
    await pass(2);
    await panel.getByText('This session ends').waitFor();
    assert.match(await panel.innerText(), /^This session ends in five minutes/);
    await check('closing');
    await goOn.click();
    await panel.waitFor({ state: 'hidden' });
    // Typing is enough.
    await pass(28);
    await page.locator('#find').pressSequentially('muk');
    await panel.waitFor({ state: 'hidden' });
    await pass(31);
    await panel.getByText('Your session has ended').waitFor();
    assert.match(await panel.innerText(), /^Your session has ended\. Your input is still on this page/);
    await page.locator('#find').press('Enter');
    assert.equal(await page.locator('#find').inputValue(), 'muk');
    assert.ok(await panel.isVisible());
    const other = await page.context().newPage();
    await other.goto(issueLink());
    await other.waitForURL(`${origin}/`);
    await panel.waitFor({ state: 'hidden' });
    await leading(page, () => page.locator('#find').press('Enter'));
    assert.match(page.url(), /\/found\/\d+$/);
  });
});
