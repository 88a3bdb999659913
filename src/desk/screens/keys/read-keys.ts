/** Keys with what is known of their use. */
import { codesOf } from '../../../app/shown-keys.ts';
import type { ApiKey } from '../../../domain/access/api-keys.ts';
import type { ApiKeyStore, KeyUse } from '../../../store/contract/api-keys.ts';
import type { Visit } from '../../visit/screen.ts';

export interface ReadKeys {
  readonly keys: readonly ApiKey[];
  readonly uses: readonly KeyUse[];
  /** Codes of cooperatives, by id. */
  readonly codes: ReadonlyMap<number, string>;
}

export function readCodes(visit: Visit): ReadonlyMap<number, string> {
  const held = visit.use((storage) => storage.openHeldData());
  return new Map(held.listCooperatives().map(({ id, code }) => [id, code]));
}

/** @returns undefined before the first key was issued */
export const openKeys = async (visit: Visit): Promise<ApiKeyStore | undefined> =>
  visit.desk.storage.hasKeys() ? visit.use((storage) => storage.openKeys('manage')) : undefined;

export async function readKeys(visit: Visit): Promise<ReadKeys> {
  const store = await openKeys(visit);
  const [keys, uses] = [store?.list(visit.now) ?? [], store?.uses(visit.now) ?? []];
  return { keys, uses, codes: readCodes(visit) };
}

/** What narrows a key beside its scopes, in short. */
export function narrowing({ say }: Visit, key: ApiKey, codes: ReadonlyMap<number, string>): string[] {
  return [
    ...(key.isLookupOnly ? [say('lookups only')] : []),
    ...(codesOf(key, codes) ?? []),
    ...key.allowedAddresses,
    ...key.allowedHosts,
    ...(key.mayExport ? [say('exports')] : []),
  ];
}
