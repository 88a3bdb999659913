/** `duplicates`: members who may be one person (docs/correcting.md#finding-people-registered-twice). */
import type { Command } from 'commander';
import { refer } from '../journal/named-member.ts';
import { openStoredData } from '../registry/stored/stored-data.ts';
import type { FoundMember } from '../registry/stored/stored-data-types.ts';
import { quoted, typedCommand } from '../runtime/typed-command.ts';
import { WAIT_MS } from '../sqlite/connection.ts';
import { openDatabase } from '../sqlite/open-database.ts';
import { REGISTRY_SCHEMA } from '../sqlite/schemas.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { NAMES, recordAccess } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions, type SettingOptions } from '../terminal/settings.ts';
import { hideIdentityCards, mayContainIdentityCard } from '../values/identity-card.ts';
import { counted } from '../values/text.ts';
import { declareCorrections } from './correction-command.ts';
import { findContradictions } from './find-contradictions.ts';
import { findDuplicates } from './find-duplicates.ts';
import type {
  Contradictions,
  ContradictoryMember,
  ContradictoryPerson,
  Crowd,
  LikelyDuplicate,
  LikelyDuplicates,
} from './likeness.ts';

/** Names a member on a command line: by id if the codes may be a national ID or look like an option. */
function argumentOf({ id, cooperativeCode, memberCode }: FoundMember): string {
  const name = `${cooperativeCode}/${memberCode}`;
  if (mayContainIdentityCard(memberCode) || name.startsWith('-')) return String(id);
  return quoted(name);
}

/** Omits the name, because programs may store the output. */
const describeMember = (member: FoundMember) => ({ id: member.id, member: refer(member) });

const SHOWN = 50;

function formatFirst<Found>(found: readonly Found[], format: (each: Found) => string): string {
  const rest = found.length - SHOWN;
  const more = rest > 0 ? `${rest} more; --json lists all of them.\n` : '';
  return found.slice(0, SHOWN).map(format).join('') + more;
}

// `duplicates --contradictions`: persons whose records may belong to two people
// (docs/correcting.md#conflicting-records)

/** Returns the commands that resolve a conflict. The operator runs one of them. */
function commandsOf({ members }: ContradictoryPerson, options: SettingOptions) {
  const [first, ...others] = members as [ContradictoryMember, ...ContradictoryMember[]];
  return {
    another_number: [...others, first].map((member) => {
      const name = argumentOf(member);
      return typedCommand(`nid replace ${name} NEW --member ${name} --reason "Two people"`, options.db);
    }),
    same_person: typedCommand(
      `duplicates same-person ${argumentOf(first)} --reason "One person, checked"`,
      options.db,
    ),
  };
}

const describeContradictions = ({ persons, accepted, dropped }: Contradictions, options: SettingOptions) => ({
  persons: persons.map((person) => ({
    contradictions: person.contradictions,
    members: person.members.map(describeMember),
    commands: commandsOf(person, options),
  })),
  accepted,
  dropped,
});

function formatMember(member: ContradictoryMember): string {
  const born = member.dateOfBirth ?? 'unknown';
  const values = [hideIdentityCards(member.fullName), `born ${born}`, `gender ${member.gender ?? 'unknown'}`];
  return `${refer(member)} ${values.join(', ')}\n`;
}

function formatPerson(person: ContradictoryPerson, options: SettingOptions): string {
  const { another_number: numbers, same_person: one } = commandsOf(person, options);
  return [
    ...person.members.map(formatMember),
    `     ${person.contradictions.join(', ')}\n`,
    ...[...numbers, one].map((command) => `     ${command}\n`),
  ].join('');
}

function formatContradictions(
  { persons, accepted, dropped }: Contradictions,
  options: SettingOptions,
): string {
  return [
    persons.length === 0 ? 'No conflicting records were found.\n' : '',
    formatFirst(persons, (person) => formatPerson(person, options)),
    dropped > 0 ? `${counted(dropped, 'person', 'persons')} beyond these.\n` : '',
    accepted > 0 ? `${counted(accepted, 'person was', 'persons were')} checked before.\n` : '',
  ].join('');
}

