/** How fast changes that have waited are delivered to one endpoint on this machine, one after the other. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createKey, runRegistry } from '../dataset.ts';
import { type Figure, inTurn, measure, type Options, requestScript, startRegistry } from '../load.ts';

const CONNECTIONS = 32;

/** Takes messages, and sees that none is missing or out of order. */
function startReceiver() {
  let [first, last, count] = [0, 0, 0];
  let firstAtMs = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { sequence } = JSON.parse(body) as { sequence: number };
    if (count === 0) [first, firstAtMs] = [sequence, performance.now()];
    else if (sequence !== last + 1) throw new Error(`Event ${sequence} came after event ${last}.`);
    [last, count] = [sequence, count + 1];
    response.writeHead(204).end();
  });
  return {
    server,
    /** Starts counting again. */
    reset() {
      count = 0;
    },
    /** Messages a second since the first one, once the last has come. */
    async rateUpTo(sequence: number): Promise<number> {
      while (last < sequence) await new Promise((resolve) => setTimeout(resolve, 1));
      return (last - first) / ((performance.now() - firstAtMs) / 1000);
    },
  };
}

/** In each round the key is disabled while cooperatives are posted, and enabled again. */
export async function webhooks({ rounds, seconds, folder }: Options) {
  const file = join(folder, 'registry.db');
  const receiver = startReceiver();
  await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
  const registry = await startRegistry(file, folder);
  const key = await createKey(file, ['cooperatives:write', 'webhooks:receive']);
  await createKey(file, ['webhooks:receive']);
  const url = `http://127.0.0.1:${(receiver.server.address() as AddressInfo).port}/`;
  await runRegistry(file, ['webhooks', 'add', '--key', '2', '--url', url, '--allow-private', '--json']);
  let round = 0;
  async function measureRound(): Promise<Figure> {
    await runRegistry(file, ['keys', 'disable', '2']);
    receiver.reset();
    const script = requestScript(
      ...[folder, `cooperatives ${++round}`, key],
      'local i = 0\nwrk.headers["Content-Type"] = "application/json"',
      `  i = i + 1
  local body = string.format('{"code":"C-${round}-%d","name":"C"}', i)
  return wrk.format("POST", "/api/v1/cooperatives", nil, body)`,
    );
    await measure(registry.port, script, { seconds, connections: CONNECTIONS });
    const response = await fetch(`http://127.0.0.1:${registry.port}/api/v1/events`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const { last_sequence: end } = (await response.json()) as { last_sequence: number };
    await runRegistry(file, ['keys', 'enable', '2']);
    const perSecond = await receiver.rateUpTo(end);
    return { perSecond, p50Ms: 0, p99Ms: 0 };
  }
  const figures = await inTurn(rounds, [{ name: 'webhooks to one endpoint', measure: measureRound }]);
  receiver.server.closeAllConnections();
  receiver.server.close();
  return figures;
}
