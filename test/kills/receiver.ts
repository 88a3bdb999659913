/** A receiver of webhooks that lives while the service is killed, and what it must have got in the end. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { command } from '../support/command.ts';
import { openFile } from '../support/sqlite.ts';

export interface KillsReceiver {
  /** Messages that came again. */
  readonly repeated: number;
  /** Waits until every event has come. */
  waitFor(): Promise<void>;
  /** @returns what is wrong, a line each */
  findLosses(): string[];
  close(): void;
}

async function succeed(args: readonly string[]): Promise<string> {
  const { status, out, err } = await command([...args, '--json']);
  if (status !== 0) throw new Error(`${args.join(' ')}: ${out}${err}`);
  return out;
}

/** Starts one, with an endpoint and a key of its own. @param db path of the registry */
export async function startReceiver(db: string): Promise<KillsReceiver> {
  /** By the number of the event, in the order in which they came first. */
  const ids = new Map<number, string>();
  const faults: string[] = [];
  let repeated = 0;
  function take(id: string, body: string): void {
    const { sequence } = JSON.parse(body) as { sequence: number };
    const known = ids.get(sequence);
    if (known !== undefined) repeated++;
    if (known !== undefined && known !== id) faults.push(`Event ${sequence} came again under another id.`);
    if (known === undefined && sequence !== (lastOf(ids) ?? sequence - 1) + 1)
      faults.push(`Event ${sequence} came after event ${lastOf(ids)}.`);
    ids.set(sequence, id);
  }
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    take(String(request.headers['webhook-id']), body);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const scope = ['--scope', 'webhooks:receive'];
  const key = JSON.parse(await succeed(['keys', 'create', '--name', 'receiver', ...scope, '--db', db]));
  await succeed(['webhooks', 'add', '--key', key.id, '--url', url, '--allow-private', '--db', db]);
  const first = lastEvent(db) + 1;
  const missing = (): number => lastEvent(db) - first + 1 - ids.size;

  return {
    get repeated() {
      return repeated;
    },
    async waitFor() {
      for (let waited = 0; missing() > 0 && waited < 60; waited++) await sleep(500);
    },
    findLosses() {
      if (missing() !== 0) faults.push(`${missing()} events were never delivered.`);
      return faults;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const lastOf = (ids: ReadonlyMap<number, string>): number | undefined => {
  // The numbers come in order, so the map has as many as there are up to the last.
  const [first] = ids.keys();
  return first === undefined ? undefined : first + ids.size - 1;
};

function lastEvent(db: string): number {
  const registry = openFile(db);
  try {
    return registry.value<number>('SELECT max(sequence) FROM events');
  } finally {
    registry.close();
  }
}
