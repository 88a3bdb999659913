/** The `seed` command: fills an empty database with demo data, dated up to today, and issues demo keys. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, Option } from 'commander';
import { openKeys } from '../access/api-key-store.ts';
import type { Scope } from '../access/api-keys.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../access/rate-limiter.ts';
import { formatCsvRow } from '../formats/write-csv-and-workbooks.ts';
import { createCsvRows } from '../import/files/csv-rows.ts';
import { importFiles, listImportFiles } from '../import/import-files.ts';
import { openImportSession } from '../import/staging/import-session.ts';
import { createKeys } from '../keys/key-operations.ts';
import type { Config } from '../runtime/config.ts';
import { createFolder } from '../runtime/process.ts';
import { nowSeconds } from '../runtime/scheduler.ts';
import { writePrivateFile } from '../sqlite/durable-files.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatJson, formatRows } from '../terminal/output.ts';
import { refusing } from '../terminal/places.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addSettingOptions, openConfiguredStorage, type SettingOptions } from '../terminal/settings.ts';
import { formatDate, KIGALI } from '../values/date-time.ts';

/** The same relative path leads to the folder from `src/` and from `dist/`. */
const SEED_FOLDER = fileURLToPath(new URL('../../data/seed/', import.meta.url));

/** Columns whose dates are shifted, so that the newest date is today. Dates of birth are not shifted. */
const MOVED = [
  'registration_date',
  'delivered_at',
  'loan_start_date',
  'loan_end_date',
  'approved_at',
  'transacted_at',
];
const DAY_MS = 86_400_000;
const dayNumber = (date: string): number => Date.parse(`${date.slice(0, 10)}T00:00:00Z`) / DAY_MS;

function move(text: string, days: number): string {
  if (text === '') return '';
  return new Date((dayNumber(text) + days) * DAY_MS).toISOString().slice(0, 10) + text.slice(10);
}

/**
 * Writes nothing if the folder has a file with the name of a demo file but different content.
 * @param today `YYYY-MM-DD`, the newest date in the files
 * @returns the name of the first different file; undefined if the files were written
 * @throws the system's error
 */
function writeSeedFiles(folder: string, today: string): string | undefined {
  mkdirSync(folder, { recursive: true });
  const { missing = [], present = [] } = Object.groupBy(composeSeedFiles(today), ({ name }) =>
    existsSync(join(folder, name)) ? 'present' : 'missing',
  );
  const different = present.find(({ name, content }) => readFileSync(join(folder, name), 'utf8') !== content);
  if (different !== undefined) return different.name;
  for (const { name, content } of missing) writeFileSync(join(folder, name), content, { flag: 'wx' });
  return undefined;
}

function composeSeedFiles(today: string): { readonly name: string; readonly content: string }[] {
  const anchor = readFileSync(join(SEED_FOLDER, 'anchor.txt'), 'utf8').trim();
  const days = dayNumber(today) - dayNumber(anchor);
  const names = readdirSync(SEED_FOLDER).filter((file) => file.endsWith('.csv'));
  return names.sort().map((name) => {
    const [header = [], ...rows] = readSeedFile(name);
    const moved = rows.map((row) =>
      row.map((cell, i) => (MOVED.includes(header[i] ?? '') ? move(cell, days) : cell)),
    );
    return { name, content: [header, ...moved].map(formatCsvRow).join('') };
  });
}

/** Returns the national ID of the first member in the demo files, who belongs to several cooperatives. */
function showcaseIdentityCard(): string {
  const [header = [], first = []] = readSeedFile('members.csv');
  return first[header.indexOf('identity_card')] ?? '';
}

const readSeedFile = (name: string): (readonly string[])[] =>
  createCsvRows(',', 0)
    .read(readFileSync(join(SEED_FOLDER, name), 'utf8'))
    .records.map(({ cells }) => cells);

interface DemoKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly perHour: number;
  readonly perDay: number;
}

interface IssuedDemoKey extends DemoKey {
  readonly id: string;
  readonly key: string;
}

const DEFAULTS = { perHour: DEFAULT_PER_HOUR, perDay: DEFAULT_PER_DAY };

/** One key for each kind of client. The rate limit of the last key is low enough to reach by hand. */
const DEMO_KEYS: readonly DemoKey[] = [
  { name: 'financials', scopes: ['cooperatives:read', 'members:read', 'members:financials'], ...DEFAULTS },
  { name: 'reader', scopes: ['cooperatives:read', 'members:read'], ...DEFAULTS },
  {
    name: 'writer',
    scopes: [
      'cooperatives:read',
      'cooperatives:write',
      'members:read',
      'members:write',
      'loans:read',
      'loans:write',
      'payments:read',
      'payments:write',
    ],
    ...DEFAULTS,
  },
  {
    name: 'follower',
    scopes: ['webhooks:receive', 'cooperatives:read', 'members:read', 'loans:read', 'payments:read'],
    ...DEFAULTS,
  },
  { name: 'five-an-hour', scopes: ['members:read'], perHour: 5, perDay: 50 },
];

