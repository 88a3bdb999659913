/** Files dropped on the desk, and what is done with them there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openMenu, send } from './desk.ts';

const SAMPLES = fileURLToPath(new URL('../../data/samples/', import.meta.url));

export interface Dropped {
  readonly name: string;
  readonly content: string | Buffer;
}
export const sample = (name: string): Dropped => ({ name, content: readFileSync(join(SAMPLES, name)) });

/** Drops files on the page, as from a folder of the desktop. */
export async function drop(page: Page, ...files: readonly Dropped[]): Promise<void> {
  const given = files.map(({ name, content }) => ({ name, bytes: [...Buffer.from(content)] }));
  const data = await page.evaluateHandle((all) => {
    const transfer = new DataTransfer();
    for (const { name, bytes } of all) transfer.items.add(new File([new Uint8Array(bytes)], name));
    return transfer;
  }, given);
  // The script that takes files comes after the page.
  await page.waitForFunction(() => {
    const zone = document.querySelector('.drop');
    zone?.dispatchEvent(new DragEvent('dragover'));
    return zone?.classList.contains('over');
  });
  await page.locator('.drop').dispatchEvent('drop', { dataTransfer: data });
  await page.waitForURL(files.length === 1 ? /\/import\/\d+$/ : /\/import$/);
}

/** The button of an action is there once the command before it is done. */
export const waitFor = (page: Page, action: string): Promise<void> =>
  page.locator(`input[name="action"][value="${action}"]`).first().waitFor({ state: 'attached' });

export async function dropAndRead(page: Page, file: Dropped): Promise<void> {
  await openMenu(page, '/import');
  await drop(page, file);
  await waitFor(page, 'check');
}

export async function checkFile(page: Page, chosen: { readonly [name: string]: string } = {}): Promise<void> {
  await send(page, 'check', chosen);
  await page.locator('a[href$="?choose=yes"]').waitFor();
}

export async function bringIn(page: Page, file: Dropped, chosen = {}): Promise<void> {
  await dropAndRead(page, file);
  await checkFile(page, chosen);
  await send(page, 'import');
  await page.locator('.told').waitFor();
}
