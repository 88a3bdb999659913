/** The command `backup`, which writes, verifies, lists and removes backups (docs/backup.md#backup). */

import { basename, dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { findLostKeys, lostKeys } from '../ledger/open-ledger.ts';
import { packageVersion } from '../runtime/process.ts';
import type { Storage } from '../sqlite/storage.ts';
import { asksYes } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT, tell } from '../terminal/context.ts';
import { formatBytes, formatTable } from '../terminal/output.ts';
import { reading } from '../terminal/places.ts';
import { showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { interruptible } from '../terminal/signals.ts';
import { say } from '../values/message.ts';
import { isUnknownFile, type Manifest } from './manifest.ts';
import {
  datedFolderIn,
  listDatedBackups,
  type PrunedBackups,
  placeOf,
  pruneDatedBackups,
  verifyAndRecordBackup,
  writeAndRecordBackup,
} from './numbered-backups.ts';

export const formatInstant = (instantMs: number): string => new Date(instantMs).toISOString();

export const describeBackup = (
  folder: string,
  { program, instantMs, files, rows, sequence, registryId }: Manifest,
) => ({
  folder,
  program,
  instant: formatInstant(instantMs),
  files: files.map(({ name, bytes, sha256, schema_version }) => ({ name, bytes, sha256, schema_version })),
  rows,
  epoch: sequence?.epoch ?? null,
  last_sequence: sequence?.lastSequence ?? null,
  registry_id: registryId ?? null,
});

/** Returns a note on the files whose modules this program lacks. @param rest end of the note */
export function unknownFilesNote({ files }: Manifest, rest: string): string {
  const names = files.map(({ name }) => name).filter(isUnknownFile);
  return names.length === 0
    ? ''
    : `This program does not know ${names.join(', ')}, which another one has written: ${rest}\n`;
}

function formatBackup({ files, rows, sequence }: Manifest): string {
  const fileLines = files.map(({ name, bytes, schema_version, sha256 }) => [
    name,
    formatBytes(bytes),
    String(schema_version),
    `${sha256.slice(0, 16)}…`,
  ]);
  const rowLines = Object.entries(rows).map(([table, count]) => [table, String(count)]);
  const fileTable = formatTable(['FILE', 'SIZE', 'SCHEMA', 'SHA-256'], fileLines);
  const events =
    sequence === undefined ? '' : `\nEvents up to ${sequence.lastSequence} of epoch ${sequence.epoch}.\n`;
  return `${fileTable}\n${formatTable(['TABLE', 'ROWS'], rowLines)}${events}`;
}

/**
 * Asks the user before a missing folder is created. A folder is also missing if its disk is not mounted, and
 * the backup would then be written to another disk.
 * @param folder parent of the folder of the backup
 * @throws CommandError with status 2 if the user refuses or cannot be asked
 */
async function requireFolder(
  context: CliContext & { readonly storage: Storage },
  folder: string,
  yes: boolean,
): Promise<void> {
  if (yes || placeOf(context.storage.location, folder) !== 'missing') return;
  const question = say('There is no folder {folder}. Is its disk mounted? Create the folder? [y/N]', {
    folder,
  });
  if (context.ask !== undefined && (await asksYes(context, question, new AbortController().signal))) return;
  throw new CommandError(
    EXIT.usage,
    say('There is no folder {folder}. Mount its disk, or create it first; --yes creates it.', { folder }),
  );
}

/** Warns if the failure of one disk would destroy both the registry and the backup. */
function tellPlace(context: CliContext & { readonly storage: Storage }, folder: string): void {
  const place = placeOf(context.storage.location, folder);
  if (place === 'beside')
    tell(context, say('This backup is in the folder of the registry: keep another one elsewhere.'));
  if (place === 'same_disk')
    tell(context, say('This backup is on the disk of the registry: copy it to another one.'));
}

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
    .option('--yes', 'create a missing folder; remove older backups even if this one is much smaller')
    .addHelpText('after', MORE_HELP)
    .action(acting(context, runBackup));
  const declare = (name: string) => addPrintOptions(showingNobody(command.command(name)));
  declare('verify')
    .description(
      'check every byte of a backup; status 0 sound, 1 not, 2 no backup, 3 sound except for the access ' +
        'ledger',
    )
    .argument('<dir>', 'the folder of a backup')
    .action(acting(context, runVerify));
  declare('list')
    .description(
      'list the complete backups in the folder of all backups, newest first: by number, not by time',
    )
    .argument('<dir>', 'the folder of all backups')
    .action(acting(context, runList));
  declare('prune')
    .description('remove all but the newest backups in the folder of all backups')
    .argument('<dir>', 'the folder of all backups')
    .option('--keep <n>', 'number of backups to keep', parseKeep)
    .option('--yes', 'do it even if the newest has fewer than half the members of the one before it')
    .action(acting(context, runPrune));
}

