/** `seed`: demo data and demo keys in an empty database, dated up to today. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Command } from 'commander';
import { nowSeconds } from '../clock.ts';
import { type Config, readConfig } from '../config.ts';
import type { Scope } from '../domain/api-keys.ts';
import { formatDate } from '../domain/date-time.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../domain/rate-limit.ts';
import { importFiles } from '../import/import-files.ts';
import { listImportFiles } from '../import/import-folder.ts';
import { showcaseIdentityCard, writeSeedFiles } from '../import/seed-files.ts';
import { openConfiguredStorage } from '../storage.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';
import { issueSecret } from './key-text.ts';
import { formatTable } from './table.ts';

interface DemoKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly perHour: number;
  readonly perDay: number;
}

const DEFAULTS = { perHour: DEFAULT_PER_HOUR, perDay: DEFAULT_PER_DAY };

/** A key for each kind of holder, and one that is throttled soon enough to see it. */
const DEMO_KEYS: readonly DemoKey[] = [
  { name: 'financials', scopes: ['cooperatives:read', 'members:read', 'members:financials'], ...DEFAULTS },
  { name: 'reader', scopes: ['cooperatives:read', 'members:read'], ...DEFAULTS },
  {
    name: 'writer',
    scopes: ['cooperatives:read', 'cooperatives:write', 'members:read', 'members:write'],
    ...DEFAULTS,
  },
  { name: 'five-an-hour', scopes: ['members:read'], perHour: 5, perDay: 50 },
];

interface IssuedKey extends DemoKey {
  readonly id: string;
  readonly key: string;
}

interface SeedOptions {
  readonly db?: string;
  readonly csv?: string;
  readonly ifEmpty?: boolean;
  readonly json?: boolean;
}

/** Beside the database; of another than `registry.db` with its name, so that no database's demo keys replace another's. */
function demoKeysFileOf({ storage }: Config): string {
  const name = basename(storage).replace(/\.db$/, '');
  return join(dirname(storage), name === 'registry' ? 'demo-keys.json' : `${name}.demo-keys.json`);
}

export function addSeedCommand(program: Command, context: CliContext): void {
  program
    .command('seed')
    .description('create the demo data and demo keys in an empty database')
    .option('--db <file>', 'database file (overrides REGISTRY_DB)')
    .option('--csv <folder>', 'only write the demo files there, dated up to today')
    .option('--if-empty', 'leave a database that holds data as it is')
    .option('--json', 'one JSON document')
    .action(async (options: SeedOptions) => {
      const config = readConfig(
        options.db === undefined ? context.env : { ...context.env, REGISTRY_DB: options.db },
      );
      const today = formatDate(nowSeconds(context.clock), config.zone);
      if (options.csv !== undefined) {
        writeSeedFiles(options.csv, today);
        context.out(`The demo files are in ${options.csv}.\n`);
        return;
      }
      const keysFile = demoKeysFileOf(config);
      const isSeeded = await seedIfEmpty(context, config, today);
      if (!isSeeded && options.ifEmpty !== true) {
        throw new CommandError(
          EXIT.refused,
          `${config.storage} already holds data. Name another file with --db.`,
        );
      }
      if (isSeeded) writeDemoKeys(keysFile, await issueDemoKeys(context, config));
      tellKeys(context, config, keysFile, options);
    });
}

/** @returns false when the database holds data already; nothing was done then */
async function seedIfEmpty(context: CliContext, config: Config, today: string): Promise<boolean> {
  const session = openConfiguredStorage(config, context.clock).openImportSession();
  const folder = mkdtempSync(join(tmpdir(), 'registry-seed-'));
  try {
    if (!(await session.isRegistryEmpty())) return false;
    writeSeedFiles(folder, today);
    const reports = await importFiles(session, listImportFiles(folder).files, {
      ...{ zone: config.zone, clock: context.clock, isDryRun: false },
      ...{ acceptTrailingZero: false, skipInvalid: false },
    });
    const wrong = reports.find(({ outcome }) => outcome !== 'imported');
    if (wrong !== undefined) {
      const { file, outcome, failure } = wrong;
      throw new Error(`The demo file ${file.path}: ${outcome}.`, { cause: failure?.error });
    }
    return true;
  } finally {
    await session.close();
    rmSync(folder, { recursive: true });
  }
}

async function issueDemoKeys(context: CliContext, config: Config): Promise<IssuedKey[]> {
  const store = openConfiguredStorage(config, context.clock).openKeys('issue');
  try {
    const issued: IssuedKey[] = [];
    for (const demo of DEMO_KEYS) {
      const secret = issueSecret();
      const values = {
        name: `demo ${demo.name}`,
        scopes: demo.scopes,
        allowedAddresses: [],
        allowedHosts: [],
        limits: { perHour: demo.perHour, perDay: demo.perDay },
        expiresAt: null,
      };
      const { id } = await store.create(values, secret, nowSeconds(context.clock));
      issued.push({ id: String(id), ...demo, key: secret.text });
    }
    return issued;
  } finally {
    await store.close();
  }
}

/** Readable by its owner alone: it holds keys. */
function writeDemoKeys(file: string, keys: readonly IssuedKey[]): void {
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify({ keys }, undefined, 2)}\n`, { mode: 0o600 });
}

function tellKeys(context: CliContext, config: Config, keysFile: string, options: SeedOptions): void {
  const text = existsSync(keysFile) ? readFileSync(keysFile, 'utf8') : undefined;
  if (options.json === true) {
    context.out(text ?? '{"keys":[]}\n');
    return;
  }
  if (text === undefined) {
    context.out(`${config.storage} holds data; there is no ${keysFile}, so no demo keys to show.\n`);
    return;
  }
  const { keys } = JSON.parse(text) as { keys: IssuedKey[] };
  const rows = keys.map((key) => [
    key.key,
    key.name,
    `${key.perHour}/h ${key.perDay}/day`,
    key.scopes.join(' '),
  ]);
  const base = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}/api/v1`;
  const bearer = `-H 'Authorization: Bearer ${keys[0]?.key ?? ''}'`;
  context.out(`Demo keys (${keysFile}):\n\n${formatTable(['KEY', 'NAME', 'LIMITS', 'SCOPES'], rows)}
Address: ${base}/
Try, in another terminal:

  curl ${bearer} ${base}/members/${showcaseIdentityCard()}/
  curl ${bearer} '${base}/cooperatives?district=Huye'

`);
}
