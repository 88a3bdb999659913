/** `/person/…`: one person, in all cooperatives and statuses. */
import { say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { HeldMembership, HeldPerson } from '../../../store/contract/journal/held-data.ts';
import { changeLink, enterLink } from '../../page/entered-kinds.ts';
import { memberValues, textOf } from '../../page/held-values.ts';
import { fields } from '../../page/parts.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { type Actors, actorsOf, changes } from './changes.ts';
import { correctionForms } from './correction-forms.ts';
import { CORRECTING, entryActions } from './corrections.ts';
import { deliveries, loans, savings } from './entries.ts';
import { findVisited, nameOfPerson, pathOf, showing } from './find-visited.ts';

export const PERSON: Screen = {
  path: '/person/:person',
  title: say('Person'),
  personal: 'some',
  read(visit) {
    const person = findVisited(visit);
    if (person === undefined) return undefined;
    return { body: body(visit, person, actorsOf(visit, person.history)), shows: showing(person) };
  },
  actions: CORRECTING,
};

function body(visit: Visit, person: HeldPerson, actors: Actors): Html {
  const { identityCard, formerIdentityCards, memberships: all, history } = person;
  const end = entryActions(visit);
  return html`<h1>${nameOfPerson(person)}</h1>
${fields([
  [visit.say('National ID'), identityCard],
  [visit.say('Former numbers'), formerIdentityCards.join(', ')],
])}
<p><a href="${pathOf(visit)}/held">${visit.say('Everything that is held, to print')}</a>${
    visit.desk.config.accessLedger &&
    html` · <a href="${pathOf(visit)}/readers">${visit.say('Who has seen the data')}</a>`
  }</p>
<div class="beside">${all.map((each) => membership(visit, each, true))}</div>
${deliveries(visit, all, end)}
${loans(visit, all, end)}
${savings(visit, all, end)}
${changes(visit, history, actors)}
${correctionForms(visit, person)}`;
}

/** The memberships of a person, side by side. */
export const memberships = (visit: Visit, all: readonly HeldMembership[]): Html =>
  html`<div class="beside">${all.map((each) => membership(visit, each, false))}</div>`;

function membership(visit: Visit, { member }: HeldMembership, isChangeable: boolean): Html {
  const code = textOf(member, 'cooperative');
  return html`<section class="card"><h3><a href="/cooperative/${code}">${code}</a></h3>${fields(
    memberValues(visit, member),
  )}${
    isChangeable &&
    html`<p>${changeLink(visit, pathOf(visit), 'members', textOf(member, 'id'))}${OWNED.map(
      (kind) => html` ${enterLink(visit, pathOf(visit), kind, textOf(member, 'id'))}`,
    )}</p>`
  }</section>`;
}

/** What is entered for a membership. */
const OWNED = ['production', 'savings', 'loans'] as const;
