/** The forms of the pages of the desk, each sent with whatever it can be filled with. */

import { createRouter } from '../../src/desk/desk-requests.ts';
import { SCREENS } from '../../src/desk-screens.ts';
import type { Browser, DeskResponse } from './desk.ts';
import { type Fields, fieldsOf } from './desk-import.ts';
import { nid } from './importing.ts';

interface ShownForm {
  readonly path: string;
  readonly fields: Fields;
  /** Those that a person fills in or chooses, by their names, as they are written on the page. */
  readonly inputs: ReadonlyMap<string, string>;
  /** What is sent of the boxes when they are ticked. */
  readonly ticked: Fields;
}

/** The forms of a page, without that for files. */
const formsOf = (page: string): ShownForm[] =>
  [
    ...page.matchAll(
      /<form(?: class="\w+")? method="post" action="([^"]*)"(?: role="\w+"| data-saves)?>(.*?)<\/form>/gs,
    ),
  ].map(([, path = '', form = '']) => {
    const tags = [...form.matchAll(/<(?:input|select)\b[^>]* name="([^"]+)"[^>]*>/g)];
    const boxes = tags.filter(([tag]) => tag.includes('type="checkbox"'));
    const asked = tags.filter(([tag]) => !/type="(?:hidden|checkbox)"/.test(tag));
    return {
      path,
      fields: fieldsOf(form),
      inputs: new Map(asked.map(([tag, name = '']) => [name, tag])),
      ticked: Object.fromEntries(
        boxes.map(([tag, name = '']) => [name, / value="([^"]*)"/.exec(tag)?.[1] ?? 'on']),
      ),
    };
  });

interface Typing {
  readonly name: string;
  readonly shown: string;
  /** Of the input or choice. */
  readonly tag: string;
}
type Texts = { readonly [name: string]: string };

/** What may be meant, of what there is and of what there is not, by the names of fields. */
const THERE: Texts = {
  ...{ code: 'C-2', to: 'C-2', into: 'C-2', intoId: 'C-1/M-2' },
  ...{ member_code: 'M-1', memberCode: 'M-2', reference: 'P-1' },
  ...{ identity_card: nid(1), current: nid(2), account_number: 'S-1', codes: 'C-1 C-2' },
  ...{ cooperatives: 'C-1', allowedAddresses: '10.0.0.0/8', allowedHosts: 'portal.example.rw' },
};
const NEW: Texts = {
  ...THERE,
  ...{ code: 'C-9', member_code: 'M-9', memberCode: 'M-9', reference: 'R-9', identity_card: nid(9) },
  ...{ current: nid(8), mobile: '0788123456', account_number: 'S-9' },
};

/** @param folder of the test, where a backup may go */
function fittingIn(folder: string, texts: Texts): (typing: Typing) => string {
  return ({ name, shown, tag }) => {
    if (name === 'folder') return folder;
    if (tag.startsWith('<select')) return shown;
    if (tag.includes('type="date"')) return shown || (tag.includes(' max=') ? '2025-02-28' : '2027-02-28');
    return texts[name] ?? (shown || (tag.includes('inputmode="numeric"') ? '120' : 'Keza'));
  };
}

interface Filling {
  readonly fill: (typing: Typing) => string;
  readonly ticks?: true;
}

/** Nothing, nonsense, what is shown, and what somebody may mean, with and without what may be left out. */
function fillingsIn(folder: string): Filling[] {
  const required =
    (fill: Filling['fill']): Filling['fill'] =>
    (typing) =>
      typing.tag.includes(' required') || typing.tag.startsWith('<select') ? fill(typing) : typing.shown;
  const [there, made] = [fittingIn(folder, THERE), fittingIn(folder, NEW)];
  return [
    { fill: () => '' },
    { fill: () => 'x%' },
    { fill: ({ shown }) => shown },
    { fill: there },
    { fill: required(there), ticks: true },
    { fill: made, ticks: true },
    { fill: required(made), ticks: true },
  ];
}

/** What a browser sends of it. */
function filled({ fields, inputs, ticked }: ShownForm, { fill, ticks }: Filling): Fields {
  const { token: _, ...shown } = fields;
  const typed = [...inputs].map(([name, tag]) => [name, fill({ name, shown: shown[name] ?? '', tag })]);
  return { ...shown, ...Object.fromEntries(typed), ...(ticks && ticked) };
}

/** One kind has the same fields on the same screen; an agreement has the plan, which others have not. */
const kindOf = (screen: string, { path, fields }: ShownForm): string =>
  [screen, fields.action, path.replace(/\?.*|\d+/g, ''), fields.kind, Object.keys(fields).sort()].join(' ');

/**
 * Sends each kind of form of the pages with all that it can be filled with; the pages that answer may have
 * further ones, such as the button that agrees to a plan.
 * @param folder of the test
 * @param check takes each page that comes as an answer
 * @returns the screens and actions that were sent, such as `/person/:person erase`
 */
export async function sendEveryForm(
  browser: Browser,
  pages: readonly string[],
  folder: string,
  check: (page: DeskResponse, where: string) => void,
): Promise<ReadonlySet<string>> {
  const screenOf = createRouter(SCREENS);
  const fillings = fillingsIn(folder);
  const known = new Set<string>();
  const sent = new Set<string>();
  // What takes a file away comes after all that can be done with it.
  const found = pages.flatMap(formsOf);
  const isRemoval = ({ fields }: ShownForm) => fields.action === 'remove';
  const pending = [...found.filter((each) => !isRemoval(each)), ...found.filter(isRemoval)];
  for (let form = pending.shift(); form !== undefined; form = pending.shift()) {
    const { path, fields } = form;
    // Of no screen are those that change the language, or leave the desk.
    const screen = screenOf(path.replace(/\?.*/, ''))?.screen.path;
    const kind = kindOf(screen ?? '', form);
    if (screen === undefined || known.has(kind)) continue;
    known.add(kind);
    sent.add(`${screen} ${fields.action}`);
    const givens = fillings.map((each) => JSON.stringify(filled(form, each)));
    for (const given of new Set(givens)) {
      const answer = await browser.post(path, JSON.parse(given) as Fields);
      const { location } = answer.headers;
      const page = location === undefined ? answer : await browser.whenDone(location);
      check(page, `${path} ${given}`);
      pending.push(...formsOf(page.text));
    }
  }
  return sent;
}
