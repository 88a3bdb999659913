/** Finds the person or cooperative that the address of a page names. */

import type { Shows, Visit } from '../../desk/screen.ts';
import type { Cooperative } from '../cooperatives.ts';
import type { OwnedRows } from '../registry-store.ts';
import { openStoredData } from '../stored/stored-data.ts';
import type { StoredPerson } from '../stored/stored-data-types.ts';
import { byNewestRegistration } from '../stores/consolidate.ts';
import { numberOf, textOf } from './show-stored-values.ts';

export const personPath = ({ places }: Visit): string => `/person/${places.person}`;

/** @returns undefined if the number in the address is unknown, or if the person no longer exists */
export function findVisited(visit: Visit): StoredPerson | undefined {
  const identityCard = visit.session.persons.find(Number(visit.places.person));
  if (identityCard === undefined) return undefined;
  return visit.use(openStoredData).findPerson(identityCard);
}

/** Access record of a page that shows all data of a person. */
export const showing = ({ identityCard, memberships: all }: StoredPerson): Shows => ({
  fields: ['identity', 'contact', 'financials'],
  subject: { identityCards: [identityCard], memberIds: all.map(({ member }) => numberOf(member, 'id')) },
});

/** Returns the name in the newest active membership; if none is active, in the newest membership. */
export const nameOfPerson = ({ memberships: all }: StoredPerson): string => {
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

/** The desk accepts codes in any letter case, like the API. */
export const codeOf = ({ places }: Visit): string => (places.code ?? '').toUpperCase();

export const cooperativePath = (visit: Visit): string => `/cooperative/${codeOf(visit)}`;

export async function findCooperative(
  visit: Visit,
  { cooperatives }: Pick<OwnedRows, 'cooperatives'>,
): Promise<Cooperative | undefined> {
  const { rows } = await cooperatives.list({ code: codeOf(visit) }, { page: 1, pageSize: 1 });
  return rows[0];
}
