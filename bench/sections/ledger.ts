/** The lookup with the access ledger, which records each one before it is answered, and without it. */
import { join } from 'node:path';
import { copyRegistry, type Dataset } from '../dataset.ts';
import { type Figures, inTurn, lookupScript, measure, type Options, startRegistry } from '../load.ts';
import { MILK } from '../rows.ts';

const CONNECTIONS = 32;

export async function ledger(dataset: Dataset, options: Options): Promise<Figures> {
  const { folder, rounds, seconds } = options;
  const { keys, population } = dataset;
  const databaseFile = copyRegistry(dataset, join(folder, 'copy'));
  const everyone = { first: MILK.members, count: population.withEntries - MILK.members };
  const load = { seconds, connections: CONNECTIONS };
  const subjects = [];
  for (const ACCESS_LEDGER of ['on', 'off']) {
    const { port } = await startRegistry(databaseFile, folder, { ACCESS_LEDGER });
    for (const [blocks, key] of [
      ['with blocks', keys.full],
      ['without blocks', keys.basic],
    ] as const) {
      const name = `${blocks}, ledger ${ACCESS_LEDGER}`;
      const script = lookupScript(folder, name, key, population, everyone);
      subjects.push({ name, measure: () => measure(port, script, load) });
    }
  }
  return inTurn(rounds, subjects);
}
