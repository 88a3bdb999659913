/** `members`: showing, merging, moving and transferring them (docs/correcting.md#registered-twice). */
import type { Command } from 'commander';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { MOST_FOUND, parseSearch } from '../../domain/values/search-words.ts';
import type { HeldMembership, NamedMember } from '../../store/contract/journal/held-data.ts';
import { MEMBER_HELP, namesOf, withMember } from '../persons/named-member.ts';
import { MEMBER_GROUPS, NAMES, recordReading } from '../persons/record-reading.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { formatFields, formatTable } from '../terminal/output.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { declareCorrections } from './corrections.ts';
import { describeHeld } from './held-data-text.ts';

export function declareMembers(members: Command, context: CliContext): void {
  addPrintOptions(members.command('show'), 'REGISTRY_USER')
    .description('show a member in short, and everything that names it: personal data')
    .argument('<member>', MEMBER_HELP)
    .action(acting(context, show));
  addPrintOptions(members.command('find'), 'REGISTRY_USER')
    .description('find members by the beginnings of words of their names: personal data')
    .argument('<name...>', 'one to five words of at least three letters each')
    .action(acting(context, find));
  declareCorrections(members, context);
}

async function find(run: Run, name: string[]): Promise<void> {
  const words = parseSearch(name.join(' '));
  if (words instanceof FieldError) throw new CommandError(EXIT.usage, `The name: ${words.message}`);
  const found = await withStore(run.storage.openHeldData(), (store) => store.searchMembers(words));
  await recordReading(run, { memberIds: found.map(({ id }) => id), fields: NAMES });
  run.show(describeFound(found), formatFound(found));
}

async function show(run: Run, member: string): Promise<void> {
  const { zone } = run;
  await withMember(run, member, async (store, id) => {
    const found = store.findMembership(id);
    if (found === undefined) throw new CommandError(EXIT.refused, 'There is no member with this id.');
    const names = namesOf(store, found.member);
    await recordReading(run, { memberIds: [id], fields: MEMBER_GROUPS });
    run.show(describeMember(found, names, zone), formatMember(found, names, zone));
  });
}

const countsOf = (held: HeldMembership) => ({
  deliveries: held.deliveries.length,
  loans: held.loans.length,
  payments: held.payments.length,
  savings_accounts: held.savingsAccounts.length,
  savings_transactions: held.savingsTransactions.length,
});

/** @param names texts that name this member and nobody else */
const describeMember = (held: HeldMembership, names: readonly string[], zone: TimeZone) => ({
  names,
  ...describeHeld(held.member, zone),
  counts: countsOf(held),
});

/** Like the text of a person, it shows names and national IDs on purpose. */
const formatMember = (held: HeldMembership, names: readonly string[], zone: TimeZone): string =>
  formatFields([
    ...names.map((name, i) => [i === 0 ? 'named by' : '', name] as const),
    ...Object.entries(describeHeld(held.member, zone)).flatMap(([field, value]) =>
      value === null ? [] : [[field, value] as const],
    ),
    ...Object.entries(countsOf(held)).map(([entries, count]) => [entries, String(count)] as const),
  ]);

/** Rows that a person reads; the rest is counted. */
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
