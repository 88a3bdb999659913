/** Two memberships beside each other, with what differs marked by a sign as well. */
import { type Html, type HtmlValue, html } from '../../../html/html.ts';
import type { HeldMembership } from '../../../store/ports/journal/held-data.ts';
import { nameOf } from '../../page/names.ts';
import type { Visit } from '../../visit/screen.ts';
import { ifGiven, textOf } from '../person/held-values.ts';

type Show = (side: HeldMembership) => string | undefined;

export function compared(
  visit: Visit,
  names: readonly [string, string],
  [one, other]: readonly [HeldMembership, HeldMembership],
): Html {
  const { say, write, translate } = visit;
  const word =
    (field: string): Show =>
    ({ member }) =>
      ifGiven<string>(member, field, (value) => translate(nameOf(value)));
  const text =
    (field: string): Show =>
    ({ member }) =>
      ifGiven<string>(member, field, String);
  const rows: readonly (readonly [label: string, show: Show])[] = [
    ...(['identity_card', 'full_name'] as const).map(
      (field) => [translate(nameOf(field)), text(field)] as const,
    ),
    [translate(nameOf('gender')), word('gender')],
    [translate(nameOf('date_of_birth')), ({ member }) => ifGiven(member, 'date_of_birth', write.date)],
    [translate(nameOf('mobile')), text('mobile')],
    [translate(nameOf('role')), word('role')],
    [translate(nameOf('status')), word('status')],
    [translate(nameOf('registration_date')), ({ member }) => ifGiven(member, 'registration_date', write.day)],
    [say('Deliveries'), ({ deliveries }) => write.number(deliveries.length)],
    [say('Loans'), ({ loans }) => write.number(loans.length)],
    [say('Savings'), ({ savingsTransactions }) => write.number(savingsTransactions.length)],
  ];
  const href = ({ member }: HeldMembership) =>
    `/person/${visit.session.persons.of(textOf(member, 'identity_card'))}`;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${say('What differs')}">
<table class="compared">
<thead><tr><td></td>${[one, other].map(
    (side, i) => html`<th scope="col"><a href="${href(side)}">${names[i]}</a></th>`,
  )}</tr></thead><tbody>${rows.map(([label, show]) => {
    const [left, right] = [show(one) ?? '–', show(other) ?? '–'];
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
