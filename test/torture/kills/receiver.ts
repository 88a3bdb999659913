/** A receiver of webhooks that lives while the service is killed, and what it must have got in the end. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { command } from '../../support/command.ts';
import { openFile } from '../../support/sqlite.ts';

export interface KillsReceiver {
  /** Messages that came again. */
  readonly repeated: number;
  /** Waits until every event has come. */
  waitFor(): Promise<void>;
  /** @returns what is wrong, a line each */
  findLosses(): string[];
  close(): void;
}

/** Of one event, or of all of an import. */
interface Message {
  readonly sequence: number;
  readonly data?: { readonly first_sequence?: number; readonly last_sequence?: number };
}

async function succeed(args: readonly string[]): Promise<string> {
  const { status, out, err } = await command([...args, '--json']);
  if (status !== 0) throw new Error(`${args.join(' ')}: ${out}${err}`);
  return out;
}

/** Starts one, with an endpoint and a key of its own. @param db path of the registry */
export async function startReceiver(db: string): Promise<KillsReceiver> {
  /** By the number of the last event that the message stands for. */
  const ids = new Map<number, string>();
  const faults: string[] = [];
  let repeated = 0;
  let reached = 0;
  function take(id: string, body: string): void {
    const { sequence, data } = JSON.parse(body) as Message;
    const { first_sequence: first = sequence, last_sequence: last = sequence } = data ?? {};
    const known = ids.get(last);
    if (known !== undefined) repeated++;
    else if (first !== reached + 1) faults.push(`Event ${first} came after event ${reached}.`);
    if (known !== undefined && known !== id) faults.push(`Event ${last} came again under another id.`);
    ids.set(last, id);
    reached = Math.max(reached, last);
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
  reached = lastEvent(db);
  const missing = (): number => lastEvent(db) - reached;

  return {
    get repeated() {
      return repeated;
    },
    async waitFor() {
      // As long as more arrive: what the dead could not deliver may be thousands.
      for (let [waited, before] = [0, missing()]; before > 0 && waited < 60; waited++) {
        await sleep(500);
        const left = missing();
        if (left < before) waited = 0;
        before = left;
      }
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

function lastEvent(db: string): number {
  const registry = openFile(db);
  try {
    return registry.value<number>('SELECT max(sequence) FROM events');
  } finally {
    registry.close();
  }
}
