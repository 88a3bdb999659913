/** The cooperative that the address of a page names. */
import type { Cooperative } from '../../../domain/membership/cooperatives.ts';
import type { RegistryStore } from '../../../store/ports/registry.ts';
import type { Visit } from '../../visit/screen.ts';

export const pathOf = ({ places }: Visit): string => `/cooperative/${places.code}`;

/** @returns undefined when there is none with the code */
export async function findCooperative(
  { places }: Visit,
  { cooperatives }: Pick<RegistryStore, 'cooperatives'>,
): Promise<Cooperative | undefined> {
  const code = (places.code ?? '').toUpperCase();
  const { rows } = await cooperatives.list({ code }, { page: 1, pageSize: 1 });
  return rows[0];
}
