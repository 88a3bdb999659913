/** Pages of the member list, whatever their depth. */
import type { Dataset } from '../dataset.ts';
import {
  type Figures,
  inTurn,
  measure,
  type Options,
  requestScript,
  type Subject,
  startRegistry,
} from '../load.ts';
import { COOPERATIVES } from '../population.ts';

/** Pages of the member list, one request at a time, so that its rate is the time of a request. */
export async function pages(small: Dataset, large: Dataset, options: Options): Promise<Figures> {
  const { folder, rounds } = options;
  const ports = new Map<Dataset, number>();
  for (const each of [small, large]) ports.set(each, (await startRegistry(each.databaseFile, folder)).port);
  const last = Math.ceil(large.population.members / 50);
  const inCooperative = Math.ceil(large.population.members / COOPERATIVES / 50);
  const list: [name: string, Dataset, path: string][] = [
    ['page 1 of 20,000', small, '"/api/v1/members/"'],
    ['page 1 of 5,000,000', large, '"/api/v1/members/"'],
    ['any page of 5,000,000', large, `"/api/v1/members/?page=" .. math.random(${last})`],
    ['last page of 5,000,000', large, `"/api/v1/members/?page=${last}"`],
    [
      'any page of active ones of 5,000,000',
      large,
      `"/api/v1/members/?status=active&page=" .. math.random(${last})`,
    ],
    [
      'last page of any cooperative of 5,000,000',
      large,
      `"/api/v1/members/?page=${inCooperative - 1}&cooperative=" .. math.random(${COOPERATIVES})`,
    ],
  ];
  const subjects = list.map(([name, dataset, path]): Subject => {
    const script = requestScript(
      folder,
      name,
      dataset.keys.basic,
      'math.randomseed(42)',
      `  return wrk.format("GET", ${path})`,
    );
    const port = ports.get(dataset) as number;
    return { name, measure: () => measure(port, script, { seconds: 2, connections: 1 }) };
  });
  return inTurn(rounds, subjects);
}
