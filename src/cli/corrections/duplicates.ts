/** `duplicates`: members who may be one person (docs/correcting.md#finding-people-registered-twice). */
import type { Command } from 'commander';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import { counted } from '../../domain/values/text.ts';
import type {
  Crowd,
  HeldDataStore,
  LikelyDuplicate,
  LikelyDuplicates,
} from '../../store/contract/journal/held-data.ts';
import { NAMES, recordReading } from '../persons/record-reading.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseCode } from '../terminal/options.ts';
import { proposed } from '../terminal/proposed-command.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions, type SettingOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { describeContradictions, formatContradictions } from './contradictions.ts';
import { declareCorrections } from './corrections.ts';
import { argumentOf, describeMember, refer } from './duplicates-text.ts';

interface FindOptions extends PrintOptions {
  readonly cooperative?: string;
  readonly contradictions?: true;
}

export function declareDuplicates(duplicates: Command, context: CliContext): void {
  addPrintOptions(duplicates, 'REGISTRY_USER')
    .option('--cooperative <code>', 'only pairs with a member of this cooperative', parseCode)
    .option('--contradictions', 'list persons whose memberships contradict each other instead')
    .action(acting(context, find));
  declareCorrections(duplicates, context);
}

async function find(run: Run<FindOptions>): Promise<void> {
  const { options } = run;
  if (options.contradictions === true) return findContradictory(run);
  const found = await read(run, (store, code) => store.findDuplicates(code));
  const memberIds = found.pairs.flatMap(({ from, into }) => [from.id, into.id]);
  await recordReading(run, { memberIds: [...new Set(memberIds)], fields: NAMES });
  run.show(describeDuplicates(found, options), formatDuplicates(found, options));
}

async function findContradictory(run: Run<FindOptions>): Promise<void> {
  const found = await read(run, (store, code) => store.findContradictions(code));
  const memberIds = found.persons.flatMap(({ members }) => members.map(({ id }) => id));
  await recordReading(run, { memberIds, fields: NAMES });
  run.show(describeContradictions(found, run.options), formatContradictions(found, run.options));
}

/** @throws CommandError with status 1 for a cooperative that there is not */
const read = <T>(
  { storage, options: { cooperative: code } }: Run<FindOptions>,
  find: (store: HeldDataStore, code: string | undefined) => T,
): Promise<T> =>
  withStore(storage.openHeldData(), (store) => {
    if (code !== undefined && !store.listCooperatives().some((each) => each.code === code))
      throw new CommandError(EXIT.refused, `There is no cooperative ${code}.`);
    return find(store, code);
  });

/** Shown of the pairs that were found; the rest is counted. */
const SHOWN_PAIRS = 50;

function commandOf({ from, into }: LikelyDuplicate, options: SettingOptions): string {
  const name = from.cooperativeCode === into.cooperativeCode ? 'members merge' : 'nid replace';
  return proposed(`${name} ${argumentOf(from)} ${argumentOf(into)} --reason "Registered twice"`, options);
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
  const named = [pair.from, pair.into].map((each) => `${refer(each)} ${hideIdentityCards(each.fullName)}`);
  return (
    `${String(pair.score).padStart(3)}  ${named.join(' · ')}\n     ${pair.reasons.join(', ')}\n` +
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

/** @param options of the command */
function formatDuplicates(
  { pairs, dropped, dismissed, crowds }: LikelyDuplicates,
  options: SettingOptions,
): string {
  const rest = pairs.length - SHOWN_PAIRS;
  const more = rest > 0 ? `${rest} more; --json lists all of them.\n` : '';
  return [
    pairs.length === 0 ? 'No likely duplicates were found.\n' : '',
    ...pairs.slice(0, SHOWN_PAIRS).map((pair) => formatPair(pair, options)),
    more,
    dropped > 0 ? `${counted(dropped, 'pair')} less likely than all of these.\n` : '',
    dismissed > 0 ? `${counted(dismissed, 'pair was', 'pairs were')} set aside before.\n` : '',
    ...crowds.map(formatCrowd),
  ].join('');
}
