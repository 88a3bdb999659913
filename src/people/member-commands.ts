/**
 * `members`: showing, finding, merging, moving and transferring members
 * (docs/correcting.md#registered-twice). `entries`: listing and removing deliveries, savings transactions and
 * loans (docs/correcting.md#entries).
 */
import { Argument, type Command } from 'commander';
import { ENTRY_KINDS, type EntryKind, type EntrySelection } from '../registry/entries.ts';
import { formatStored } from '../registry/file-columns.ts';
import type { Search } from '../registry/name-search.ts';
import { findMemberId, MEMBER_HELP, namesOf, withMember } from '../registry/named-member.ts';
import { openStoredData } from '../registry/stored/stored-data.ts';
import type { NamedMember, StoredMembership, StoredRow } from '../registry/stored/stored-data-types.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { formatFields, formatTable } from '../terminal/output.ts';
import { MEMBER_GROUPS, NAMES, recordAccess } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import type { TimeZone } from '../values/date-time.ts';
import { FieldError } from '../values/errors.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { MOST_FOUND, parseSearch } from '../values/search-words.ts';
import {
  addCorrectionOptions,
  type CorrectionCommandOptions,
  correct,
  declareCorrections,
} from './correction-command.ts';

// Output of stored rows: text for people, JSON for programs

export const describeHeld = (row: StoredRow, zone: TimeZone): { [field: string]: string | null } =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [field, formatStored(field, value, zone)]));

/**
 * Table with a column for each field that has a value in any row.
 * @param rows at least one, all of one kind
 */
export function formatHeld(rows: readonly StoredRow[], zone: TimeZone): string {
  const described = rows.map((row) => describeHeld(row, zone));
  const fields = Object.keys(described[0] ?? {}).filter((field) =>
    described.some((row) => row[field] !== null),
  );
  return formatTable(
    fields.map((field) => field.toUpperCase()),
    described.map((row) => fields.map((field) => row[field] ?? '')),
  );
}

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

/** @throws CommandError with status 2 unless exactly one way of selecting is used, or as `findMemberId` */
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
  await recordAccess(run, { memberIds: ownersOf(rows, selection), fields });
  const text = rows.length === 0 ? 'There is no such entry.\n' : formatHeld(rows, zone);
  run.show({ entries: rows.map((row) => describeHeld(row, zone)) }, text);
}

const readRows = (
  { storage }: Run,
  kind: EntryKind,
  selection: EntrySelection,
): Promise<readonly StoredRow[]> =>
  withStore(openStoredData(storage), (store) => store.listEntries(kind, selection));

/** Ids of the owners of the entries; a named member is included even without entries. */
const ownersOf = (rows: readonly StoredRow[], selection: EntrySelection): readonly number[] =>
  'memberId' in selection
    ? [selection.memberId]
    : [...new Set(rows.map(({ member_id }) => Number(member_id)))];

export const declareMembers =
  (search: Search | undefined) =>
  (members: Command, context: CliContext): void => {
    addPrintOptions(members.command('show'), 'REGISTRY_USER')
      .description('show a member in short, and everything that names it: personal data')
      .argument('<member>', MEMBER_HELP)
      .action(acting(context, show));
    if (search !== undefined)
      addPrintOptions(members.command('find'), 'REGISTRY_USER')
        .description('find members by the beginnings of words of their names: personal data')
        .argument('<name...>', 'one to five words of at least three letters each')
        .action(acting(context, (run, name: string[]) => find(run, search, name)));
    declareCorrections(members, context);
  };

async function find(run: Run, search: Search, name: string[]): Promise<void> {
  const words = parseSearch(name.join(' '));
  if (words instanceof FieldError) throw new CommandError(EXIT.usage, `The name: ${words.message}`);
  const found = await withStore(search.openNameSearch(run.storage), (store) => store.searchMembers(words));
  await recordAccess(run, { memberIds: found.map(({ id }) => id), fields: NAMES });
  run.show(describeFound(found), formatFound(found));
}

async function show(run: Run, member: string): Promise<void> {
  const { zone } = run;
  await withMember(run, member, async (store, id) => {
    const found = store.findMembership(id);
    if (found === undefined) throw new CommandError(EXIT.refused, 'There is no member with this id.');
    const names = namesOf(store, found.member);
    await recordAccess(run, { memberIds: [id], fields: MEMBER_GROUPS });
    run.show(describeMember(found, names, zone), formatMember(found, names, zone));
  });
}

const countsOf = (held: StoredMembership) => ({
  deliveries: held.deliveries.length,
  loans: held.loans.length,
  payments: held.payments.length,
  savings_accounts: held.savingsAccounts.length,
  savings_transactions: held.savingsTransactions.length,
});

/** @param names unambiguous names of the member */
const describeMember = (held: StoredMembership, names: readonly string[], zone: TimeZone) => ({
  names,
  ...describeHeld(held.member, zone),
  counts: countsOf(held),
});

/** Shows names and national IDs on purpose, like the text of a person. */
const formatMember = (held: StoredMembership, names: readonly string[], zone: TimeZone): string =>
  formatFields([
    ...names.map((name, i) => [i === 0 ? 'named by' : '', name] as const),
    ...Object.entries(describeHeld(held.member, zone)).flatMap(([field, value]) =>
      value === null ? [] : [[field, value] as const],
    ),
    ...Object.entries(countsOf(held)).map(([entries, count]) => [entries, String(count)] as const),
  ]);

/** Limit of members shown as text; the rest is only counted. */
const SHOWN_FOUND = 100;

const describeFound = (found: readonly NamedMember[]) => ({
  found: found.length,
  members: found.map(({ cooperativeCode, memberCode, status, fullName }) => ({
    cooperative: cooperativeCode,
    member_code: hideIdentityCards(memberCode),
    status,
    full_name: hideIdentityCards(fullName),
  })),
});

function formatFound(found: readonly NamedMember[]): string {
  if (found.length === 0) return 'Nobody was found.\n';
  const { members } = describeFound(found.slice(0, SHOWN_FOUND));
  const table = formatTable(
    ['COOPERATIVE', 'CODE', 'STATUS', 'NAME'],
    members.map(({ cooperative, member_code, status, full_name }) => [
      ...[cooperative, member_code, status, full_name],
    ]),
  );
  const more = found.length - members.length;
  const most = found.length === MOST_FOUND ? ' or more' : '';
  return more === 0 ? table : `${table}${more}${most} more are not shown: give more words.\n`;
}
