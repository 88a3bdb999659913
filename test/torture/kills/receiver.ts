/** A receiver of webhooks that lives while the service is killed, and what it must have got in the end. */
import { createServer, type ServerResponse } from 'node:http';
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
  /** How many events have not come yet. */
  missing(): number;
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

const LOOK_MS = 500;
/** So long nothing has come, and so often in a row, before it gives up. */
const STALLED_MS = 30_000;
const STALLS = 6;

/** What it answers to a message by its id; 204 unless said. */
export type AnswerMessage = (id: string, response: ServerResponse) => void;

/** Starts one, with an endpoint and a key of its own. @param db path of the registry */
export async function startReceiver(
  db: string,
  answer: AnswerMessage = (_, response) => response.writeHead(204),
): Promise<KillsReceiver> {
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
    try {
      for await (const chunk of request) body += chunk;
    } catch {
      // The service died meanwhile.
      return;
    }
    const id = String(request.headers['webhook-id']);
    answer(id, response);
    if (response.statusCode === 204) take(id, body);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const scope = ['--scope', 'webhooks:receive'];
  const key = JSON.parse(await succeed(['keys', 'create', '--name', 'receiver', ...scope, '--db', db]));
  const added = await succeed([
    'webhooks',
    'add',
    '--key',
    key.id,
    '--url',
    url,
    '--allow-private',
    '--db',
    db,
  ]);
  const endpoint = JSON.parse(added) as { readonly id: string };
  reached = lastEvent(db);
  const missing = (): number => lastEvent(db) - reached;

  return {
    get repeated() {
      return repeated;
    },
    async waitFor() {
      let stalled = 0;
      for (let before = missing(); before > 0 && stalled < STALLS; ) {
        // As long as more arrive: what the dead could not deliver may be thousands.
        for (let waited = 0; before > 0 && waited < STALLED_MS; waited += LOOK_MS) {
          await sleep(LOOK_MS);
          const left = missing();
          if (left < before) [waited, stalled] = [0, 0];
          before = left;
        }
        if (before === 0) return;
        stalled++;
        // On a busy machine two attempts may fail in time, and the third comes after minutes.
        await succeed(['webhooks', 'enable', endpoint.id, '--db', db]);
      }
      if (missing() > 0) faults.push(await succeed(['webhooks', 'list', '--db', db]));
    },
    missing,
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
