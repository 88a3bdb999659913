/** `seed`: demo data and demo keys in an empty database, dated up to today. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import type { Config } from '../../config.ts';
import { formatDate } from '../../domain/values/date-time.ts';
import { importFiles } from '../../import/run/import-files.ts';
import { listImportFiles } from '../../import/run/import-folder.ts';
import { showcaseIdentityCard, writeSeedFiles } from '../../import/run/seed-files.ts';
import { createFolder } from '../../runtime/new-files.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { refusing } from '../terminal/places.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addSettingOptions, type SettingOptions } from '../terminal/settings.ts';
import { demoKeysFileOf, formatDemoKeys, issueDemoKeys, readDemoKeys } from './seed-keys.ts';

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
        const today = formatDate(run.now, run.zone);
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
  if (existing !== undefined) {
    throw new CommandError(EXIT.usage, `${folder} already has ${existing}. Choose an empty folder.`);
  }
  out(`The demo files are in ${folder}.\n`);
}

async function seed(run: Run<SeedOptions>, today: string): Promise<void> {
  const { config, options } = run;
  const isSeeded = await seedIfEmpty(run, today);
  if (!isSeeded && options.ifEmpty !== true) {
    throw new CommandError(
      EXIT.refused,
      `${config.storage} already holds data. Choose another file with --db.`,
    );
  }
  if (isSeeded) await issueDemoKeys(run, config);
  run.show({ keys: readDemoKeys(config) ?? [] }, describeDemo(config));
}

/** @returns false when the database holds data already; nothing was done then */
async function seedIfEmpty({ storage, zone, clock, user }: Run, today: string): Promise<boolean> {
  const session = storage.openImportSession();
  const folder = mkdtempSync(join(tmpdir(), 'registry-seed-'));
  try {
    if (!session.isRegistryEmpty()) return false;
    writeSeedFiles(folder, today);
    const reports = await importFiles(session, listImportFiles(folder).files, {
      zone,
      clock,
      isDryRun: false,
      systemUser: user,
      acceptTrailingZero: false,
      skipInvalid: false,
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

/** The keys, and what to try with them. */
function describeDemo(config: Config): string {
  const file = demoKeysFileOf(config);
  const keys = readDemoKeys(config);
  if (keys === undefined) {
    return `${config.storage} holds data. There are no demo keys to show: ${file} does not exist.\n`;
  }
  const base = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}/api/v1`;
  const bearer = `-H 'Authorization: Bearer ${keys[0]?.key ?? ''}'`;
  return `Demo keys (${file}):

${formatDemoKeys(keys)}
Address: ${base}/
Try, in another terminal:

  curl ${bearer} ${base}/members/${showcaseIdentityCard()}/
  curl ${bearer} '${base}/cooperatives?district=Huye'

`;
}
