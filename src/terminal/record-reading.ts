/** Records a command's access to personal data before the data is printed (docs/ledger.md#recorded-data). */

import type { Command } from 'commander';
import { accessByUser, type Subject } from '../access/access-ledger.ts';
import { StorageError } from '../sqlite/sqlite-errors.ts';
import { sequenceOf } from '../sqlite/storage.ts';
import { FIELD_GROUPS, type FieldGroup } from '../values/declared-fields.ts';
import { type CliContext, type CommandAccess, CommandError, EXIT } from './context.ts';
import type { Run } from './run.ts';

/** Names and codes, as in lists of members. */
export const NAMES: readonly FieldGroup[] = ['identity'];
/** A membership without deliveries, loans and savings. */
export const MEMBER_GROUPS: readonly FieldGroup[] = ['identity', 'contact'];

interface ShownAccess extends Subject {
  readonly fields: readonly FieldGroup[];
  /** True for an access to the ledger, which is recorded even if no person is shown. */
  readonly isOfLedger?: true;
}

/** @throws CommandError with status 1 if the access cannot be recorded; the command must then show nothing */
export async function recordAccess(run: Run, { fields, isOfLedger, ...subject }: ShownAccess): Promise<void> {
  const { reading, config, storage, clock, user, openLedger } = run;
  if (reading === undefined || openLedger === undefined) throw new Error('No command runs.');
  const { identityCards = [], memberIds = [], all } = subject;
  const namesSomebody = identityCards.length > 0 || memberIds.length > 0 || all !== undefined;
  // Without a registry, the command reports an error and shows nothing.
  if (config.accessLedger && (namesSomebody || isOfLedger === true) && storage.exists()) {
    const ledger = await openLedger(storage);
    try {
      await ledger.record([accessByUser(clock, user, { route: reading.command, fields, subject })]);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      const message = `The access ledger cannot be written, so nothing is shown: ${error.message}`;
      throw new CommandError(EXIT.refused, message);
    } finally {
      await ledger.close();
    }
  }
  recordNobody(run);
}

/** Allows a command whose results show no persons to print the results. */
export function recordNobody({ reading }: CliContext): void {
  if (reading !== undefined) reading.isRecorded = true;
}

/** Records an access to all persons, for results with many persons or with persons without a national ID. */
export async function recordAll(run: Run, fields: readonly FieldGroup[] = FIELD_GROUPS): Promise<void> {
  const sequence = sequenceOf(run.storage);
  const all = { asOfSequence: sequence?.lastSequence ?? 0, cooperativeIds: null };
  await recordAccess(run, { all, fields });
}

// Guard of results: a command that may show personal data cannot print before its access is in the ledger

const SHOWING_NOBODY = new WeakSet<Command>();

/** Declares that a command shows no personal data. Does not apply to its subcommands. */
export function showingNobody(command: Command): Command {
  SHOWING_NOBODY.add(command);
  return command;
}

export const showsNobody = (command: Command): boolean => SHOWING_NOBODY.has(command);

/** Returns, for example, `keys list`. */
const wordsOf = (command: Command): string =>
  command.parent === null ? '' : `${wordsOf(command.parent)} ${command.name()}`.trim();

/** Makes `context.out` throw until the access of the command is recorded. */
export function guardResults(context: CliContext, command: Command): void {
  const reading: CommandAccess = { command: wordsOf(command), isRecorded: showsNobody(command) };
  const { out } = context;
  context.reading = reading;
  context.out = (text, onLost) => {
    if (!reading.isRecorded) throw new Error(`The command "${reading.command}" shows what is not recorded.`);
    return out(text, onLost);
  };
}
