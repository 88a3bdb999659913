/** Two memberships beside each other, with what differs marked by a sign as well. */
import { type Html, type HtmlValue, html } from '../../../html/html.ts';
import type { HeldMembership } from '../../../store/contract/journal/held-data.ts';
import { nameOf } from '../../page/names.ts';
import type { Visit } from '../../visit/screen.ts';
import { memberValues, textOf } from '../person/held-values.ts';

export function compared(
  visit: Visit,
  names: readonly [string, string],
  sides: readonly [HeldMembership, HeldMembership],
): Html {
  const { say, write, translate } = visit;
  const valuesOf = ({ member, deliveries, loans, savingsTransactions }: HeldMembership) => [
    [translate(nameOf('identity_card')), textOf(member, 'identity_card')] as const,
    // The heading has the codes, which always differ.
    ...memberValues(visit, member, 'member_code'),
    [say('Deliveries'), write.number(deliveries.length)] as const,
    [say('Loans'), write.number(loans.length)] as const,
    [say('Savings'), write.number(savingsTransactions.length)] as const,
  ];
  const others = valuesOf(sides[1]);
  const href = ({ member }: HeldMembership) =>
    `/person/${visit.session.persons.of(textOf(member, 'identity_card'))}`;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${say('What differs')}">
<table class="compared">
<thead><tr><td></td>${sides.map(
    (side, i) => html`<th scope="col"><a href="${href(side)}">${names[i]}</a></th>`,
  )}</tr></thead><tbody>${valuesOf(sides[0]).map(([label, value], i) => {
    const [left, right] = [value ?? '–', others[i]?.[1] ?? '–'];
    const differs = left !== right;
    return html`<tr${differs && html` class="differs"`}><th scope="row">${label}${
      differs && html` <b title="${say('differs')}" aria-label="${say('differs')}" role="img">≠</b>`
    }</th><td>${differs ? marked(left, right) : left}</td>
<td>${differs ? marked(right, left) : right}</td></tr>\n`;
  })}</tbody></table></div>`;
}

/** Of texts of one length, such as national IDs, the characters that differ. */
const marked = (text: string, other: string): HtmlValue =>
  text.length !== other.length
    ? text
    : [...text].map((character, i) => (character === other[i] ? character : html`<mark>${character}</mark>`));
