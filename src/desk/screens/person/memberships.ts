/** The memberships of a person, side by side. */
import { type Html, html } from '../../../html/html.ts';
import type { HeldMembership } from '../../../store/ports/journal/held-data.ts';
import { fields } from '../../page/parts.ts';
import type { Visit } from '../../visit/screen.ts';
import { memberValues, textOf } from './held-values.ts';

export const memberships = (visit: Visit, all: readonly HeldMembership[]): Html =>
  html`<div class="beside">${all.map((each) => membership(visit, each))}</div>`;

function membership(visit: Visit, { member }: HeldMembership): Html {
  const code = textOf(member, 'cooperative');
  return html`<section class="card"><h3><a href="/cooperative/${code}">${code}</a></h3>${fields(
    memberValues(visit, member),
  )}</section>`;
}
