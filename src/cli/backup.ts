/** `backup`: copies a registry that is in use, and checks copies (docs/operating.md#backup). */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../storage.ts';
import type { Backup } from '../store/ports/backup.ts';
import type { Storage } from '../store/ports/storage.ts';
import { packageVersion } from '../version.ts';
import { describeBackup, formatBackup, formatInstant } from './backup-text.ts';
import { type CliContext, CommandError, EXIT } from './context.ts';
import { formatJson } from './output.ts';
import { addSettingOptions, configOf, type SettingOptions } from './settings.ts';

interface BackupCommandOptions extends SettingOptions {
  readonly json?: true;
}

const MORE_HELP = `
Examples:
  backup /backups/before-upgrade
  backup verify /backups/before-upgrade
`;

export function declareBackup(command: Command, context: CliContext): void {
  addSettingOptions(command, 'REGISTRY_DB')
    .argument('<dir>', 'a new or empty folder')
    .option('--json', 'print one JSON document')
    .addHelpText('after', MORE_HELP)
    .action(async (folder: string, options: BackupCommandOptions) => {
      const storage = openConfiguredStorage(configOf(context, options), context.clock);
      printBackup(context, storage, folder, await backUp(context, storage, folder), options);
    });
  declareVerify(command.command('verify'), context);
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
