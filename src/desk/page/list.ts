/** Lists with filters and pages. What is searched for is posted: a name has no place in an address. */

import { FieldError } from '../../domain/values/errors.ts';
import type { Text } from '../../domain/values/message.ts';
import { lastPage, offsetOf, type PageRequest } from '../../domain/values/page.ts';
import { parseSearch } from '../../domain/values/search-words.ts';
import { type Html, html } from '../../html/html.ts';
import type { Action, Visit } from '../visit/screen.ts';
import { form, input, select } from './parts.ts';

const PAGE_SIZE = 50;

export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly values: readonly (readonly [value: string, shown: string])[];
}

export interface Asked {
  readonly page: PageRequest;
  /** As it was typed; empty when nothing was searched for. */
  readonly text: string;
  readonly words?: readonly string[];
  /** Why the text cannot be searched for. */
  readonly fault?: Text;
  /** Of a filter; undefined when it is not set. */
  choice<T extends string>(name: string, values: readonly T[]): T | undefined;
}

/** From 1. @param name in the address */
export function pageNumber(query: URLSearchParams, name: string): number {
  const number = Number(query.get(name));
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}

/** Of rows that are all known, those of a page. */
export const rowsOf = <Row>(request: PageRequest, rows: readonly Row[]): readonly Row[] =>
  rows.slice(offsetOf(request), offsetOf(request) + request.pageSize);

/** What the address of a list asks for. */
export function askedOf({ query, session }: Visit): Asked {
  const text = session.searches.find(Number(query.get('search'))) ?? '';
  const words = text === '' ? undefined : parseSearch(text);
  return {
    page: { page: pageNumber(query, 'page'), pageSize: PAGE_SIZE },
    text,
    ...(words === undefined ? {} : words instanceof FieldError ? { fault: words.text } : { words }),
    choice: (name, values) => values.find((each) => each === query.get(name)),
  };
}

/** The action behind the form of filters. @param names of its choices */
export const filterAction =
  (pathOf: (visit: Visit) => string, names: readonly string[]): Action =>
  (visit, given) => {
    const query = new URLSearchParams();
    const text = given.get('text');
    if (text !== '') query.set('search', String(visit.session.searches.of(text)));
    // Words of the registry, and names of districts.
    for (const name of names) if (/^[\p{L}_ '’-]+$/u.test(given.get(name))) query.set(name, given.get(name));
    return { goTo: query.size === 0 ? pathOf(visit) : `${pathOf(visit)}?${query}` };
  };

export function filterForm(visit: Visit, path: string, asked: Asked, choices: readonly Choice[]): Html {
  const { say, translate, query } = visit;
  return html`<div class="filters">${form(visit, {
    path,
    action: 'filter',
    body: html`${input({
      name: 'text',
      type: 'search',
      label: say('Beginning of a name'),
      value: asked.text,
      isOptional: true,
      maxLength: 200,
    })}${choices.map(({ name, label, values }) =>
      select(name, label, [['', say('all')], ...values], { chosen: query.get(name) ?? '' }),
    )}`,
    button: say('Show'),
  })}</div>${
    asked.fault !== undefined && html`<p class="refused" role="alert">${translate(asked.fault)}</p>`
  }`;
}

/** Links to the other pages of a list. @param name of the page in the address, where a screen has several */
export function pages(
  { say, write, query }: Visit,
  path: string,
  count: number,
  { page, pageSize }: PageRequest,
  name = 'page',
): Html | false {
  const last = lastPage(count, pageSize);
  if (last === 1) return false;
  const link = (to: number, label: string) => {
    const next = new URLSearchParams(query);
    next.set(name, String(to));
    return to >= 1 && to <= last && to !== page && html`<a href="${`${path}?${next}`}">${label}</a> `;
  };
  return html`<nav class="pages" aria-label="${say('Pages')}">
${link(1, say('First'))}${link(Math.min(page - 1, last), say('Previous'))}
<span>${say('Page {page} of {last}', { page: write.number(page), last: write.number(last) })}</span>
${link(page + 1, say('Next'))}${link(last, say('Last'))}</nav>`;
}
