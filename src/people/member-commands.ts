/**
 * `members`: shows and finds members. The corrections of members are declared in correction-command.ts.
 * `entries`: lists and removes deliveries, savings transactions and loans (docs/correcting.md#entries).
 */
import { Argument, type Command } from 'commander';
import { findMemberId, MEMBER_HELP, namesOf, withMember } from '../journal/named-member.ts';
import { ENTRY_KINDS, type EntryKind, type EntrySelection } from '../registry/entries.ts';
import { formatStored } from '../registry/file-columns.ts';
import type { Search } from '../registry/name-search.ts';
import { openStoredData, ROW_LISTS } from '../registry/stored/stored-data.ts';
import type { StoredRow } from '../registry/stored/stored-data-types.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { formatFields, formatRows, formatTable } from '../terminal/output.ts';
import { MEMBER_GROUPS, NAMES, recordAccess } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import type { TimeZone } from '../values/date-time.ts';
import { FieldError } from '../values/errors.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { MOST_FOUND, parseSearch } from '../values/search-words-and-typos.ts';
import {
  addCorrectionOptions,
  type CorrectionCommandOptions,
  correct,
  declareCorrections,
} from './correction-command.ts';

export const describeRow = (row: StoredRow, zone: TimeZone): { [field: string]: string | null } =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [field, formatStored(field, value, zone)]));

/** Formats a table of the fields that have a value in any row. */
export function formatStoredRows(rows: readonly StoredRow[], zone: TimeZone): string {
  const described = rows.map((row) => describeRow(row, zone));
  const fields = Object.keys(described[0] ?? {}).filter((field) =>
    described.some((row) => row[field] !== null),
  );
  return formatTable(
    fields.map((field) => field.toUpperCase()),
    described.map((row) => fields.map((field) => row[field] ?? '')),
  );
}

interface ListOptions extends PrintOptions {
  readonly member?: string;
  readonly cooperative?: string;
  readonly reference?: string;
}

export function declareEntries(entries: Command, context: CliContext): void {
  addSelecting(addPrintOptions(entries.command('list'), 'REGISTRY_USER'))
    .description('show entries with all their values')
    .action(acting(context, list));
  addSelecting(addCorrectionOptions(entries.command('remove')))
    .description('remove entries that are wrong')
    .action(
      acting<CorrectionCommandOptions & ListOptions, [EntryKind]>(context, async (run, kind) => {
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
    .option('--cooperative <code>', 'with --reference: the entry of this cooperative', parseCode)
    .option('--reference <reference>', 'with --cooperative: the entry with this reference');

/**
 * @throws CommandError with status 2 unless the options name either a member or a reference; errors of
 *   `findMemberId`
 */
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
  await recordAccess(run, { memberIds: ownersOf(rows, selection), fields: ['identity', 'financials'] });
  const text = rows.length === 0 ? 'There is no such entry.\n' : formatStoredRows(rows, zone);
  run.show({ entries: rows.map((row) => describeRow(row, zone)) }, text);
}

const readRows = (
  { storage }: Run,
  kind: EntryKind,
  selection: EntrySelection,
): Promise<readonly StoredRow[]> =>
  withStore(openStoredData(storage), (store) => store.listEntries(kind, selection));

/** A member whom the operator names is always included, even without entries. */
const ownersOf = (rows: readonly StoredRow[], selection: EntrySelection): readonly number[] =>
  'memberId' in selection
    ? [selection.memberId]
    : [...new Set(rows.map(({ member_id }) => Number(member_id)))];

export const declareMembers =
  (search: Search | undefined) =>
  (members: Command, context: CliContext): void => {
    addPrintOptions(members.command('show'), 'REGISTRY_USER')
      .description('show a member in short, with everything that refers to it: personal data')
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
  const members = await withStore(search.openNameSearch(run.storage), (store) => store.searchMembers(words));
  await recordAccess(run, { memberIds: members.map(({ id }) => id), fields: NAMES });
  const described = members.map(({ cooperativeCode, memberCode, status, fullName }) => ({
    cooperative: cooperativeCode,
    member_code: hideIdentityCards(memberCode),
    status,
    full_name: hideIdentityCards(fullName),
  }));
  run.show({ found: members.length, members: described }, formatMembers(described));
}

async function show(run: Run, name: string): Promise<void> {
  await withMember(run, name, async (store, id) => {
    const membership = store.findMembership(id);
    if (membership === undefined) throw new CommandError(EXIT.refused, 'There is no member with this id.');
    const names = namesOf(store, membership.member);
    await recordAccess(run, { memberIds: [id], fields: MEMBER_GROUPS });
    const values = describeRow(membership.member, run.zone);
    const counts = Object.fromEntries(ROW_LISTS.map(([list, , rows]) => [list, rows(membership).length]));
    // This text shows the name and the national ID on purpose, as `persons show` does.
    const text = formatFields([
      ...names.map((unambiguous, i) => [i === 0 ? 'named by' : '', unambiguous] as const),
      ...Object.entries(values).flatMap(([field, value]) =>
        value === null ? [] : [[field, value] as const],
      ),
      ...Object.entries(counts).map(([entries, count]) => [entries, String(count)] as const),
    ]);
    run.show({ names, ...values, counts }, text);
  });
}

const SHOWN_MEMBERS = 100;

function formatMembers(
  members: readonly { readonly [field in 'cooperative' | 'member_code' | 'status' | 'full_name']: string }[],
): string {
  if (members.length === 0) return 'No members were found.\n';
  const table = formatRows(members.slice(0, SHOWN_MEMBERS), {
    COOPERATIVE: 'cooperative',
    CODE: 'member_code',
    STATUS: 'status',
    NAME: 'full_name',
  });
  const rest = members.length - SHOWN_MEMBERS;
  const most = members.length === MOST_FOUND ? ' or more' : '';
  return rest <= 0 ? table : `${table}${rest}${most} more are not shown: give more words.\n`;
}
