/** What is shown of keys, by commands and at the desk. */
import type { ApiKey } from '../domain/access/api-keys.ts';
import type { KeyUse } from '../store/contract/api-keys.ts';

/** What a key did, of one kind. */
export const usesOf = (
  { id }: Pick<ApiKey, 'id'>,
  uses: readonly KeyUse[],
  kind: KeyUse['kind'],
): readonly KeyUse[] => uses.filter((use) => use.keyId === id && use.kind === kind);

/** How often a key was refused in the last day. */
export const refusalsOf = (key: Pick<ApiKey, 'id'>, uses: readonly KeyUse[]): number =>
  usesOf(key, uses, 'refused').reduce((sum, { requests }) => sum + requests, 0);

/**
 * The codes of the cooperatives that a key sees; null: all. One that was undone has no code any more, and no
 * other will have its id.
 * @param codes of all, by id
 */
export const codesOf = (
  { cooperatives }: Pick<ApiKey, 'cooperatives'>,
  codes: ReadonlyMap<number, string>,
): string[] | null => cooperatives?.map((id) => codes.get(id) ?? `#${id}`) ?? null;
