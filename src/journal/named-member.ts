/** Finds the member that an operator names (docs/correcting.md#naming-a-member). */

import { openStoredData, type StoredDataStore } from '../registry/stored/stored-data.ts';
import type { FoundMember, MemberName, StoredRow } from '../registry/stored/stored-data-types.ts';
import { CommandError, EXIT, tell, translate } from '../terminal/context.ts';
import { NAMES, recordAccess } from '../terminal/record-reading.ts';
import { type Run, withStore } from '../terminal/run.ts';
import { type Awaitable, FieldError, parseId } from '../values/errors.ts';
import { hideIdentityCards, isIdentityCard } from '../values/identity-card.ts';
import { type Message, say } from '../values/message.ts';
import { MAX_LENGTH, parseText } from '../values/text.ts';

/** @returns undefined for text that cannot name a member */
export function parseMemberName(text: string): MemberName | undefined {
  const slash = text.indexOf('/');
  const rest = parseText(text.slice(slash + 1), MAX_LENGTH.memberCode);
  if (rest instanceof FieldError) return undefined;
  const number = isIdentityCard(rest) ? { identityCard: rest } : {};
  if (slash >= 0)
    return { ...number, memberCode: rest, cooperativeCode: text.slice(0, slash).trim().toUpperCase() };
  const id = parseId(rest);
  if (id !== undefined) return { id, memberCode: rest };
  return isIdentityCard(rest) ? number : undefined;
}

/** Text for `--help`, after the description of the argument. */
export const MEMBER_HELP = 'an id, CODE/MEMBERCODE, CODE/NID, or a NID of one membership only';

const SHOWN_MEMBERS = 10;

/**
 * Reads a name. This is not an argument parser of commander, because error messages of commander repeat a
 * wrong value, which may be a mistyped national ID.
 * @throws CommandError with status 2 for text that cannot name a member
 */
function readName(text: string): MemberName {
  const name = parseMemberName(text);
  if (name === undefined) throw new CommandError(EXIT.usage, `Expected a member: ${MEMBER_HELP}.`);
  return name;
}

/** Returns a name that identifies the member: `CODE/MEMBERCODE`. */
export const refer = ({ cooperativeCode, memberCode }: FoundMember): string =>
  `${cooperativeCode}/${hideIdentityCards(memberCode)}`;

/**
 * If the name is ambiguous, the operator chooses the member.
 * @throws CommandError with status 1 if no member has this name, or the operator chose none
 */
export async function withMember<T>(
  run: Run,
  text: string,
  work: (store: StoredDataStore, id: number) => Awaitable<T>,
): Promise<T> {
  const name = readName(text);
  return withStore(openStoredData(run.storage), async (store) => {
    const candidates = store.findMembers(name);
    const [first] = candidates;
    // `work` handles an unknown id, because the member may have been merged.
    if (first === undefined && name.id !== undefined) return work(store, name.id);
    if (first === undefined) {
      const { identityCard } = name;
      // The answer that no person has this number reveals something too, so the access is recorded.
      if (identityCard !== undefined)
        await recordAccess(run, { identityCards: [identityCard], fields: NAMES });
      throw new CommandError(EXIT.refused, nobody(name));
    }
    const isMeant = candidates.length === 1 && (name.id === undefined || name.id === first.id);
    return work(store, isMeant ? first.id : (await choose(run, candidates, name)).id);
  });
}

/** @throws CommandError, like `withMember` */
export const findMemberId = (run: Run, text: string): Promise<number> => withMember(run, text, (_, id) => id);

/** Returns all texts that name this member and no other member. */
export function namesOf(
  store: StoredDataStore,
  { id, cooperative, member_code: code, identity_card: number }: StoredRow,
): string[] {
  const names: string[] = [];
  for (const name of [`${id}`, `${cooperative}/${code}`, `${cooperative}/${number}`, `${number}`])
    if (store.findMembers(readName(name)).length === 1) names.push(name);
  return [...new Set(names)];
}

const nobody = ({ cooperativeCode: code }: MemberName): Message =>
  code === undefined
    ? say('No person has this national ID.')
    : say('There is no member with this code or national ID in {code}.', { code: hideIdentityCards(code) });

async function choose(
  run: Run,
  candidates: readonly FoundMember[],
  { id }: MemberName,
): Promise<FoundMember> {
  const isNobodys = id !== undefined && !candidates.some((member) => member.id === id);
  const listed = candidates.slice(0, SHOWN_MEMBERS);
  await recordAccess(run, { memberIds: listed.map((member) => member.id), fields: NAMES });
  tell(
    run,
    isNobodys
      ? say(
          'No member has this id. These have the member code; write the cooperative too, such as {member}:',
          { member: refer(candidates[0] as FoundMember) },
        )
      : 'Several members may be meant:',
  );
  for (const [i, member] of listed.entries())
    tell(run, `  ${i + 1}. ${refer(member)}, ${hideIdentityCards(member.fullName)} (id ${member.id})`);
  const rest = candidates.length - listed.length;
  if (rest > 0) tell(run, say('  {rest} more', { rest }));
  const question = translate(run, say('Which one? [1-{last}]', { last: listed.length }));
  const answer = await run.ask?.(`${question} `, new AbortController().signal);
  const chosen = listed[Number(answer?.trim()) - 1];
  if (chosen !== undefined) return chosen;
  throw new CommandError(
    EXIT.refused,
    say('No member was chosen. Name one, for example {member}.', {
      member: refer(candidates[0] as FoundMember),
    }),
  );
}
