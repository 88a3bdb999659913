/** `/person/…`: one person, in all cooperatives and statuses. */
import { say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { HeldPerson } from '../../../store/ports/journal/held-data.ts';
import { fields } from '../../page/parts.ts';
import type { Screen, Shows, Visit } from '../../visit/screen.ts';
import { actorNames, changes, type NameActor } from './changes.ts';
import { deliveries, loans, savings } from './entries.ts';
import { numberOf, textOf } from './held-values.ts';
import { memberships } from './memberships.ts';

/** @returns undefined when the number is not of this session, or nobody has the national ID any more */
export async function findVisited(visit: Visit): Promise<HeldPerson | undefined> {
  const identityCard = visit.session.persons.find(Number(visit.places.person));
  if (identityCard === undefined) return undefined;
  return visit.use((storage) => storage.openHeldData()).findPerson(identityCard);
}

/** What the ledger is told of a page that shows everything about a person. */
export const showing = ({ identityCard, memberships: all }: HeldPerson): Shows => ({
  fields: ['identity', 'contact', 'financials'],
  subject: { identityCards: [identityCard], memberIds: all.map(({ member }) => numberOf(member, 'id')) },
});

/** The name that the newest membership has, as lookups show it. */
export const nameOfPerson = ({ memberships: all }: HeldPerson): string => {
  const [newest] = [...all].sort(
    (one, other) => numberOf(other.member, 'registration_date') - numberOf(one.member, 'registration_date'),
  );
  return newest === undefined ? '' : textOf(newest.member, 'full_name');
};

export const PERSON: Screen = {
  path: '/person/:person',
  title: say('Person'),
  personal: 'some',
  async read(visit) {
    const person = await findVisited(visit);
    if (person === undefined) return undefined;
    const nameActor = await actorNames(visit, person.history);
    return { body: body(visit, person, nameActor), shows: showing(person) };
  },
};

function body(visit: Visit, person: HeldPerson, nameActor: NameActor): Html {
  const { identityCard, formerIdentityCards, memberships: all, history } = person;
  const none = () => undefined;
  return html`<h1>${nameOfPerson(person)}</h1>
${fields([
  [visit.say('National ID'), identityCard],
  [visit.say('Former numbers'), formerIdentityCards.join(', ')],
])}
<p><a href="/person/${visit.places.person}/held">${visit.say('Everything that is held, to print')}</a></p>
${memberships(visit, all)}
${deliveries(visit, all, none)}
${loans(visit, all, none)}
${savings(visit, all, none)}
${changes(visit, history, nameActor)}`;
}
