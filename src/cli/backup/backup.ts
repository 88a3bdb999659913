/** `backup`: copies a registry that is in use, and checks copies (docs/backup.md#backup). */
import { basename } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { packageVersion } from '../../runtime/version.ts';
import type { Backup, ListedBackup, PrunedBackups, WrittenBackup } from '../../store/ports/backup.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatJson } from '../terminal/output.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';
import { describeBackup, formatBackup, formatInstant } from './backup-text.ts';

interface BackupCommandOptions extends PrintOptions {
  readonly keep?: number;
  readonly verify?: boolean;
}

const MORE_HELP = `
Examples:
  backup /backups/before-upgrade
  backup /backups --keep 14 --verify
  backup verify /backups/before-upgrade
`;

export function declareBackup(command: Command, context: CliContext): void {
  addPrintOptions(showingNobody(command))
    .argument('<dir>', 'a new or empty folder; with --keep, the folder of all backups')
    .option(
      '--keep <n>',
      'write into a folder of its own in <dir>, named by the time, and remove all but the newest n of these',
      parseKeep,
    )
    .option(
      '--verify',
      'read every byte of the backup back before older ones are removed; status 1 if it is not sound',
    )
    .addHelpText('after', MORE_HELP)
    .action((folder: string, options: BackupCommandOptions) => runBackup(context, folder, options));
  declareVerify(showingNobody(command.command('verify')), context);
  declareList(showingNobody(command.command('list')), context);
  declarePrune(showingNobody(command.command('prune')), context);
}

function parseKeep(text: string): number {
  if (/^[1-9][0-9]{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number from 1 to 9999.');
}

async function runBackup(context: CliContext, folder: string, options: BackupCommandOptions): Promise<void> {
  const { keep } = options;
  const storage = openConfiguredStorage(configOf(context, options), context.clock);
  const target = keep === undefined ? folder : storage.datedFolderIn(folder, context.clock.now());
  const backup = await writeBackup(context, storage, target);
  const { fault, ledgerFault } =
    options.verify === true ? await storage.verifyBackup(target, context.clock.now) : NOT_CHECKED;
  if (fault !== null)
    throw new CommandError(EXIT.refused, `${target} is NOT sound: ${fault} No older backup was removed.`);
  let pruned: PrunedBackups | undefined;
  try {
    if (keep !== undefined) pruned = await storage.pruneBackups(folder, keep, basename(target));
  } catch (error) {
    const message = `Older backups could not be removed: ${(error as Error).message}.`;
    throw new CommandError(EXIT.refused, message);
  } finally {
    const printed = { database: storage.location, ...describeBackup(target, backup), ...pruned };
    context.out(options.json === true ? formatJson(printed) : formatWritten(storage, target, backup, pruned));
  }
  assertLedger(backup.ledgerFault ?? ledgerFault);
}

const NOT_CHECKED = { fault: null, ledgerFault: null };

/** @throws CommandError when a backup was made, but the ledger in it is not all there or not sound */
function assertLedger(fault: string | null): void {
  if (fault === null) return;
  throw new CommandError(EXIT.partly, `The access ledger is NOT sound: ${fault} See docs/ledger.md#damage.`);
}

/** At SIGINT or SIGTERM what was written is removed. */
async function writeBackup(context: CliContext, storage: Storage, folder: string): Promise<WrittenBackup> {
  const interruption = new AbortController();
  const onSignal = () =>
    interruption.abort(new CommandError(EXIT.refused, 'Interrupted. No backup was written.'));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await storage.backUp(folder, {
      program: packageVersion(),
      now: context.clock.now,
      signal: interruption.signal,
      onProgress: (progress) => context.news?.({ progress }),
    });
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

function formatWritten(storage: Storage, folder: string, backup: Backup, pruned?: PrunedBackups): string {
  const upTo = `every write acknowledged before ${formatInstant(backup.instantMs)}`;
  const done = `${formatBackup(backup)}\n${storage.location} is backed up in ${folder}: ${upTo}.\n`;
  return pruned === undefined ? done : done + formatPruned(pruned);
}

function declareVerify(command: Command, context: CliContext): void {
  addPrintOptions(command)
    .description(
      'check every byte of a backup; status 0 sound, 1 not, 2 no backup, 3 all but the access ledger',
    )
    .argument('<dir>', 'the folder of a backup')
    .action(async (folder: string) => {
      // Commander takes an option that both commands have for one of `backup`.
      const options = command.optsWithGlobals<BackupCommandOptions>();
      const storage = openConfiguredStorage(configOf(context, options), context.clock);
      const { backup, fault, ledgerFault } = await storage.verifyBackup(folder, context.clock.now);
      const description = backup === undefined ? { folder } : describeBackup(folder, backup);
      if (options.json === true)
        context.out(formatJson({ ...description, sound: fault === null, fault, ledger_fault: ledgerFault }));
      else if (fault !== null) context.out(`${folder} is NOT sound.\n${fault}\n`);
      else if (backup !== undefined) {
        const written = `written by ${backup.program} at ${formatInstant(backup.instantMs)}`;
        context.out(`${formatBackup(backup)}\n${folder} is a sound backup, ${written}.\n`);
      }
      if (fault !== null) throw new CommandError(EXIT.refused, '');
      assertLedger(ledgerFault);
    });
}

function declareList(command: Command, context: CliContext): void {
  addPrintOptions(command)
    .description(
      'list the complete backups in a folder of all, the newest first: by what they hold, not by time',
    )
    .argument('<dir>', 'the folder of all backups')
    .action(async (folder: string) => {
      const options = command.optsWithGlobals<BackupCommandOptions>();
      const storage = openConfiguredStorage(configOf(context, options), context.clock);
      const backups = await listIn(storage, folder);
      if (options.json === true)
        context.out(formatJson({ backups: backups.map(({ name, backup }) => describeBackup(name, backup)) }));
      else
        for (const { name, backup } of backups)
          context.out(`${name}  ${formatInstant(backup.instantMs)}  ${formatPosition(backup)}\n`);
    });
}

const formatPosition = ({ sequence }: Backup): string =>
  sequence === undefined ? 'events unknown' : `events up to ${sequence.lastSequence} of ${sequence.epoch}`;

function declarePrune(command: Command, context: CliContext): void {
  addPrintOptions(command)
    .description('remove all but the newest backups in a folder of all')
    .argument('<dir>', 'the folder of all backups')
    .option('--keep <n>', 'how many stay', parseKeep)
    .action(async (folder: string) => {
      const { keep, ...options } = command.optsWithGlobals<BackupCommandOptions>();
      if (keep === undefined) throw new CommandError(EXIT.usage, 'Say how many stay: --keep 14.');
      const storage = openConfiguredStorage(configOf(context, options), context.clock);
      await listIn(storage, folder);
      const pruned = await storage.pruneBackups(folder, keep);
      context.out(options.json === true ? formatJson(pruned) : formatPruned(pruned));
    });
}

async function listIn(storage: Storage, folder: string): Promise<readonly ListedBackup[]> {
  try {
    return await storage.listBackups(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CommandError(EXIT.usage, `The folder ${folder} cannot be read (${code}).`);
  }
}

const formatPruned = ({ kept, removed }: PrunedBackups): string =>
  `Backups there: ${kept}. Older ones that were removed: ${removed.length}.\n`;
