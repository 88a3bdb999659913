/** The cooperative that the address of a page names. */
import type { Cooperative } from '../../../domain/membership/cooperatives.ts';
import type { RegistryStore } from '../../../store/contract/registry.ts';
import type { Visit } from '../../visit/screen.ts';

/** In any letter case, as everywhere. */
export const codeOf = ({ places }: Visit): string => (places.code ?? '').toUpperCase();

export const pathOf = (visit: Visit): string => `/cooperative/${codeOf(visit)}`;

/** @returns undefined when there is none with the code */
export async function findCooperative(
  visit: Visit,
  { cooperatives }: Pick<RegistryStore, 'cooperatives'>,
): Promise<Cooperative | undefined> {
  const { rows } = await cooperatives.list({ code: codeOf(visit) }, { page: 1, pageSize: 1 });
  return rows[0];
}
