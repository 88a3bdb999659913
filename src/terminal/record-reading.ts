/** Records a command's access to personal data before it is printed (docs/ledger.md#recorded-data). */

import type { Command } from 'commander';
import { accessByUser, type Subject } from '../access/access-ledger.ts';
import { sequenceOf } from '../sqlite/storage.ts';
import { StorageError } from '../sqlite/storage-error.ts';
import { FIELD_GROUPS, type FieldGroup } from '../values/declared-fields.ts';
import { type CliContext, type CommandAccess, CommandError, EXIT } from './context.ts';
import type { Run } from './run.ts';

/** Groups of fields in short listings of members: names and codes. */
export const NAMES: readonly FieldGroup[] = ['identity'];
/** Groups of fields of a membership without its entries. */
export const MEMBER_GROUPS: readonly FieldGroup[] = ['identity', 'contact'];

interface ShownAccess extends Subject {
  readonly fields: readonly FieldGroup[];
  /** True for reading the ledger itself, which is recorded even if no person is named. */
  readonly isOfLedger?: true;
}

/**
 * Records the persons that the command shows next, if any.
 * @throws CommandError with status 1 if they cannot be recorded; nothing may be shown then
 */
export async function recordAccess(run: Run, { fields, isOfLedger, ...subject }: ShownAccess): Promise<void> {
  const { reading, config, storage, clock, user, openLedger } = run;
  if (reading === undefined || openLedger === undefined) throw new Error('No command runs.');
  const { identityCards = [], memberIds = [], all } = subject;
  const namesSomebody = identityCards.length > 0 || memberIds.length > 0 || all !== undefined;
  // The command itself reports a missing registry.
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

/** Notes that the command shows no person, so that it may print. */
export function recordNobody({ reading }: CliContext): void {
  if (reading !== undefined) reading.isRecorded = true;
}

/**
 * Records an access to all persons as of now: for a command that shows many, or values without a stored
 * owner.
 */
export async function recordAll(run: Run, fields: readonly FieldGroup[] = FIELD_GROUPS): Promise<void> {
  const sequence = sequenceOf(run.storage);
  const all = { asOfSequence: sequence?.lastSequence ?? 0, cooperativeIds: null };
  await recordAccess(run, { all, fields });
}

// A guard on the results: unless it is declared to show no personal data, a command prints nothing before its
// access is in the ledger (docs/ledger.md#recorded-data).

const SHOWING_NOBODY = new WeakSet<Command>();

/** Declares that a command shows no personal data; this does not apply to its subcommands. */
export function showingNobody(command: Command): Command {
  SHOWING_NOBODY.add(command);
  return command;
}

export const showsNobody = (command: Command): boolean => SHOWING_NOBODY.has(command);

/** Returns the words that name a command, without the program's. */
const wordsOf = (command: Command): string =>
  command.parent === null ? '' : `${wordsOf(command.parent)} ${command.name()}`.trim();

/**
 * Prevents a command from printing results before its access is recorded.
 * @throws Error (from the command's results) if it is not
 */
export function guardResults(context: CliContext, command: Command): void {
  const reading: CommandAccess = { command: wordsOf(command), isRecorded: showsNobody(command) };
  const { out } = context;
  context.reading = reading;
  context.out = (text, onLost) => {
    if (!reading.isRecorded) throw new Error(`The command "${reading.command}" shows what is not recorded.`);
    return out(text, onLost);
  };
}
