/** Files given to the desk by the forms of its pages. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Language } from '../../src/values/language.ts';
import { type Browser, testDesk } from './desk.ts';

/** After the newest date of the samples. */
export const SAMPLES_MS = Date.UTC(2026, 9, 1);

export type Fields = { readonly [name: string]: string };

/** Waits until no command is at work on the page. */
export async function settled(browser: Browser, path: string) {
  for (;;) {
    const answer = await browser.get(path);
    if (answer.headers.refresh === undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** What a browser sends of the form with this action, with what was chosen in place of what it shows. */
export function fill(page: string, action: string, chosen: Fields = {}): Fields {
  const forms = page.split('<form').filter((each) => each.includes(`name="action" value="${action}"`));
  assert.equal(forms.length, 1, `one form ${action}`);
  return { ...fieldsOf(forms[0] as string), ...chosen };
}

/** What a browser sends of a form. @param form its text, and whatever follows it without an input */
export function fieldsOf(form: string): Fields {
  const attribute = (tag: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
  // A box that nobody has ticked is not sent.
  const inputs = [...form.matchAll(/<input(?![^>]*type="checkbox")[^>]* name="[^>]*>/g)].map(
    ([tag]) => [attribute(tag, 'name'), attribute(tag, 'value')] as const,
  );
  const selects = [...form.matchAll(/<select name="([^"]+)"[^>]*>(.*?)<\/select>/gs)].map(
    ([, name, options = '']) => {
      const first = /<option value="([^"]*)"/.exec(options)?.[1];
      return [name, /<option value="([^"]*)" selected/.exec(options)?.[1] ?? first] as const;
    },
  );
  return Object.fromEntries([...inputs, ...selects]);
}

export async function submit(browser: Browser, path: string, action: string, chosen: Fields = {}) {
  const shown = action === 'check' ? `${path}?choose=yes` : path;
  const fields = fill((await settled(browser, shown)).text, action, chosen);
  const answer = await browser.post(path, fields);
  assert.equal(answer.status, 303, answer.text);
  return settled(browser, answer.headers.location ?? '');
}

export async function give(browser: Browser, name: string, content: string | Buffer) {
  const given = await browser.upload('/import', { [name]: content });
  assert.equal(given.status, 303);
  const path = given.headers.location ?? '';
  assert.match(path, /^\/import\/\d+$/);
  return { path, page: await settled(browser, path) };
}

export async function openedDesk(
  context: TestContext,
  databaseFile: string,
  language?: Language,
): Promise<Browser> {
  const desk = await testDesk(context, databaseFile);
  // After the newest date of the samples, as the processes that it starts.
  desk.clock.advance(SAMPLES_MS - desk.clock.now());
  return desk.enter(undefined, language);
}
