/** The person whom the address of a page means, and what every page about a person needs. */
import type { HeldPerson } from '../../../store/ports/journal/held-data.ts';
import type { Shows, Visit } from '../../visit/screen.ts';
import { numberOf, textOf } from './held-values.ts';

/** Of the page of the person. */
export const pathOf = ({ places }: Visit): string => `/person/${places.person}`;

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
