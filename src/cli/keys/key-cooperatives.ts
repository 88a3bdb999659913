/** The cooperatives of keys: people name them by their codes, keys are stored with ids (decision 25). */
import type { ApiKey } from '../../domain/access/api-keys.ts';
import type { CooperativeSummary } from '../../domain/membership/cooperatives.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import { withStore } from '../terminal/with-store.ts';

/** @throws StorageError `unusable` when there is no registry */
const listCooperatives = (storage: Storage): Promise<readonly CooperativeSummary[]> =>
  withStore(storage.openHeldData(), (store) => store.listCooperatives());

/** @throws CommandError for a code that no cooperative has; StorageError when there is no registry */
export async function idsOfCodes(storage: Storage, codes: readonly string[]): Promise<readonly number[]> {
  const ids = new Map((await listCooperatives(storage)).map(({ id, code }) => [code, id]));
  return codes.map((code) => {
    const id = ids.get(code);
    if (id === undefined)
      throw new CommandError(EXIT.usage, `--cooperative: There is no cooperative with the code ${code}.`);
    return id;
  });
}

/** The codes by id; read only if one of the keys is restricted to some. */
export async function codesOfKeys(
  storage: Storage,
  keys: readonly ApiKey[],
): Promise<ReadonlyMap<number, string>> {
  const isNeeded = keys.some(({ cooperatives }) => cooperatives !== null);
  if (!isNeeded || !(await storage.exists())) return new Map();
  return new Map((await listCooperatives(storage)).map(({ id, code }) => [id, code]));
}
