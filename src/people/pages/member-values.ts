/** Formats the values of one membership, or of several memberships side by side, for pages. */

import type { Visit } from '../../desk/screen.ts';
import { MEMBER_FIELDS } from '../../registry/members.ts';
import { nameOf, textOf, writeStored } from '../../registry/pages/show-stored-values.ts';
import type { StoredMembership, StoredRow } from '../../registry/stored/stored-data-types.ts';
import { listFields } from '../../values/declared-fields.ts';
import { type Html, type HtmlValue, html } from '../../values/html.ts';

export const ifGiven = <T>(row: StoredRow, field: string, write: (value: T) => string): string | undefined =>
  row[field] === null || row[field] === undefined ? undefined : write(row[field] as T);

/** Fields that are not listed, because they are in headings, or are parts of the full name. */
const ELSEWHERE = ['cooperative_id', 'identity_card', 'first_name', 'last_name'];
const SHOWN_FIELDS = listFields(MEMBER_FIELDS)
  .map(({ name }) => name)
  .filter((name) => !ELSEWHERE.includes(name));

export const memberValues = (
  visit: Visit,
  member: StoredRow,
  omitted?: string,
): (readonly [name: string, value: string | undefined])[] =>
  SHOWN_FIELDS.filter((field) => field !== omitted).map((field) => [
    visit.translate(nameOf(field)),
    field === 'registration_date'
      ? ifGiven(member, field, visit.write.day)
      : writeStored(visit, field, member[field]),
  ]);

export const nameOfSide = ({ member }: Pick<StoredMembership, 'member'>): string =>
  `${textOf(member, 'cooperative')}/${textOf(member, 'member_code')}`;

/** Shows memberships side by side, and marks the differences. */
export function compared(visit: Visit, sides: readonly StoredMembership[]): Html {
  const { say, write, translate } = visit;
  const valuesOf = ({ member, deliveries, loans, savingsTransactions }: StoredMembership) => [
    [translate(nameOf('identity_card')), textOf(member, 'identity_card')] as const,
    // Member codes always differ, and are already in the heading.
    ...memberValues(visit, member, 'member_code'),
    [say('Deliveries'), write.number(deliveries.length)] as const,
    [say('Loans'), write.number(loans.length)] as const,
    [say('Savings'), write.number(savingsTransactions.length)] as const,
  ];
  const columns = sides.map(valuesOf);
  const href = ({ member }: StoredMembership) =>
    `/person/${visit.session.persons.of(textOf(member, 'identity_card'))}`;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${say('Differences')}">
<table class="compared">
<thead><tr><td></td>${sides.map(
    (side) => html`<th scope="col"><a href="${href(side)}">${nameOfSide(side)}</a></th>`,
  )}</tr></thead><tbody>${columns[0]?.map(([label], row) => {
    const values = columns.map((column) => column[row]?.[1] ?? '–');
    const differs = new Set(values).size > 1;
    const cell = (value: string, column: number) =>
      html`<td>${differs ? marked(value, values[column === 0 ? 1 : 0] ?? '') : value}</td>`;
    return html`<tr${differs && html` class="differs"`}><th scope="row">${label}${
      differs && html` <b title="${say('differs')}" aria-label="${say('differs')}" role="img">≠</b>`
    }</th>${values.map(cell)}</tr>\n`;
  })}</tbody></table></div>`;
}

/** Marks the characters that differ in texts of equal length, such as national IDs. */
const marked = (text: string, other: string): HtmlValue =>
  text.length !== other.length
    ? text
    : [...text].map((character, i) => (character === other[i] ? character : html`<mark>${character}</mark>`));