function parseKeep(text: string): number {
  if (/^[1-9][0-9]{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number from 1 to 9999.');
}

async function runBackup(run: Run<BackupCommandOptions>, folder: string): Promise<void> {
  const { storage, clock } = run;
  const { keep, verify, yes = false } = run.options;
  await requireFolder(run, keep === undefined ? dirname(resolve(folder)) : folder, yes);
  const target = keep === undefined ? folder : datedFolderIn(folder, clock.now());
  const backup = await interruptible(
    () => new CommandError(EXIT.refused, 'Interrupted. No backup was written.'),
    (signal) => {
      const onProgress = (progress: number) => run.news?.({ progress });
      const options = { program: packageVersion(), now: clock.now, signal, onProgress };
      return writeAndRecordBackup(storage, target, options);
    },
  );
  const { fault, ledgerFault } = verify
    ? await verifyAndRecordBackup(storage, target, clock.now)
    : { fault: null, ledgerFault: null };
  if (fault !== null)
    throw new CommandError(EXIT.refused, `${target} is NOT sound: ${fault} No older backup was removed.`);
  let pruned: PrunedBackups | undefined;
  try {
    if (keep !== undefined) pruned = pruneDatedBackups(folder, keep, yes, basename(target));
  } catch (error) {
    const reason = (error as Error).message.replace(/\.?$/, '.');
    const message = `Older backups were not removed: ${reason}`;
    throw new CommandError(EXIT.refused, message);
  } finally {
    const printed = { database: storage.location, ...describeBackup(target, backup), ...pruned };
    run.show(printed, formatWritten(storage, target, backup, pruned));
    tellPlace(run, target);
    const lost = findLostKeys(storage.checkedPath());
    if (lost !== undefined) tell(run, lostKeys(lost));
  }
  assertLedger(backup.ledgerFault ?? ledgerFault);
}

function assertLedger(fault: string | null): void {
  if (fault === null) return;
  throw new CommandError(EXIT.partly, `The access ledger is NOT sound: ${fault} See docs/ledger.md#damage.`);
}

function formatWritten(storage: Storage, folder: string, backup: Manifest, pruned?: PrunedBackups): string {
  const upTo = `every write acknowledged before ${formatInstant(backup.instantMs)}`;
  const done = `${formatBackup(backup)}\n${storage.location} is backed up in ${folder}: ${upTo}.\n`;
  return pruned === undefined ? done : done + formatPruned(pruned);
}

async function runVerify(run: Run, folder: string): Promise<void> {
  const { backup, fault, ledgerFault } = await verifyAndRecordBackup(run.storage, folder, run.clock.now);
  const description = backup === undefined ? { folder } : describeBackup(folder, backup);
  run.show(
    { ...description, sound: fault === null, fault, ledger_fault: ledgerFault },
    backup === undefined || fault !== null
      ? `${folder} is NOT sound.\n${fault}\n`
      : `${formatBackup(backup)}\n${folder} is a sound backup, written by ${backup.program} at ` +
          `${formatInstant(backup.instantMs)}.\n`,
  );
  if (fault !== null) throw new CommandError(EXIT.refused, '');
  if (backup !== undefined) run.err(unknownFilesNote(backup, 'its bytes are as they were written.'));
  assertLedger(ledgerFault);
}

async function runList(run: Run, folder: string): Promise<void> {
  const backups = await listIn(folder, (name, fault) => run.err(`Passed over ${name}: ${fault}\n`));
  const lines = backups.map(
    ({ name, manifest }) => `${name}  ${formatInstant(manifest.instantMs)}  ${formatPosition(manifest)}\n`,
  );
  run.show({ backups: backups.map(({ name, manifest }) => describeBackup(name, manifest)) }, lines.join(''));
  if (backups.length === 0) run.err(`There is no complete backup in ${folder}.\n`);
}

const formatPosition = ({ sequence }: Manifest): string =>
  sequence === undefined ? 'events unknown' : `events up to ${sequence.lastSequence} of ${sequence.epoch}`;

async function runPrune(run: Run<BackupCommandOptions>, folder: string): Promise<void> {
  const { keep, yes = false } = run.options;
  if (keep === undefined)
    throw new CommandError(EXIT.usage, 'Give the number of backups to keep: --keep 14.');
  await listIn(folder);
  const pruned = pruneDatedBackups(folder, keep, yes);
  run.show(pruned, formatPruned(pruned));
}

const listIn = (folder: string, onDenied?: (name: string, fault: string) => void) =>
  reading(folder, () => listDatedBackups(folder, onDenied));

const formatPruned = ({ kept, removed }: PrunedBackups): string =>
  `Backups there: ${kept}. Older ones that were removed: ${removed.length}.\n`;
