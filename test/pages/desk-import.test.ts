/** Files at the desk in a browser: dropped, read as chosen, checked, imported and undone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MEMBERS_HEADER, nid } from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';
import { follow, LANGUAGES, openMenu, send, visitDesk } from './desk.ts';
import { bringIn, checkFile, dropAndRead, sample, waitFor } from './dropping.ts';

for (const [place, locale] of LANGUAGES.entries())
  test(`${locale}: a messy file is dropped, its map chosen, imported and undone`, async (context) => {
    await visitDesk(context, { locale, isNarrow: place === 1 }, async ({ page, check, databaseFile }) => {
      await bringIn(page, sample('cooperatives.csv'));
      await dropAndRead(page, sample('members-french.csv'));
      await check('import-choosing');
      await checkFile(page, { 'word-status-0': 'withdrawn' });
      await check('import-checked');
      await send(page, 'import');
      await page.locator('.told').waitFor();
      await check('import-done');
      await follow(page, '/imports/');
      await check('import-recorded');
      await send(page, 'plan');
      await waitFor(page, 'undo');
      await check('import-undoing');
      await send(page, 'undo');
      await page.locator('progress, form.busy').waitFor({ state: 'detached' });
      assert.equal(await page.locator('input[value="undo"]').count(), 0);
      // With bad rows: a warning, faults, and the good rows alone.
      const bad = `${MEMBERS_HEADER}\nURUGERO-KAWA,${nid(1)},M-1,Keza Aline\nURUGERO-KAWA,123,M-2,Bad\n`;
      await dropAndRead(page, { name: 'bad.csv', content: bad });
      await checkFile(page);
      await check('import-faults');
      const saving = page.waitForEvent('download');
      await page.locator('a[href$="/rejects"]').click();
      assert.match((await saving).suggestedFilename(), /^rejects-\d+\.csv$/);
      await send(page, 'good');
      await waitFor(page, 'import');
      await send(page, 'import');
      await page.locator('.told').waitFor();
      await openMenu(page, '/import');
      await check('import');
      const db = openFile(databaseFile);
      const found = db.raw
        .prepare('SELECT full_name AS name FROM members WHERE identity_card = ?')
        .all(nid(1));
      db.close();
      assert.deepEqual(found, [{ name: 'Keza Aline' }]);
    });
  });
