/**
 * What is traced: a service under writes and lookups, and beside it two imports, an undo and a backup.
 * Arguments: the folder of a registry, a key, how many writes. Prints `ACK` and a word for each command that
 * has ended well, into the trace.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { MEMBERS } from '../registry.ts';
import { serve, start } from '../service.ts';
import { nidOf } from './marks.ts';

const [, , folder = '', key = '', count = '0'] = process.argv;
const db = join(folder, 'registry.db');
const CONNECTIONS = 6;
const PAID_AT = '2026-06-01T08:00:00+02:00';

async function run(word: string, ...args: string[]): Promise<string> {
  const command = start(db, [...args, '--json']);
  if ((await command.ended) !== 0) throw new Error(`${args.join(' ')}: ${command.output()}`);
  writeSync(1, `ACK ${word}\n`);
  return command.output();
}

const { server, client } = await serve(db);
const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };

/** Sends again what the service could not do at once. */
async function send(method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await client(path, headers, JSON.stringify(body), method);
  if (status === 503) return send(method, path, body);
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
}

let next = 1;
async function write(): Promise<void> {
  for (let number = next++; number <= Number(count); number = next++) {
    const loan_id = String(1 + (number % MEMBERS));
    const reference = `P-${number}`;
    await send('POST', '/api/v1/payments', {
      ...{ loan_id, reference, amount: `${number}.00`, method: 'cash', paid_at: PAID_AT },
    });
    const identity_card = nidOf('M', number);
    const member = { cooperative_id: '1', identity_card, member_code: `M2-${number}`, full_name: 'Uwase' };
    await send('POST', '/api/v1/members', member);
    await send('GET', `/api/v1/members/${identity_card}`);
  }
}

async function command(): Promise<void> {
  await run('imported', 'import', 'members', join(folder, 'imported.csv'));
  await run('backed-up', 'backup', join(folder, 'backup'));
  const undone = JSON.parse(await run('imported-undone', 'import', 'members', join(folder, 'undone.csv')));
  writeSync(1, 'ACK undoing\n');
  await run('undone', 'imports', 'undo', String(undone.files[0].import_id), '--yes');
}

await Promise.all([command(), ...Array.from({ length: CONNECTIONS }, write)]);
server.child.kill('SIGTERM');
await server.ended;
process.exit(0);
