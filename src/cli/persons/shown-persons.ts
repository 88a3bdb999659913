/**
 * Whose data each command shows, as routes declare it. What shows somebody's is recorded in the access ledger
 * before it is printed (docs/ledger.md#what-is-recorded).
 */
import type { Command } from 'commander';
import type { CliContext, CommandReading } from '../terminal/context.ts';

/**
 * `one` person's; a `page`: that of several who are known by id; `all` whom a filter lets through; `ledger`:
 * not their data, but who has read it.
 */
export type Shown = 'none' | 'one' | 'page' | 'all' | 'ledger';

/** Every command, by its words. A correction shows the names of the members that it is about. */
export const SHOWN_PERSONS: { readonly [command: string]: Shown } = {
  serve: 'none',
  status: 'none',
  // Its pages are recorded one by one.
  desk: 'none',
  seed: 'none',
  // Where it shows what is stored beside what is in the file.
  import: 'all',
  'import map': 'none',
  export: 'all',
  'imports list': 'none',
  'imports show': 'none',
  'imports changes': 'all',
  'imports undo': 'none',
  'history member': 'one',
  'history cooperative': 'none',
  'nid replace': 'page',
  'nid release': 'page',
  'members show': 'one',
  'members find': 'page',
  'members merge': 'page',
  'members move': 'page',
  'members transfer': 'page',
  'cooperatives merge': 'page',
  'persons deceased': 'page',
  'persons erase': 'page',
  'persons show': 'one',
  'entries list': 'page',
  'entries remove': 'page',
  duplicates: 'page',
  'duplicates dismiss': 'page',
  statistics: 'none',
  'keys create': 'none',
  'keys list': 'none',
  'keys show': 'none',
  'keys update': 'none',
  'keys disable': 'none',
  'keys enable': 'none',
  'keys rotate': 'none',
  'ledger person': 'ledger',
  'ledger key': 'ledger',
  'ledger verify': 'ledger',
  'ledger repair': 'ledger',
  'ledger export': 'ledger',
  'webhooks add': 'none',
  'webhooks list': 'none',
  'webhooks test': 'none',
  'webhooks deliveries': 'none',
  'webhooks replay': 'none',
  'webhooks skip': 'none',
  'webhooks rotate': 'none',
  'webhooks enable': 'none',
  'webhooks remove': 'none',
  check: 'none',
  backup: 'none',
  'backup verify': 'none',
  'backup list': 'none',
  'backup prune': 'none',
  restore: 'none',
  fence: 'none',
  summarize: 'none',
  'time-zone': 'none',
};

/** The words that name a command, without the program's. */
export const wordsOf = (command: Command): string =>
  command.parent === null ? '' : `${wordsOf(command.parent)} ${command.name()}`.trim();

/**
 * Keeps a command that shows persons from printing results before it has recorded the reading.
 * @throws Error (from the command's results) when it has not; for a command that is not in the table
 */
export function guardResults(context: CliContext, command: Command): void {
  const words = wordsOf(command);
  const shown = SHOWN_PERSONS[words];
  if (shown === undefined) throw new Error(`The command "${words}" does not say whom it shows.`);
  const reading: CommandReading = { command: words, isRecorded: shown === 'none' };
  const { out } = context;
  context.reading = reading;
  context.out = (text, onLost) => {
    if (!reading.isRecorded) throw new Error(`The command "${words}" shows what is not recorded.`);
    return out(text, onLost);
  };
}
