/** The command `restore`, which replaces the registry with a backup (docs/backup.md#restore). */
import type { Command } from 'commander';
import { checkStorage, type Finding, formatFindings } from '../check/check.ts';
import type { RestoredLedger } from '../ledger/ledger-copy.ts';
import { typedCommand } from '../runtime/typed-command.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { reading } from '../terminal/places.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions, type SettingOptions } from '../terminal/settings.ts';
import { describeBackup, formatInstant, unknownFilesNote } from './backup-command.ts';
import type { RestoredErasures } from './erase-again.ts';
import { findNewestBackup } from './numbered-backups.ts';
import { type Restored, restore } from './restore-backup.ts';

interface RestoreCommandOptions extends PrintOptions {
  readonly replace?: true;
  readonly erasures?: string;
  readonly newest?: string;
}

const MAX_SHOWN = 20;

const MORE_HELP = `
Stop the service first. Example:
  restore /backups/000042-2026-11-21T18-30-00Z --replace
  restore --newest /backups --replace
`;

export function declareRestore(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command))
    .argument('[dir]', 'the folder of a backup')
    .option('--newest <folder>', 'the newest sound backup of this registry in the folder of all backups')
    .option('--replace', 'move the files of the present registry into a folder beside it')
    .option('--erasures <file>', 'a file of erasures newer than the backup, for a new machine')
    .addHelpText('after', MORE_HELP)
    .action(acting(context, runRestore));
}

async function runRestore(run: Run<RestoreCommandOptions>, dir: string | undefined): Promise<void> {
  const { options, storage } = run;
  const folder = await folderOf(run, dir);
  const database = storage.location;
  const restored = await restore(storage, folder, {
    replace: options.replace === true,
    erasuresFile: options.erasures,
    systemUser: run.user,
    now: run.clock.now,
  });
  // Rows of an older release can be checked only after the next start has migrated them.
  const checks = restored.isOlder ? [] : checkStorage(storage);
  const sound = checks.every(({ fault, isOfLedger }) => fault === null || isOfLedger === true);
  const { backup, replacedFolder, isOlder, erasures, ledger } = restored;
  const document = {
    database,
    ...describeBackup(folder, backup),
    replaced: replacedFolder ?? null,
    migrates_at_next_start: isOlder,
    erasures: describeErasures(erasures),
    ledger,
    sound,
    checks,
  };
  const text = formatRestored(restored, folder, { database, checks });
  run.show(document, sound ? text : `${text}${database} is NOT sound.\n`);
  const unknownFiles = unknownFilesNote(backup, 'it is not restored, and stays in the backup.');
  run.err(
    unknownNote(restored) + unknownFiles + keysNote(restored, options) + webhooksNote(restored, options),
  );
  if (!sound) throw new CommandError(EXIT.refused, '');
  const faults = [...restored.ledger.faults, ...checks.flatMap(({ fault }) => fault ?? [])];
  if (faults.length > 0)
    throw new CommandError(EXIT.partly, `The access ledger was not restored as it was: ${faults.join(' ')}`);
}

async function folderOf(run: Run<RestoreCommandOptions>, dir: string | undefined): Promise<string> {
  const { newest } = run.options;
  if ((dir === undefined) === (newest === undefined))
    throw new CommandError(
      EXIT.usage,
      'Name the folder of a backup, or with --newest the folder of all backups.',
    );
  if (newest === undefined) return dir ?? '';
  const { folder, unsound, denied } = await reading(newest, () =>
    findNewestBackup(run.storage.location, newest),
  );
  for (const { name, fault } of denied) run.err(`Passed over ${name}: ${fault}\n`);
  for (const { name, fault } of unsound) run.err(`Passed over ${name}, which is not sound: ${fault}\n`);
  return folder;
}

function formatRestored(
  { backup, replacedFolder, isOlder, erasures, ledger }: Restored,
  folder: string,
  { database, checks }: { readonly database: string; readonly checks: readonly Finding[] },
): string {
  const upTo = `every write acknowledged before ${formatInstant(backup.instantMs)}`;
  const lines = [
    `${folder} is restored to ${database}: ${upTo}.`,
    ...(replacedFolder === undefined ? [] : [`The files that were there are in ${replacedFolder}.`]),
    ...(isOlder ? [`An older release (${backup.program}) has written it: the next start migrates it.`] : []),
    ...erasureLines(erasures),
    ...ledgerLines(ledger),
  ];
  const table = checks.length === 0 ? '' : `${formatFindings(checks)}\n`;
  return `${table}${lines.join('\n')}\n`;
}

const describeErasures = ({ members, unknownSinceMs, lastSeconds }: RestoredErasures) => ({
  members_erased_again: members,
  last: lastSeconds === undefined ? null : formatInstant(lastSeconds * 1000),
  unknown_since: unknownSinceMs === undefined ? null : formatInstant(unknownSinceMs),
});

function ledgerLines({ added, differing }: RestoredLedger): string[] {
  return [
    ...(added === 0 ? [] : [`Accesses added to the access ledger here: ${added}.`]),
    ...differing.map((origin) => `Chain ${origin} went on apart here and in the backup: both are kept.`),
  ];
}

/** The lines name erased members by id. The id of an erased member is not personal data. */
function erasureLines({ members, lastSeconds }: RestoredErasures): string[] {
  const again =
    members.length === 0
      ? []
      : [`Erased again, as they were erased after the backup: ${countMemberships(members)}.`];
  return lastSeconds === undefined
    ? again
    : [...again, `The last erasure that is known is of ${formatInstant(lastSeconds * 1000)}.`];
}

function countMemberships(members: readonly number[]): string {
  const shown = members.slice(0, MAX_SHOWN).join(', ');
  const more = members.length > MAX_SHOWN ? `, and ${members.length - MAX_SHOWN} more` : '';
  return `members ${shown}${more}`;
}

/** Warns that persons who were erased after the backup may be back. */
const unknownNote = ({ erasures: { unknownSinceMs } }: Restored): string =>
  unknownSinceMs === undefined
    ? ''
    : `Erasures since ${formatInstant(unknownSinceMs)} are unknown: persons erased since are back. ` +
      'Restore again with --erasures FILE, or erase them again.\n';

/** Warns that changes of keys after the backup are undone. */
const keysNote = ({ backup: { files, instantMs } }: Restored, options: SettingOptions): string =>
  files.some(({ name }) => name === 'registry.keys.db')
    ? `The keys are those of ${formatInstant(instantMs)}: a key disabled, restricted or rotated since then ` +
      `is as it was. Look at ${typedCommand('keys list', options.db)}\n`
    : 'The backup has no keys: issue new ones.\n';

/** Warns that a service of the restored registry sends webhooks to the endpoints in the backup. */
const webhooksNote = ({ backup: { files, instantMs } }: Restored, options: SettingOptions): string =>
  files.some(({ name }) => name === 'registry.webhooks.db')
    ? `The endpoints of webhooks and their secrets are those of ${formatInstant(instantMs)}: once this ` +
      'registry is served, it posts to them. Before you serve a trial copy, remove them: ' +
      `${typedCommand('webhooks list', options.db)}, ${typedCommand('webhooks remove ID', options.db)}\n`
    : '';
