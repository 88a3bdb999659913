/** Memberships beside each other, with what differs marked by a sign as well. */
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import type { HeldMembership } from '../../store/contract/journal/held-data.ts';
import type { Visit } from '../visit/screen.ts';
import { memberValues, textOf } from './held-values.ts';
import { nameOf } from './names.ts';

/** The codes of the cooperative and the member. */
export const nameOfSide = ({ member }: Pick<HeldMembership, 'member'>): string =>
  `${textOf(member, 'cooperative')}/${textOf(member, 'member_code')}`;

/** @param sides two or more */
export function compared(visit: Visit, sides: readonly HeldMembership[]): Html {
  const { say, write, translate } = visit;
  const valuesOf = ({ member, deliveries, loans, savingsTransactions }: HeldMembership) => [
    [translate(nameOf('identity_card')), textOf(member, 'identity_card')] as const,
    // The heading has the codes, which always differ.
    ...memberValues(visit, member, 'member_code'),
    [say('Deliveries'), write.number(deliveries.length)] as const,
    [say('Loans'), write.number(loans.length)] as const,
    [say('Savings'), write.number(savingsTransactions.length)] as const,
  ];
  const columns = sides.map(valuesOf);
  const href = ({ member }: HeldMembership) =>
    `/person/${visit.session.persons.of(textOf(member, 'identity_card'))}`;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${say('What differs')}">
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

/** Of texts of one length, such as national IDs, the characters that differ. */
const marked = (text: string, other: string): HtmlValue =>
  text.length !== other.length
    ? text
    : [...text].map((character, i) => (character === other[i] ? character : html`<mark>${character}</mark>`));
