/** The processor time of lookups, 100 in a request and one in a request. */
import { join } from 'node:path';
import { copyRegistry, type Dataset } from '../dataset.ts';
import {
  type Figures,
  inTurn,
  lookupScript,
  measure,
  type Options,
  requestScript,
  startRegistry,
} from '../load.ts';
import { identityCardLua, memberWithEntries } from '../population.ts';
import { MILK } from '../rows.ts';

const TOGETHER = 100;
/** Few for requests of 100, as 3,200 waiting lookups would be refused as an overload. */
const CONNECTIONS = { one: 32, together: 4 };

/** @returns lookups in a second of processor time */
export async function batches(dataset: Dataset, { folder, rounds, seconds }: Options): Promise<Figures> {
  const { keys, population } = dataset;
  const databaseFile = copyRegistry(dataset, join(folder, 'copy'));
  const everyone = { first: MILK.members, count: population.withEntries - MILK.members };
  const stride = memberWithEntries(1, population);
  const server = await startRegistry(databaseFile, folder);
  // Some people have several memberships: a number is sent once in a request.
  const together = `local numbers, sent = {}, {}
while #numbers < ${TOGETHER} do
  i = (i + 7919) % ${everyone.count}
  local number = identity_card((${everyone.first} + i) * ${stride})
  if not sent[number] then
    sent[number] = true
    numbers[#numbers + 1] = '"' .. number .. '"'
  end
end
local body = '{"identity_cards":[' .. table.concat(numbers, ",") .. ']}'
return wrk.format("POST", "/api/v1/members/lookups", nil, body)`;
  const prelude = `${identityCardLua(population)}
wrk.headers["Content-Type"] = "application/json"
local i = 0`;
  const perProcessorSecond = async (script: string, connections: number, people: number) => {
    const before = server.cpuMs();
    const figure = await measure(server.port, script, { seconds, connections });
    const lookups = figure.perSecond * seconds * people;
    return { ...figure, perSecond: (lookups * 1000) / (server.cpuMs() - before) };
  };
  const subjects = (['with blocks', 'without blocks'] as const).flatMap((blocks) => {
    const key = blocks === 'with blocks' ? keys.full : keys.basic;
    const one = lookupScript(folder, `one ${blocks}`, key, population, everyone);
    const many = requestScript(folder, `together ${blocks}`, key, prelude, together);
    return [
      { name: `one, ${blocks}`, measure: () => perProcessorSecond(one, CONNECTIONS.one, 1) },
      {
        name: `together, ${blocks}`,
        measure: () => perProcessorSecond(many, CONNECTIONS.together, TOGETHER),
      },
    ];
  });
  return inTurn(rounds, subjects);
}
