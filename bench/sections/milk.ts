/** Members with many deliveries. */
import { join } from 'node:path';
import type { Dataset } from '../dataset.ts';
import {
  type Figures,
  inTurn,
  lookupScript,
  measure,
  type Options,
  ROOT,
  type Subject,
  startRegistry,
  startServer,
} from '../load.ts';
import { ENTRIES, MILK } from '../rows.ts';

const CONNECTIONS = 32;

/**
 * A person with deliveries twice a day beside one with twenty, when the stored read model is right and when
 * it is not.
 */
export async function milk({ databaseFile, population, keys }: Dataset, options: Options): Promise<Figures> {
  const { folder, rounds, seconds } = options;
  const now = await startRegistry(databaseFile, folder);
  const later = await startServer([join(ROOT, 'bench/later.ts')], { REGISTRY_DB: databaseFile }, folder);
  const load = { seconds, connections: CONNECTIONS };
  const subjects = (
    [
      ['', now],
      [', read model out of date', later],
    ] as const
  ).flatMap(([state, server]) =>
    (
      [
        [MILK.production, 0],
        [ENTRIES.production, MILK.members],
      ] as const
    ).map(([entries, first]): Subject => {
      const name = `${entries} entries${state}`;
      const script = lookupScript(folder, name, keys.full, population, { first, count: MILK.members });
      return { name, measure: () => measure(server.port, script, load) };
    }),
  );
  return inTurn(rounds, subjects);
}
