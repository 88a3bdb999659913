/** The lookup at every size, and the memory of the largest. */
import type { Dataset } from '../dataset.ts';
import {
  type Figures,
  inTurn,
  lookupScript,
  measure,
  type Options,
  type Server,
  type Subject,
  startRegistry,
} from '../load.ts';
import { MILK } from '../rows.ts';

const CONNECTIONS = 32;

/** The same lookup at every size; anonymous memory (RssAnon) of the largest under load, in MiB. */
export async function sizes(
  datasets: readonly Dataset[],
  options: Options,
): Promise<[Figures, rssAnonMib: number]> {
  const { folder, rounds, seconds } = options;
  const servers = await Promise.all(datasets.map((each) => startRegistry(each.databaseFile, folder)));
  const subjects = (['full', 'basic'] as const).flatMap((scope) =>
    datasets.map(({ population, keys }, i): Subject => {
      const name = `${population.members} members, ${scope === 'full' ? 'with' : 'without'} blocks`;
      const chosen = { first: MILK.members, count: population.withEntries - MILK.members };
      const script = lookupScript(folder, name, keys[scope], population, chosen);
      const { port } = servers[i] as Server;
      return { name, measure: () => measure(port, script, { seconds, connections: CONNECTIONS }) };
    }),
  );
  const figures = await inTurn(rounds, subjects);
  const rssAnonMib = (servers.at(-1) as Server).rssAnonMib();
  return [figures, rssAnonMib];
}
