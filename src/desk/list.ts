/**
 * Lists with filters, sorting and pages. Forms post search texts, because addresses must not contain names.
 */

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
const ALL: PageRequest = { page: 1, pageSize: 2 ** 31 - 1 };

export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly values: readonly (readonly [value: string, shown: string])[];
}

/** A missing or invalid number counts as 1. */
export function pageNumber(query: URLSearchParams, name: string): number {
  const number = Number(query.get(name));
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}

export const rowsOf = <Row>(request: PageRequest, rows: readonly Row[]): readonly Row[] =>
  rows.slice(offsetOf(request), offsetOf(request) + request.pageSize);

export function askedOf({ query, session }: Visit) {
  const text = session.searches.find(Number(query.get('search'))) ?? '';
  const words = text === '' ? undefined : parseSearch(text);
  return {
    page: { page: pageNumber(query, 'page'), pageSize: PAGE_SIZE } satisfies PageRequest,
    /** Empty without a search. */
    text,
    words: words instanceof FieldError ? undefined : words,
    fault: words instanceof FieldError ? words.text : undefined,
    choice: <T extends string>(name: string, values: readonly T[]) =>
      values.find((value) => value === query.get(name)),
  };
}

/** Returns the action of `filterForm`. @param names names of the choices in the form */
export const filterAction =
  (pathOf: (visit: Visit) => string, names: readonly string[]): Action =>
  (visit, form) => {
    const query = new URLSearchParams();
    const text = form.get('text');
    if (text !== '') query.set('search', String(visit.session.searches.of(text)));
    // District names are free text, which might contain a national ID.
    for (const name of ['sort', ...names]) {
      const value = form.get(name);
      if (value !== '' && !mayContainIdentityCard(value)) query.set(name, value);
    }
    return { goTo: query.size === 0 ? pathOf(visit) : `${pathOf(visit)}?${query}` };
  };

/** @param searched label of the input for the search text */
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

/** The link in a heading sorts by the column; in the sorted column, the link restores the default order. */
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
 * Sorts texts from A and numbers from the largest, with missing values last. A store has only one order, so
 * the entire list is read for any other order.
 * @param valueIn returns the value of a row in the sorted column; undefined for the order of the store
 */
export async function listInOrder<Row>(
  list: (request: PageRequest) => Awaitable<Rows<Row>>,
  page: PageRequest,
  { language }: Visit,
  valueIn: ((row: Row) => string | number | null | undefined) | undefined,
): Promise<Rows<Row>> {
  if (valueIn === undefined) return list(page);
  const { rows, count } = await list(ALL);
  // Numeric, to sort M-2 before M-10. English is the second choice: Intl has no rules for Kinyarwanda, and
  // would otherwise use the rules of the machine's language.
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

/** @param name query parameter of the page number */
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
