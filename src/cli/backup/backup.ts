/** `backup`: copies a registry that is in use, and checks copies (docs/backup.md#backup). */
import { type Command, InvalidArgumentError } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { packageVersion } from '../../runtime/version.ts';
import type { Backup } from '../../store/ports/backup.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseDuration } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { addSettingOptions, configOf, type SettingOptions } from '../terminal/settings.ts';
import { describeBackup, formatBackup, formatInstant } from './backup-text.ts';
import { type BackupTimer, runBackupTimer } from './backup-timer.ts';

interface BackupCommandOptions extends SettingOptions {
  readonly every?: number;
  readonly keep?: number;
  readonly json?: true;
}

const MORE_HELP = `
Examples:
  backup /backups/before-upgrade
  backup /backups --every 6h --keep 14
  backup verify /backups/before-upgrade
`;

export function declareBackup(command: Command, context: CliContext): void {
  addSettingOptions(command, 'REGISTRY_DB')
    .argument('<dir>', 'a new or empty folder; with --every, the folder of all backups')
    .option(
      '--every <time>',
      'write one backup after the other until SIGTERM, such as 6h or 1d',
      parseInterval,
    )
    .option('--keep <n>', 'with --every: how many complete backups stay; older ones are removed', parseKeep)
    .option('--json', 'print one JSON document; with --every, one on each line')
    .addHelpText('after', MORE_HELP)
    .action(async (folder: string, options: BackupCommandOptions) => {
      const storage = openConfiguredStorage(configOf(context, options), context.clock);
      const timer = timerOf(options);
      if (timer !== undefined) return runBackupTimer(context, storage, folder, timer);
      printBackup(context, storage, folder, await backUp(context, storage, folder), options);
    });
  declareVerify(command.command('verify'), context);
}

function parseInterval(text: string): number {
  const seconds = parseDuration(text);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError('Expected a time such as 6h or 1d.');
}

function parseKeep(text: string): number {
  if (/^[1-9][0-9]{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number from 1 to 9999.');
}

/** How many stay must be said: too few are no backup, and too many fill the disk. */
function timerOf({ every, keep, json }: BackupCommandOptions): BackupTimer | undefined {
  if (every === undefined && keep === undefined) return undefined;
  if (every === undefined || keep === undefined) {
    throw new CommandError(EXIT.usage, '--every and --keep go together, such as --every 6h --keep 14.');
  }
  return { everySeconds: every, keep, isJson: json === true };
}

/** Writes one backup; at SIGINT or SIGTERM what was written of it is removed. */
async function backUp(context: CliContext, storage: Storage, folder: string): Promise<Backup> {
  const interruption = new AbortController();
  const onSignal = () =>
    interruption.abort(new CommandError(EXIT.refused, 'Interrupted. No backup was written.'));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await storage.backUp(folder, {
      program: packageVersion(),
      now: context.clock.now,
      signal: interruption.signal,
    });
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

function printBackup(
  context: CliContext,
  storage: Storage,
  folder: string,
  backup: Backup,
  options: BackupCommandOptions,
): void {
  if (options.json === true) {
    context.out(formatJson({ database: storage.location, ...describeBackup(folder, backup) }));
    return;
  }
  const upTo = `every write acknowledged before ${formatInstant(backup.instantMs)}`;
  context.out(`${formatBackup(backup)}\n${storage.location} is backed up in ${folder}: ${upTo}.\n`);
}

function declareVerify(command: Command, context: CliContext): void {
  command
    .description('check every byte of a backup; status 0 sound, 1 not, 2 no backup')
    .argument('<dir>', 'the folder of a backup')
    .option('--json', 'print one JSON document')
    .action(async (folder: string) => {
      // Commander takes an option that both commands have for one of `backup`.
      const options = command.optsWithGlobals<BackupCommandOptions>();
      const { backup, fault } = await openConfiguredStorage(
        configOf(context, {}),
        context.clock,
      ).verifyBackup(folder);
      const description = backup === undefined ? { folder } : describeBackup(folder, backup);
      if (options.json === true) context.out(formatJson({ ...description, sound: fault === null, fault }));
      else if (fault !== null) context.out(`${folder} is NOT sound.\n${fault}\n`);
      else if (backup !== undefined) {
        const written = `written by ${backup.program} at ${formatInstant(backup.instantMs)}`;
        context.out(`${formatBackup(backup)}\n${folder} is a sound backup, ${written}.\n`);
      }
      if (fault !== null) throw new CommandError(EXIT.refused, '');
    });
}
