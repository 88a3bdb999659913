/** A PostgreSQL cluster of a test: in a temporary folder, on a socket in it, without a service. */
import { execFile, type SpawnOptions } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);
const DEBIAN = '/usr/lib/postgresql';

/** The newest that Debian has installed; undefined where there is none. */
export const POSTGRES: string | undefined = existsSync(DEBIAN)
  ? readdirSync(DEBIAN)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(DEBIAN, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined;

/** PostgreSQL does not run as root. */
function asPostgres(): Pick<SpawnOptions, 'uid' | 'gid'> {
  if (process.getuid?.() !== 0) return {};
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('postgres:'));
  const [, , uid, gid] = (line ?? '').split(':').map(Number);
  return { uid: uid as number, gid: gid as number };
}

export class Cluster {
  readonly folder = mkdtempSync(join(tmpdir(), 'mirror-pg-'));
  private readonly user = asPostgres();
  private readonly settings: string;

  /** @param settings of the server, where they are not to be those that make tests fast */
  constructor(settings = '-c wal_level=minimal -c max_wal_senders=0') {
    this.settings = settings;
  }

  async create(): Promise<void> {
    if (this.user.uid !== undefined) chownSync(this.folder, this.user.uid, this.user.gid as number);
    chmodSync(this.folder, 0o711);
    await this.program('initdb', '-D', this.data, '-A', 'trust', '-N', '-U', 'postgres', '--locale=C.UTF-8');
    await this.start();
    await this.ask(
      'CREATE ROLE analyst NOLOGIN; CREATE ROLE mirror LOGIN; GRANT analyst TO mirror; ' +
        'CREATE DATABASE mirror OWNER mirror',
    );
  }

  async start(): Promise<void> {
    const options = `-c listen_addresses='' -k ${this.folder} ${this.settings}`;
    await this.program(
      'pg_ctl',
      '-D',
      this.data,
      '-o',
      options,
      '-w',
      '-l',
      join(this.folder, 'log'),
      'start',
    );
  }

  /** As a crash does. */
  async kill(): Promise<void> {
    await this.program('pg_ctl', '-D', this.data, '-m', 'immediate', '-w', 'stop').catch(() => {});
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Where the rows are. */
  get data(): string {
    return join(this.folder, 'data');
  }

  url(user = 'mirror', database = 'mirror'): string {
    return `postgresql:///${database}?host=${this.folder}&user=${user}`;
  }

  // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
  async ask(text: string, values: unknown[] = [], url = this.url('postgres', 'postgres')): Promise<any[]> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    try {
      // A database is not created in a transaction, as several statements at once are.
      const parts = values.length === 0 && text.includes('CREATE DATABASE') ? text.split(';') : [text];
      let rows: unknown[] = [];
      for (const part of parts) {
        const answer = await client.query(part, values);
        // Of several statements, the last one's.
        rows = ([answer].flat().at(-1) as pg.QueryResult).rows;
      }
      return rows;
    } finally {
      await client.end();
    }
  }

  private program = (name: string, ...args: string[]) =>
    run(join(POSTGRES as string, name), args, { ...this.user, cwd: this.folder, timeout: 60_000 });
}
