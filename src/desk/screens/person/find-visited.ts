/** The person whom the address of a page means, and what every page about a person needs. */
import { byNewestRegistration } from '../../../lookup/consolidate.ts';
import type { HeldPerson } from '../../../store/contract/journal/held-data.ts';
import { numberOf, textOf } from '../../page/held-values.ts';
import type { Shows, Visit } from '../../visit/screen.ts';

/** Of the page of the person. */
export const pathOf = ({ places }: Visit): string => `/person/${places.person}`;

/** @returns undefined when the number is not of this session, or nobody has the national ID any more */
export function findVisited(visit: Visit): HeldPerson | undefined {
  const identityCard = visit.session.persons.find(Number(visit.places.person));
  if (identityCard === undefined) return undefined;
  return visit.use((storage) => storage.openHeldData()).findPerson(identityCard);
}

/** What the ledger is told of a page that shows everything about a person. */
export const showing = ({ identityCard, memberships: all }: HeldPerson): Shows => ({
  fields: ['identity', 'contact', 'financials'],
  subject: { identityCards: [identityCard], memberIds: all.map(({ member }) => numberOf(member, 'id')) },
});

/** `primary_full_name` of lookups; where no membership is active, by the same rule of all of them. */
export const nameOfPerson = ({ memberships: all }: HeldPerson): string => {
  const active = all.filter(({ member }) => member.status === 'active');
  const [newest] = (active.length > 0 ? active : all)
    .map(({ member }) => ({
      id: numberOf(member, 'id'),
      registrationDate: numberOf(member, 'registration_date'),
      name: textOf(member, 'full_name'),
    }))
    .sort(byNewestRegistration);
  return newest?.name ?? '';
};
