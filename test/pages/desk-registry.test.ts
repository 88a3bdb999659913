/** Cooperatives, duplicates, keys and health at the desk in a browser. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder, testClock } from '../support/app.ts';
import { command } from '../support/command.ts';
import { MEMBERS_HEADER, nid } from '../support/importing.ts';
import { follow, LANGUAGES, leading, openMenu, send, TODAY_MS, visitDesk } from './desk.ts';

/** Two members of the demo data, who are one person. */
async function registerTwice(folder: string, databaseFile: string): Promise<void> {
  const file = join(folder, 'members.csv');
  const row = (code: string, number: string) => `KOMUKINYU-GSG,${number},${code},Keza Aline,1985-02-03`;
  const rows = [row('T-1', nid(1)), row('T-2', nid(2))].join('\n');
  writeFileSync(file, `${MEMBERS_HEADER},date_of_birth\n${rows}\n`);
  const { status, err } = await command(
    ['import', 'members', file],
    { REGISTRY_DB: databaseFile },
    testClock(TODAY_MS),
  );
  assert.equal(status, 0, err);
}

for (const [place, locale] of LANGUAGES.entries()) {
  const options = { locale, isNarrow: place === 2 };

  test(`${locale}: a cooperative is seen as pictures, and its rows saved`, async (context) => {
    await visitDesk(context, options, async ({ page, check }) => {
      await openMenu(page, '/cooperatives');
      await check('cooperatives');
      await send(page, 'filter', { text: 'umurava' });
      await follow(page, '/cooperative/');
      await page.locator('figure summary').first().click();
      await check('cooperative');
      const saving = page.waitForEvent('download');
      const form = page.locator('form:has(input[value="export"])');
      await page.locator('details', { has: form }).locator('summary').click();
      await form.locator('select').first().selectOption('members');
      await form.getByRole('button').click();
      assert.match((await saving).suggestedFilename(), /^[A-Z-]+-members\.xlsx$/);
      // The page is still there, and saves another.
      const another = page.waitForEvent('download');
      await form.locator('select').first().selectOption('loans');
      await form.getByRole('button').click();
      assert.match((await another).suggestedFilename(), /^[A-Z-]+-loans\.xlsx$/);
      await follow(page, '/cooperative/');
      await send(page, 'filter', { text: 'muka', status: 'active' });
      await check('members');
      assert.doesNotMatch(page.url(), /muka/);
      await follow(page, '/cooperative/');
      await leading(page, () => page.locator('main a[href$="/deliveries"]').click());
      // The headings are there on the narrowest screen too.
      await leading(page, () => page.locator('th a[href$="sort=name"]').click());
      await check('deliveries');
    });
  });

  test(`${locale}: statistics open with the country, and lead to a comparison`, async (context) => {
    await visitDesk(context, options, async ({ page, check }) => {
      await openMenu(page, '/statistics');
      assert.ok((await page.locator('figure').count()) >= 4);
      await check('statistics');
      await leading(page, () => page.locator('th a[href$="sort=members"]').click());
      await leading(page, () => page.locator('main a[href="/compare?by=province"]').click());
      await check('comparison');
    });
  });

  test(`${locale}: duplicates are merged, keys issued and disabled, a backup made`, async (context) => {
    const folder = temporaryFolder(context);
    await visitDesk(context, options, async ({ page, check, databaseFile }) => {
      await registerTwice(folder, databaseFile);
      await openMenu(page, '/duplicates');
      await page.locator('.pair').first().waitFor();
      await check('duplicates');
      await send(page, 'number');
      await check('duplicate-plan');
      await send(page, 'number', { reason: 'Seen with both of them', same_person: 'yes' });
      await page.locator('.told').waitFor();
      await openMenu(page, '/keys');
      await check('keys');
      await send(page, 'issue', { name: 'Union portal', scopes: 'members:read' });
      await page.locator('.secret').waitFor();
      await check('key');
      await page.reload();
      assert.equal(await page.locator('.secret').count(), 0);
      await send(page, 'disable');
      assert.ok(await page.locator('.told').isVisible());
      await openMenu(page, '/health');
      await check('health');
      await send(page, 'backup', { folder });
      await page.locator('.told').waitFor();
      await check('health-backed-up');
    });
  });
}