interface FindOptions extends PrintOptions {
  readonly cooperative?: string;
  readonly contradictions?: true;
}

export function declareDuplicates(duplicates: Command, context: CliContext): void {
  addPrintOptions(duplicates, 'REGISTRY_USER')
    .option('--cooperative <code>', 'only pairs with a member of this cooperative', parseCode)
    .option('--contradictions', 'list persons with conflicting records instead')
    .action(acting(context, find));
  declareCorrections(duplicates, context);
}

/** @throws CommandError with status 1 for an unknown cooperative */
async function find(run: Run<FindOptions>): Promise<void> {
  const { storage, options } = run;
  const { cooperative: code } = options;
  const cooperatives = await withStore(openStoredData(storage), (store) => store.listCooperatives());
  if (code !== undefined && !cooperatives.some((cooperative) => cooperative.code === code))
    throw new CommandError(EXIT.refused, `There is no cooperative ${code}.`);
  const record = (members: readonly FoundMember[]) =>
    recordAccess(run, { memberIds: [...new Set(members.map(({ id }) => id))], fields: NAMES });
  const settings = { waitMs: WAIT_MS.command, schema: REGISTRY_SCHEMA };
  await withStore(openDatabase(storage.pathForOpening(), settings), async (db) => {
    if (options.contradictions === true) {
      const contradictions = findContradictions(db, code);
      await record(contradictions.persons.flatMap(({ members }) => members));
      const text = formatContradictions(contradictions, options);
      run.show(describeContradictions(contradictions, options), text);
    } else {
      const duplicates = findDuplicates(db, code);
      await record(duplicates.pairs.flatMap(({ from, into }) => [from, into]));
      run.show(describeDuplicates(duplicates, options), formatDuplicates(duplicates, options));
    }
  });
}

function commandOf({ from, into }: LikelyDuplicate, options: SettingOptions): string {
  const name = from.cooperativeCode === into.cooperativeCode ? 'members merge' : 'nid replace';
  return typedCommand(
    `${name} ${argumentOf(from)} ${argumentOf(into)} --reason "Registered twice"`,
    options.db,
  );
}

const describeDuplicates = (
  { pairs, dropped, dismissed, crowds }: LikelyDuplicates,
  options: SettingOptions,
) => ({
  pairs: pairs.map((pair) => ({
    score: pair.score,
    reasons: pair.reasons,
    members: [describeMember(pair.from), describeMember(pair.into)],
    command: commandOf(pair, options),
  })),
  dropped,
  dismissed,
  not_compared: crowds,
});

const formatPair = (pair: LikelyDuplicate, options: SettingOptions): string => {
  const names = [pair.from, pair.into].map(
    (member) => `${refer(member)} ${hideIdentityCards(member.fullName)}`,
  );
  return (
    `${String(pair.score).padStart(3)}  ${names.join(' · ')}\n     ${pair.reasons.join(', ')}\n` +
    `     ${commandOf(pair, options)}\n`
  );
};

const CROWDS: { readonly [shared in Crowd['shared']]: readonly [one: string, many: string] } = {
  phone: ['phone', 'phones'],
  name: ['name with one date of birth', 'names with one date of birth'],
};

const formatCrowd = ({ shared, groups, members }: Crowd): string =>
  `Not compared, as too many share them: ${counted(members, 'member')} with ` +
  `${counted(groups, ...CROWDS[shared])}.\n`;

function formatDuplicates(
  { pairs, dropped, dismissed, crowds }: LikelyDuplicates,
  options: SettingOptions,
): string {
  return [
    pairs.length === 0 ? 'No likely duplicates were found.\n' : '',
    formatFirst(pairs, (pair) => formatPair(pair, options)),
    dropped > 0 ? `${counted(dropped, 'pair')} less likely than all of these.\n` : '',
    dismissed > 0 ? `${counted(dismissed, 'pair was', 'pairs were')} set aside before.\n` : '',
    ...crowds.map(formatCrowd),
  ].join('');
}
