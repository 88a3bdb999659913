/** A registry and its service, and a mirror, as processes that tests kill and start again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { command, type RunningCommand, spawnPlainly } from '../../../test/support/command.ts';
import { freePort } from '../../../test/support/serving.ts';
import { type Fault, withFaults } from '../../../test/torture/faults.ts';
import type { Cluster } from './cluster.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
export type Json = any;

const SCOPES = 'cooperatives:read,members:read,members:financials,loans:read,payments:read,webhooks:receive';
const WRITES = ',cooperatives:write,members:write,loans:write,payments:write';
const LIMITS = ['--per-hour', '10000000', '--per-day', '10000000'];

export class Registry {
  readonly folder = mkdtempSync(join(tmpdir(), 'mirror-registry-'));
  readonly file = join(this.folder, 'registry.db');
  key = '';
  /** Id of the key that was created last: after a restore ids leap. */
  newestKeyId = '';
  port = 0;
  private service: RunningCommand | undefined;

  async create(): Promise<void> {
    this.port = await freePort();
    await this.run('seed');
    this.key = await this.createKey(`${SCOPES}${WRITES}`, '--allow-export');
    await this.start();
  }

  async createKey(scopes: string, ...more: string[]): Promise<string> {
    const words = [
      'keys',
      'create',
      '--create',
      '--name',
      'mirror',
      '--scope',
      scopes,
      ...LIMITS,
      ...more,
      '--json',
    ];
    const { id, key } = JSON.parse(await this.run(...words));
    this.newestKeyId = id;
    return key;
  }

  /** A command, in this process. @throws Error when it is refused */
  async run(...words: string[]): Promise<string> {
    const { status, out, err } = await command([...words, '--db', this.file], { ACCESS_LEDGER: 'off' });
    if (status !== 0) throw new Error(`${words.slice(0, 2).join(' ')}: status ${status}: ${out}${err}`);
    return out;
  }

  async start(): Promise<void> {
    const env = { REGISTRY_DB: this.file, HOST: '127.0.0.1', PORT: `${this.port}`, LOG_LEVEL: 'error' };
    const limit = { timeout: 600_000, killSignal: 'SIGKILL' } as const;
    this.service = spawnPlainly(
      ['node', 'src/main.ts', 'serve', '--create'],
      { ...env, ACCESS_LEDGER: 'off' },
      limit,
    );
    await this.service.waitFor('Serving ');
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.service?.child.kill(signal);
    await this.service?.ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async ask(method: string, path: string, body?: object): Promise<{ status: number; json: Json }> {
    const response = await fetch(`http://127.0.0.1:${this.port}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  }

  /** The rows of an export, and the last event in it. */
  async export(kind: string): Promise<{ rows: Json[]; epoch: string; sequence: number }> {
    const response = await fetch(`http://127.0.0.1:${this.port}/api/v1/${kind}/export`, {
      headers: { Authorization: `Bearer ${this.key}` },
    });
    if (response.status !== 200) throw new Error(`Export of ${kind}: status ${response.status}.`);
    const lines = (await response.text()).split('\n').filter((line) => line !== '');
    const [epoch, sequence] = ['Epoch', 'Sequence'].map((name) => response.headers.get(`X-Snapshot-${name}`));
    return { rows: lines.map((line) => JSON.parse(line)), epoch: epoch ?? '', sequence: Number(sequence) };
  }
}

export class MirrorProcess {
  private running: RunningCommand | undefined;
  private readonly cluster: Cluster;
  private readonly registry: Registry;
  private readonly env: NodeJS.ProcessEnv;
  /** What it has written before it was started again. */
  private written = '';

  constructor(
    cluster: Cluster,
    registry: Registry,
    faults: readonly Fault[] = [],
    env: NodeJS.ProcessEnv = {},
  ) {
    this.cluster = cluster;
    this.registry = registry;
    this.env = { ...withFaults(faults), ...env };
  }

  start(env: NodeJS.ProcessEnv = this.env): RunningCommand {
    const { port, key } = this.registry;
    const settings = { REGISTRY_URL: `http://127.0.0.1:${port}`, REGISTRY_KEY: key, RELOAD_ROWS: '40' };
    const limit = { timeout: 600_000, killSignal: 'SIGKILL' } as const;
    const all = { ...settings, DATABASE_URL: this.cluster.url(), ...env };
    this.running = spawnPlainly(['node', 'deploy/mirror/src/main.ts'], all, limit);
    return this.running;
  }

  get output(): string {
    return this.written + (this.running?.output() ?? '');
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    this.running?.child.kill(signal);
    const status = (await this.running?.ended) ?? null;
    this.written = this.output;
    this.running = undefined;
    return status;
  }

  async state(): Promise<Json> {
    return (await this.cluster.ask('SELECT * FROM registry.mirror_state', [], this.cluster.url()))[0];
  }

  /** Until it has all that the registry has. @throws Error when it ends, or does not get there */
  async caughtUp(): Promise<void> {
    const { epoch, sequence } = await this.registry.export('payments');
    for (let tries = 0; tries < 600; tries++) {
      const state = await this.state().catch(() => undefined);
      const isThere = state?.epoch === epoch && Number(state.sequence) >= sequence;
      if (isThere && !state.must_vacuum && !state.must_count_accounts) return;
      if (this.running?.child.exitCode != null) throw new Error(`The mirror has ended: ${this.output}`);
      await sleep(100);
    }
    throw new Error(`The mirror does not catch up: ${this.output}`);
  }
}
