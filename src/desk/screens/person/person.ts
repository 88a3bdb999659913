/** `/person/…`: one person, in all cooperatives and statuses. */
import { say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { HeldMembership, HeldPerson } from '../../../store/contract/journal/held-data.ts';
import { fields } from '../../page/parts.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { actorNames, changes, type NameActor } from './changes.ts';
import { CORRECTING, correctionForms, removeButton } from './corrections.ts';
import { deliveries, loans, savings } from './entries.ts';
import { findVisited, nameOfPerson, pathOf, showing } from './find-visited.ts';
import { memberValues, textOf } from './held-values.ts';

export const PERSON: Screen = {
  path: '/person/:person',
  title: say('Person'),
  personal: 'some',
  read(visit) {
    const person = findVisited(visit);
    if (person === undefined) return undefined;
    const nameActor = actorNames(visit, person.history);
    return { body: body(visit, person, nameActor), shows: showing(person) };
  },
  actions: CORRECTING,
};

function body(visit: Visit, person: HeldPerson, nameActor: NameActor): Html {
  const { identityCard, formerIdentityCards, memberships: all, history } = person;
  const end = removeButton(visit);
  return html`<h1>${nameOfPerson(person)}</h1>
${fields([
  [visit.say('National ID'), identityCard],
  [visit.say('Former numbers'), formerIdentityCards.join(', ')],
])}
<p><a href="${pathOf(visit)}/held">${visit.say('Everything that is held, to print')}</a>${
    visit.desk.config.accessLedger &&
    html` · <a href="${pathOf(visit)}/readers">${visit.say('Who has seen the data')}</a>`
  }</p>
${memberships(visit, all)}
${deliveries(visit, all, end)}
${loans(visit, all, end)}
${savings(visit, all, end)}
${changes(visit, history, nameActor)}
${correctionForms(visit, person)}`;
}

/** The memberships of a person, side by side. */
export const memberships = (visit: Visit, all: readonly HeldMembership[]): Html =>
  html`<div class="beside">${all.map((each) => membership(visit, each))}</div>`;

function membership(visit: Visit, { member }: HeldMembership): Html {
  const code = textOf(member, 'cooperative');
  return html`<section class="card"><h3><a href="/cooperative/${code}">${code}</a></h3>${fields(
    memberValues(visit, member),
  )}</section>`;
}
