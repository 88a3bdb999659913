/** Lists with filters, sorting and pages. Search texts are posted: addresses must not contain names. */

import {
  type Awaitable,
  FieldError,
  lastPage,
  offsetOf,
  type PageRequest,
  type Page as Rows,
} from '../values/errors.ts';
import { type Html, html } from '../values/html.ts';
import { mayContainIdentityCard } from '../values/identity-card.ts';
import { say } from '../values/message.ts';
import { parseSearch } from '../values/search-words-and-typos.ts';
import { type Column, form, input, select } from './parts.ts';
import type { Action, Visit } from './screen.ts';

const PAGE_SIZE = 50;
/** Request for all rows as a single page. */
const ALL: PageRequest = { page: 1, pageSize: 2 ** 31 - 1 };

export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly values: readonly (readonly [value: string, shown: string])[];
}

/** Reads a page number from the address; 1 if it is missing or invalid. */
export function pageNumber(query: URLSearchParams, name: string): number {
  const number = Number(query.get(name));
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}

export const rowsOf = <Row>(request: PageRequest, rows: readonly Row[]): readonly Row[] =>
  rows.slice(offsetOf(request), offsetOf(request) + request.pageSize);

/** Reads the page, search text and filters of a list from its address. */
export function askedOf({ query, session }: Visit) {
  const text = session.searches.find(Number(query.get('search'))) ?? '';
  const words = text === '' ? undefined : parseSearch(text);
  return {
    page: { page: pageNumber(query, 'page'), pageSize: PAGE_SIZE } satisfies PageRequest,
    /** Search text as typed, or an empty string. */
    text,
    words: words instanceof FieldError ? undefined : words,
    /** Error of an invalid search text. */
    fault: words instanceof FieldError ? words.text : undefined,
    /** Returns the value of a filter, or undefined if the filter is not set. */
    choice: <T extends string>(name: string, values: readonly T[]) =>
      values.find((value) => value === query.get(name)),
  };
}

/** Handles the filter form. @param names names of the form's choices */
export const filterAction =
  (pathOf: (visit: Visit) => string, names: readonly string[]): Action =>
  (visit, form) => {
    const query = new URLSearchParams();
    const text = form.get('text');
    if (text !== '') query.set('search', String(visit.session.searches.of(text)));
    // Values of choices are words such as `active`, or names of districts, which are free text.
    for (const name of ['sort', ...names]) {
      const value = form.get(name);
      if (value !== '' && !mayContainIdentityCard(value)) query.set(name, value);
    }
    return { goTo: query.size === 0 ? pathOf(visit) : `${pathOf(visit)}?${query}` };
  };

/** @param searched label of the search text */
export function filterForm(
  visit: Visit,
  path: string,
  { text, fault }: Partial<ReturnType<typeof askedOf>>,
  choices: readonly Choice[],
  searched = say('Beginning of a name'),
): Html {
  const { translate, query } = visit;
  const sort = query.get('sort');
  return html`<div class="filters">${form(visit, {
    path,
    action: 'filter',
    hidden: sort === null ? {} : { sort },
    body: html`${input({
      name: 'text',
      type: 'search',
      label: translate(searched),
      value: text,
      isOptional: true,
      maxLength: 200,
    })}${choices.map(({ name, label, values }) =>
      select(name, label, [['', visit.say('all')], ...values], { chosen: query.get(name) ?? '' }),
    )}`,
    button: visit.say('Show'),
  })}</div>${fault !== undefined && html`<p class="refused" role="alert">${translate(fault)}</p>`}`;
}

/**
 * Returns the link for the heading of a sortable column: texts sort from A, numbers and days from the
 * largest. The link of the sorted column restores the default order.
 */
export const orderLinks =
  ({ query }: Visit, path: string) =>
  (name: string, order: 'ascending' | 'descending' = 'ascending'): Pick<Column, 'link' | 'order'> => {
    const isInOrder = query.get('sort') === name;
    const next = new URLSearchParams(query);
    next.delete('page');
    if (isInOrder) next.delete('sort');
    else next.set('sort', name);
    return { link: next.size === 0 ? path : `${path}?${next}`, ...(isInOrder && { order }) };
  };

/**
 * Returns a page of a list in the requested order, missing values last. Stores have a single order; for any
 * other, this reads and sorts the entire list, such as all members of a cooperative.
 * @param valueIn returns a row's value in the sorted column; undefined for the order of the store
 */
export async function listInOrder<Row>(
  list: (request: PageRequest) => Awaitable<Rows<Row>>,
  page: PageRequest,
  { language }: Visit,
  valueIn: ((row: Row) => string | number | null | undefined) | undefined,
): Promise<Rows<Row>> {
  if (valueIn === undefined) return list(page);
  const { rows, count } = await list(ALL);
  // Numeric, to sort M-2 before M-10. English is the fallback for Kinyarwanda: Intl has no rules for
  // Kinyarwanda, and would use the rules of the machine's language.
  const { compare } = new Intl.Collator([language, 'en'], { numeric: true });
  const valued = rows.map((row) => ({ row, value: valueIn(row) ?? '' }));
  valued.sort(({ value: one }, { value: other }) => {
    if (typeof one === 'number' && typeof other === 'number') return other - one;
    return one === '' || other === ''
      ? Number(one === '') - Number(other === '')
      : compare(`${one}`, `${other}`);
  });
  return { count, rows: rowsOf(page, valued).map(({ row }) => row) };
}

/** Renders links to the other pages of a list. @param name query parameter of the page number */
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