function demoKeysFileOf({ storage }: Config): string {
  const name = basename(storage).replace(/\.db$/, '');
  return join(dirname(storage), name === 'registry' ? 'demo-keys.json' : `${name}.demo-keys.json`);
}

export async function issueDemoKeys(context: CliContext, config: Config): Promise<void> {
  const storage = openConfiguredStorage(config, context.clock);
  await withStore(openKeys(storage, 'issue'), async (store) => {
    const operations = createKeys(() => store, nowSeconds(context.clock), storage.zone);
    const keys = DEMO_KEYS.map((demo): IssuedDemoKey => {
      const { id, secret } = operations.create({ ...demo, name: `demo ${demo.name}` });
      return { id: String(id), ...demo, key: secret };
    });
    const file = demoKeysFileOf(config);
    rmSync(file, { force: true });
    writePrivateFile(file, formatJson({ keys }));
  });
}

/** @returns undefined if `seed` has not filled this database */
function readDemoKeys(config: Config): readonly IssuedDemoKey[] | undefined {
  const file = demoKeysFileOf(config);
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { keys: IssuedDemoKey[] }).keys;
}

interface SeedOptions extends SettingOptions {
  readonly csv?: string;
  readonly ifEmpty?: true;
  readonly json?: true;
}

export function declareSeed(command: Command, context: CliContext): void {
  addSettingOptions(showingNobody(command), 'REGISTRY_DB')
    .addOption(
      new Option('--csv <folder>', 'only write the demo files to this folder').conflicts(['db', 'ifEmpty']),
    )
    .option('--if-empty', 'leave a database that holds data as it is (status 0 instead of 1)')
    .option('--json', 'print one JSON document: the demo keys')
    .action(
      acting(context, async (run: Run<SeedOptions>) => {
        // The demo files have times of day in the zone of Kigali. With the date of a zone further east, some
        // instants would be in the future.
        const today = formatDate(run.now, KIGALI);
        if (run.options.csv === undefined) await seed(run, today);
        else await writeFiles(run, run.options.csv, today);
      }),
    );
}

async function writeFiles({ out }: CliContext, folder: string, today: string): Promise<void> {
  const failed = (action: string) => (_code: string, cause: Error) =>
    new CommandError(EXIT.usage, `${folder} cannot be ${action}: ${cause.message}.`);
  await refusing(failed('created'), () => createFolder(folder));
  const existing = await refusing(failed('written to'), () => writeSeedFiles(folder, today));
  if (existing !== undefined)
    throw new CommandError(EXIT.usage, `${folder} already has ${existing}. Choose an empty folder.`);
  out(`The demo files are in ${folder}.\n`);
}

async function seed(run: Run<SeedOptions>, today: string): Promise<void> {
  const { config, options } = run;
  if (await seedIfEmpty(run, today)) await issueDemoKeys(run, config);
  else if (options.ifEmpty !== true)
    throw new CommandError(
      EXIT.refused,
      `${config.storage} already holds data. Choose another file with --db.`,
    );
  run.show({ keys: readDemoKeys(config) ?? [] }, describeDemo(config));
}

/** @returns false if the database has data */
async function seedIfEmpty({ storage, zone, clock, user }: Run, today: string): Promise<boolean> {
  const session = openImportSession(storage);
  const folder = mkdtempSync(join(tmpdir(), 'registry-seed-'));
  try {
    if (!session.isRegistryEmpty()) return false;
    writeSeedFiles(folder, today);
    const reports = await importFiles(session, listImportFiles(folder).files, {
      zone,
      clock,
      isDryRun: false,
      systemUser: user,
    });
    const wrong = reports.find(({ outcome }) => outcome !== 'imported');
    if (wrong !== undefined) {
      const { file, outcome, failure } = wrong;
      throw new Error(`The demo file ${file.path}: ${outcome}.`, { cause: failure?.error });
    }
    return true;
  } finally {
    session.close();
    rmSync(folder, { recursive: true });
  }
}

function describeDemo(config: Config): string {
  const file = demoKeysFileOf(config);
  const keys = readDemoKeys(config);
  if (keys === undefined) {
    return `${config.storage} holds data. There are no demo keys to show: ${file} does not exist.\n`;
  }
  const base = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}/api/v1`;
  const bearer = `-H 'Authorization: Bearer ${keys[0]?.key ?? ''}'`;
  return `Demo keys (${file}):

${formatRows(keys, {
  KEY: 'key',
  NAME: 'name',
  LIMITS: ({ perHour, perDay }) => `${perHour}/h ${perDay}/day`,
  SCOPES: 'scopes',
})}
Address: ${base}/
Try, in another terminal:

  curl ${bearer} ${base}/members/${showcaseIdentityCard()}/
  curl ${bearer} '${base}/cooperatives?district=Huye'

`;
}
