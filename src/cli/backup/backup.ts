/** `backup`: copies a registry that is in use, and checks copies (docs/backup.md#backup). */

import { basename, dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { lostKeys } from '../../app/condition/attention.ts';
import { packageVersion } from '../../runtime/version.ts';
import type { Backup, ListedBackup, PrunedBackups, WrittenBackup } from '../../store/contract/backup.ts';
import type { Storage } from '../../store/contract/storage.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { type CliContext, CommandError, EXIT, tell } from '../terminal/context.ts';
import { refusing } from '../terminal/places.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { interruptible } from '../terminal/signals.ts';
import { requireFolder, tellPlace } from './backup-place.ts';
import { describeBackup, formatBackup, formatInstant } from './backup-text.ts';

interface BackupCommandOptions extends PrintOptions {
  readonly keep?: number;
  readonly verify?: boolean;
  readonly yes?: true;
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
      'write into a folder of its own in <dir>, with a number, and remove all but the newest n of these',
      parseKeep,
    )
    .option(
      '--verify',
      'read every byte of the backup back before older ones are removed; status 1 if it is not sound',
    )
    .option('--yes', 'create a missing folder; remove older backups although this one is much smaller')
    .addHelpText('after', MORE_HELP)
    .action(acting(context, runBackup));
  declareVerify(showingNobody(command.command('verify')), context);
  declareList(showingNobody(command.command('list')), context);
  declarePrune(showingNobody(command.command('prune')), context);
}

function parseKeep(text: string): number {
  if (/^[1-9][0-9]{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number from 1 to 9999.');
}

async function runBackup(run: Run<BackupCommandOptions>, folder: string): Promise<void> {
  const { storage, clock } = run;
  const { keep, verify, yes = false } = run.options;
  await requireFolder(run, keep === undefined ? dirname(resolve(folder)) : folder, yes);
  const target = keep === undefined ? folder : storage.datedFolderIn(folder, clock.now());
  const backup = await writeBackup(run, target);
  const { fault, ledgerFault } =
    verify === true ? await storage.verifyBackup(target, clock.now) : NOT_CHECKED;
  if (fault !== null)
    throw new CommandError(EXIT.refused, `${target} is NOT sound: ${fault} No older backup was removed.`);
  let pruned: PrunedBackups | undefined;
  try {
    if (keep !== undefined) pruned = storage.pruneBackups(folder, keep, { made: basename(target), yes });
  } catch (error) {
    const reason = (error as Error).message.replace(/\.?$/, '.');
    const message = `Older backups were not removed: ${reason}`;
    throw new CommandError(EXIT.refused, message);
  } finally {
    const printed = { database: storage.location, ...describeBackup(target, backup), ...pruned };
    run.show(printed, formatWritten(storage, target, backup, pruned));
    tellPlace(run, target);
    const lost = storage.findLostKeys();
    if (lost !== undefined) tell(run, lostKeys(lost));
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
const writeBackup = ({ storage, clock, news }: Run, folder: string): Promise<WrittenBackup> =>
  interruptible(
    () => new CommandError(EXIT.refused, 'Interrupted. No backup was written.'),
    (signal) =>
      storage.backUp(folder, {
        program: packageVersion(),
        now: clock.now,
        signal,
        onProgress: (progress) => news?.({ progress }),
      }),
  );

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
    .action(acting(context, verifyBackup));
}

async function verifyBackup(run: Run, folder: string): Promise<void> {
  const { backup, fault, ledgerFault } = await run.storage.verifyBackup(folder, run.clock.now);
  const description = backup === undefined ? { folder } : describeBackup(folder, backup);
  run.show(
    { ...description, sound: fault === null, fault, ledger_fault: ledgerFault },
    backup === undefined || fault !== null
      ? `${folder} is NOT sound.\n${fault}\n`
      : `${formatBackup(backup)}\n${folder} is a sound backup, written by ${backup.program} at ` +
          `${formatInstant(backup.instantMs)}.\n`,
  );
  if (fault !== null) throw new CommandError(EXIT.refused, '');
  assertLedger(ledgerFault);
}

function declareList(command: Command, context: CliContext): void {
  addPrintOptions(command)
    .description('list the complete backups in a folder of all, the newest first: by number, not by time')
    .argument('<dir>', 'the folder of all backups')
    .action(
      acting(context, async (run, folder: string) => {
        const backups = await listIn(run.storage, folder);
        const lines = backups.map(
          ({ name, backup }) => `${name}  ${formatInstant(backup.instantMs)}  ${formatPosition(backup)}\n`,
        );
        run.show(
          { backups: backups.map(({ name, backup }) => describeBackup(name, backup)) },
          lines.join(''),
        );
        if (backups.length === 0) run.err(`There is no complete backup in ${folder}.\n`);
      }),
    );
}

const formatPosition = ({ sequence }: Backup): string =>
  sequence === undefined ? 'events unknown' : `events up to ${sequence.lastSequence} of ${sequence.epoch}`;

function declarePrune(command: Command, context: CliContext): void {
  addPrintOptions(command)
    .description('remove all but the newest backups in a folder of all')
    .argument('<dir>', 'the folder of all backups')
    .option('--keep <n>', 'how many stay', parseKeep)
    .option('--yes', 'although the newest has fewer than half the members of the one before it')
    .action(
      acting(context, async (run: Run<BackupCommandOptions>, folder: string) => {
        const { keep, yes = false } = run.options;
        if (keep === undefined) throw new CommandError(EXIT.usage, 'Say how many stay: --keep 14.');
        await listIn(run.storage, folder);
        const pruned = run.storage.pruneBackups(folder, keep, { yes });
        run.show(pruned, formatPruned(pruned));
      }),
    );
}

const listIn = (storage: Storage, folder: string): Promise<readonly ListedBackup[]> =>
  refusing(
    (code) => new CommandError(EXIT.usage, `The folder ${folder} cannot be read (${code}).`),
    () => storage.listBackups(folder),
  );

const formatPruned = ({ kept, removed }: PrunedBackups): string =>
  `Backups there: ${kept}. Older ones that were removed: ${removed.length}.\n`;
