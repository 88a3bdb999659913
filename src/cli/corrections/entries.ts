/** `entries`: deliveries, savings transactions and loans one by one (docs/correcting.md#entries). */
import { Argument, type Command } from 'commander';
import { ENTRY_KINDS, type EntryKind, type EntrySelection } from '../../domain/entries/entries.ts';
import type { HeldRow } from '../../store/contract/journal/held-data.ts';
import { findMemberId, MEMBER_HELP } from '../persons/named-member.ts';
import { recordReading } from '../persons/record-reading.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { addCorrectionOptions, type CorrectionCommandOptions, correct } from './correction-command.ts';
import { describeHeld, formatHeld } from './held-data-text.ts';

interface Selecting {
  readonly member?: string;
  readonly cooperative?: string;
  readonly reference?: string;
}

type ListOptions = PrintOptions & Selecting;

export function declareEntries(entries: Command, context: CliContext): void {
  addSelecting(addPrintOptions(entries.command('list'), 'REGISTRY_USER'))
    .description('show entries with all their values')
    .action(acting(context, list));
  addSelecting(addCorrectionOptions(entries.command('remove')))
    .description('remove entries that should not be there')
    .action(
      acting<CorrectionCommandOptions & Selecting, [EntryKind]>(context, async (run, kind) => {
        const selection = await readSelection(run);
        const named = { memberIds: ownersOf(await readRows(run, kind, selection), selection) };
        await correct(run, named, (store, given) => store.removeEntries(kind, selection, given));
      }),
    );
}

const addSelecting = (command: Command): Command =>
  command
    .addArgument(new Argument('<kind>', 'kind of entries').choices(ENTRY_KINDS))
    .option('--member <member>', `all of this member: ${MEMBER_HELP}`)
    .option('--cooperative <code>', 'with --reference: the one of this cooperative', parseCode)
    .option('--reference <reference>', 'with --cooperative: the one with this reference');

/** @throws CommandError with status 2 unless it is one of the two ways to select, or as `findMemberId` */
async function readSelection(run: Run<ListOptions>): Promise<EntrySelection> {
  const { member, cooperative, reference } = run.options;
  if (member !== undefined && cooperative === undefined && reference === undefined)
    return { memberId: await findMemberId(run, member) };
  if (member === undefined && cooperative !== undefined && reference !== undefined)
    return { cooperativeCode: cooperative, reference };
  throw new CommandError(EXIT.usage, 'Give either --member, or --cooperative and --reference.');
}

async function list(run: Run<ListOptions>, kind: EntryKind): Promise<void> {
  const { zone } = run;
  const selection = await readSelection(run);
  const rows = await readRows(run, kind, selection);
  const fields = ['identity', 'financials'] as const;
  await recordReading(run, { memberIds: ownersOf(rows, selection), fields });
  const text = rows.length === 0 ? 'There is no such entry.\n' : formatHeld(rows, zone);
  run.show({ entries: rows.map((row) => describeHeld(row, zone)) }, text);
}

const readRows = (
  { storage }: Run,
  kind: EntryKind,
  selection: EntrySelection,
): Promise<readonly HeldRow[]> =>
  withStore(storage.openHeldData(), (store) => store.listEntries(kind, selection));

/** Ids of the members of the entries; of one that is named also without entries. */
const ownersOf = (rows: readonly HeldRow[], selection: EntrySelection): readonly number[] =>
  'memberId' in selection
    ? [selection.memberId]
    : [...new Set(rows.map(({ member_id }) => Number(member_id)))];
