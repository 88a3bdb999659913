/** Searches by name, drawn from how frequent the names are, and what they leave of the rate of lookups. */
import type { Dataset } from '../dataset.ts';
import {
  type Figures,
  inTurn,
  lookupScript,
  measure,
  type Options,
  requestScript,
  startRegistry,
} from '../load.ts';
import { searchOf } from '../names.ts';
import { COOPERATIVES, type Population } from '../population.ts';

const CONNECTIONS = 32;
const SEARCHES = 5_000;

/** A third each: of all members, of the active ones, of one cooperative. */
function pathOf(n: number, { members, country }: Population): string {
  const cooperative = 1 + (n % (country?.cooperatives ?? COOPERATIVES));
  const more = ['', '&status=active', `&cooperative=${cooperative}`][n % 3];
  return `/api/v1/members/?search=${encodeURIComponent(searchOf(n, members))}${more}`;
}

/** @returns the path of a wrk script of 5,000 searches */
export function searchScript(folder: string, key: string, population: Population): string {
  const paths = Array.from({ length: SEARCHES }, (_, n) => `"${pathOf(n, population)}"`);
  return requestScript(
    folder,
    `search of ${population.members}`,
    key,
    `local paths = {${paths.join(',')}}\nlocal i = 0`,
    `  i = (i + 1789) % ${SEARCHES}\n  return wrk.format("GET", paths[i + 1])`,
  );
}

export async function search(
  { databaseFile, population, keys }: Dataset,
  options: Options,
): Promise<Figures> {
  const { folder, rounds, seconds } = options;
  const { port } = await startRegistry(databaseFile, folder);
  const searches = searchScript(folder, keys.basic, population);
  const chosen = { first: 0, count: population.withEntries };
  const lookups = lookupScript(folder, 'lookups', keys.full, population, chosen);
  const looking = () => measure(port, lookups, { seconds, connections: CONNECTIONS });
  const searching = () => measure(port, searches, { seconds, connections: 1 });
  return inTurn(rounds, [
    { name: 'lookups', measure: looking },
    { name: 'searches', measure: searching },
    {
      name: 'lookups beside searches',
      measure: async () => (await Promise.all([looking(), searching()]))[0],
    },
  ]);
}
