/** The service and commands as processes of their own, which end with this one. */
import { CHILD_LIMIT, command, type RunningCommand, spawnPlainly } from '../support/command.ts';
import { type Client, clientOf } from './client.ts';
import { type Fault, withFaults } from './faults.ts';

export interface Service {
  readonly server: RunningCommand;
  readonly client: Client;
  readonly port: number;
}

export interface ServiceOptions {
  readonly faults?: readonly Fault[];
  /** A program that runs it, with its arguments. */
  readonly runner?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** A machine that is busy takes minutes for what takes seconds. */
export const LIMIT = { ...CHILD_LIMIT, timeout: 900_000 };

const environmentOf = (db: string, { faults = [], env }: ServiceOptions): NodeJS.ProcessEnv => ({
  ...{ REGISTRY_DB: db, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error' },
  ...withFaults(faults),
  ...env,
});

export function start(db: string, args: readonly string[], options: ServiceOptions = {}): RunningCommand {
  const program = [...(options.runner ?? []), process.execPath, 'src/main.ts', ...args];
  return spawnPlainly(program, environmentOf(db, options), LIMIT);
}

/** @throws when it ends instead */
export async function serve(db: string, options: ServiceOptions = {}): Promise<Service> {
  const server = start(db, ['serve', '--create'], options);
  await server.waitFor('Serving ');
  const port = Number(/127\.0\.0\.1:([0-9]+)\//.exec(server.output())?.[1]);
  return { server, port, client: clientOf(port) };
}

/** With what it has started. */
export async function kill({ child, ended }: RunningCommand): Promise<void> {
  if (child.exitCode === null && child.pid !== undefined)
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  await ended;
}

/** @returns what `check` finds, a line each */
export async function checkSound(db: string): Promise<string[]> {
  const { status, out, err } = await command(['check', '--db', db]);
  return status === 0 ? [] : [`The registry is not sound: ${out}${err}`];
}
