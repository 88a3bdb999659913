/**
 * Whom a command shows: unless it declares that it shows nobody's data, it prints nothing before the reading
 * is in the access ledger (docs/ledger.md#what-is-recorded).
 */
import type { Command } from 'commander';
import type { CliContext, CommandReading } from '../terminal/context.ts';

const SHOWING_NOBODY = new WeakSet<Command>();

/** Declares that a command shows nobody's data; this says nothing of its subcommands. */
export function showingNobody(command: Command): Command {
  SHOWING_NOBODY.add(command);
  return command;
}

export const showsNobody = (command: Command): boolean => SHOWING_NOBODY.has(command);

/** The words that name a command, without the program's. */
const wordsOf = (command: Command): string =>
  command.parent === null ? '' : `${wordsOf(command.parent)} ${command.name()}`.trim();

/**
 * Keeps a command from printing results before it has recorded the reading.
 * @throws Error (from the command's results) when it has not
 */
export function guardResults(context: CliContext, command: Command): void {
  const reading: CommandReading = { command: wordsOf(command), isRecorded: showsNobody(command) };
  const { out } = context;
  context.reading = reading;
  context.out = (text, onLost) => {
    if (!reading.isRecorded) throw new Error(`The command "${reading.command}" shows what is not recorded.`);
    return out(text, onLost);
  };
}
