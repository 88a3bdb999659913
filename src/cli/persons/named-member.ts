/**
 * The member that an operator names: by its id, by its cooperative with its member code or national ID, or by
 * a national ID alone (docs/correcting.md#naming-a-member).
 */
import { parseMemberName } from '../../app/member-names.ts';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import { type Message, say } from '../../domain/values/message.ts';
import type {
  FoundMember,
  HeldDataStore,
  HeldRow,
  MemberName,
} from '../../store/contract/journal/held-data.ts';
import { CommandError, EXIT, tell, translate } from '../terminal/context.ts';
import type { Run } from '../terminal/run.ts';
import { withStore } from '../terminal/with-store.ts';
import { NAMES, recordReading } from './record-reading.ts';

/** For `--help`, after what the argument is. */
export const MEMBER_HELP = 'an id, CODE/MEMBERCODE, CODE/NID, or a NID of one membership only';

/** Members shown of those that a name may mean; the rest is counted. */
const SHOWN_MEMBERS = 10;

// Not parsers of commander's: it repeats a wrong value, which may be a mistyped national ID.

/** @throws CommandError with status 2 for what cannot name a member */
function readName(text: string): MemberName {
  const name = parseMemberName(text);
  if (name === undefined) throw new CommandError(EXIT.usage, `Expected a member: ${MEMBER_HELP}.`);
  return name;
}

/** What names the member and nobody else. */
const refer = ({ cooperativeCode, memberCode }: FoundMember): string =>
  `${cooperativeCode}/${hideIdentityCards(memberCode)}`;

/**
 * Runs work with what the registry holds, and the id of the member that is meant.
 * @throws CommandError with status 1 when nobody has this name, or several have and nobody has chosen one
 */
export async function withMember<T>(
  run: Run,
  text: string,
  work: (store: HeldDataStore, id: number) => Awaitable<T>,
): Promise<T> {
  const name = readName(text);
  return withStore(run.storage.openHeldData(), async (store) => {
    const found = store.findMembers(name);
    const [first] = found;
    // Whoever asks for an id that nobody has says why: the member may have been merged.
    if (first === undefined && name.id !== undefined) return work(store, name.id);
    if (first === undefined) {
      const { identityCard } = name;
      // That nobody has the number is an answer about whoever it belongs to.
      if (identityCard !== undefined)
        await recordReading(run, { identityCards: [identityCard], fields: NAMES });
      throw new CommandError(EXIT.refused, nobody(name));
    }
    const isMeant = found.length === 1 && (name.id === undefined || name.id === first.id);
    return work(store, isMeant ? first.id : (await choose(run, found, name)).id);
  });
}

/** The id of the member that is meant. @throws as `withMember` */
export const findMemberId = (run: Run, text: string): Promise<number> => withMember(run, text, (_, id) => id);

/** The texts that name a member and nobody else. */
export function namesOf(
  store: HeldDataStore,
  { id, cooperative, member_code: code, identity_card: number }: HeldRow,
): string[] {
  const names: string[] = [];
  for (const name of [`${id}`, `${cooperative}/${code}`, `${cooperative}/${number}`, `${number}`])
    if (store.findMembers(readName(name)).length === 1) names.push(name);
  return [...new Set(names)];
}

const nobody = ({ cooperativeCode: code }: MemberName): Message =>
  code === undefined
    ? say('Nobody has this national ID.')
    : say('There is no member with this code or national ID in {code}.', { code: hideIdentityCards(code) });

async function choose(run: Run, found: readonly FoundMember[], { id }: MemberName): Promise<FoundMember> {
  const isNobodys = id !== undefined && !found.some((each) => each.id === id);
  const shown = found.slice(0, SHOWN_MEMBERS);
  await recordReading(run, { memberIds: shown.map((each) => each.id), fields: NAMES });
  tell(
    run,
    isNobodys ? 'No member has this id. These have the member code:' : 'Several members may be meant:',
  );
  shown.forEach((each, i) => {
    tell(run, `  ${i + 1}. ${refer(each)}, ${hideIdentityCards(each.fullName)} (id ${each.id})`);
  });
  const rest = found.length - shown.length;
  if (rest > 0) tell(run, say('  {rest} more', { rest }));
  const question = translate(run, say('Which one? [1-{last}]', { last: shown.length }));
  const answer = await run.ask?.(`${question} `, new AbortController().signal);
  const chosen = shown[Number(answer?.trim()) - 1];
  if (chosen !== undefined) return chosen;
  throw new CommandError(
    EXIT.refused,
    say('No member was chosen. Name the one that is meant: {member}, for example.', {
      member: refer(found[0] as FoundMember),
    }),
  );
}
