/** Keeps a copy of the registry in PostgreSQL, until it is ended or a fault stays (docs/mirror.md). */
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from './database.ts';
import { databaseFault, LastingFault, PassingFault, SequenceEnded } from './faults.ts';
import { type Mirror, rebuild, step } from './follow.ts';
import { openRegistryClient, type RegistryClient } from './registry.ts';
import { readSettings, type Settings } from './settings.ts';

const RETRY_MS = 2_000;
const NOTED_AGAIN_MS = 1_000;
/** Exit status after an unexpected error: systemd starts the mirror again, other than after 1 and 2. */
const CRASHED = 4;
const SCOPES = 'cooperatives:read,members:read,members:financials,loans:read,payments:read,webhooks:receive';

const log = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Follows until a connection is lost. */
async function run(settings: Settings, signal: AbortSignal): Promise<void> {
  const database = await openDatabase(settings.databaseUrl, log, signal);
  let noted = '';
  let notedMs = 0;
  const note = async (fault: string) => {
    // Many requests at once may meet the same.
    if (fault === noted && performance.now() - notedMs < NOTED_AGAIN_MS) return;
    noted = fault;
    notedMs = performance.now();
    log(`waiting: ${fault}`);
    await database.setState({ last_fault: fault, last_fault_at: new Date() });
  };
  const registry = openRegistryClient({ ...settings, signal, onFault: note });
  const mirror: Mirror = { database, registry, reloadRows: settings.reloadRows, log };
  signal.addEventListener('abort', registry.close);
  try {
    await checkKey(registry);
    for (;;)
      await step(mirror).catch(async (error) => {
        if (!(error instanceof SequenceEnded)) throw error;
        log('the sequence of events does not go on: everything is loaded again');
        await rebuild(mirror);
      });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const fault = databaseFault(error);
    // Where the database still answers.
    await database.setState({ last_fault: fault.message, last_fault_at: new Date() }).catch(() => {});
    throw fault;
  } finally {
    signal.removeEventListener('abort', registry.close);
    await registry.close();
    await database.client.end().catch(() => {});
  }
}

/** @throws LastingFault for a key without the rights that every step needs */
async function checkKey(registry: RegistryClient): Promise<void> {
  const found = await registry.read('/me', 'the key');
  const caller = 'row' in found ? (found.row as { scopes: string[]; allow_export: boolean }) : undefined;
  const lacking = SCOPES.split(',').filter((scope) => !caller?.scopes.includes(scope));
  if (!caller?.allow_export) lacking.push('--allow-export');
  if (lacking.length > 0) throw new LastingFault(`the key of REGISTRY_KEY lacks ${lacking.join(', ')}`);
}

async function main(): Promise<number> {
  const settings = readSettings(process.env);
  if ('faults' in settings) {
    process.stderr.write(`${settings.faults.join('\n')}\n`);
    return 2;
  }
  const ending = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => ending.abort());
  for (;;) {
    try {
      await run(settings, ending.signal);
    } catch (error) {
      if (ending.signal.aborted) return 0;
      if (error instanceof PassingFault || error instanceof SequenceEnded) {
        log(`waiting: ${error.message}`);
        await sleep(RETRY_MS, undefined, { signal: ending.signal }).catch(() => {});
      } else {
        const isKnown = error instanceof LastingFault;
        process.stderr.write(`ended: ${isKnown ? error.message : (error as Error).stack}\n`);
        return isKnown ? 1 : CRASHED;
      }
    }
  }
}

process.exitCode = await main();
