/** The memberships of a person, side by side. */
import { type Html, html } from '../../../html/html.ts';
import type { HeldMembership } from '../../../store/ports/journal/held-data.ts';
import { nameOf } from '../../page/names.ts';
import { fields } from '../../page/parts.ts';
import type { Visit } from '../../visit/screen.ts';
import { ifGiven, textOf } from './held-values.ts';

export const memberships = (visit: Visit, all: readonly HeldMembership[]): Html =>
  html`<div class="beside">${all.map((each) => membership(visit, each))}</div>`;

function membership(visit: Visit, { member }: HeldMembership): Html {
  const { write, translate } = visit;
  const named = (field: string, value: string | undefined) => [translate(nameOf(field)), value] as const;
  const word = (field: string) => ifGiven<string>(member, field, (value) => translate(nameOf(value)));
  const date = (field: string) => ifGiven<string>(member, field, write.date);
  const code = textOf(member, 'cooperative');
  return html`<section class="card"><h3><a href="/cooperative/${code}">${code}</a></h3>${fields([
    named('full_name', textOf(member, 'full_name')),
    named('member_code', textOf(member, 'member_code')),
    named('status', word('status')),
    named('role', word('role')),
    named('registration_date', ifGiven(member, 'registration_date', write.day)),
    named('mobile', textOf(member, 'mobile')),
    named('gender', word('gender')),
    named('date_of_birth', date('date_of_birth')),
    named('date_of_death', date('date_of_death')),
  ])}</section>`;
}
