/** Who has read the data of a person, as the access ledger has it (docs/ledger.md#who-has-read-a-person). */
import { asMessage, type Message, say } from '../../domain/values/message.ts';
import type { LedgerEntry, LedgerReader, UnreadableFile } from '../../store/contract/access-ledger.ts';
import type { PersonTraces } from '../../store/contract/journal/held-data.ts';

/**
 * Why it counts: the number was asked for or shown, a member who is the person was shown, or everybody was of
 * a cooperative where the person was at that time.
 */
export type HowRead = 'number' | 'member' | 'everybody';

/** In words. */
export const HOW_READ: { readonly [how in HowRead]: Message } = {
  number: say('the person'),
  member: say('a member'),
  everybody: say('everybody'),
};

/** Who has read. @param keyNames names of keys by their ids */
export function formatReader(
  { key_id: id, user = '' }: LedgerEntry,
  keyNames: ReadonlyMap<number, string>,
): Message {
  if (id === undefined) return asMessage(user);
  const name = keyNames.get(id);
  return name === undefined ? say('key {id}', { id }) : say('key {id} ({name})', { id, name });
}

export interface PersonReading {
  readonly entry: LedgerEntry;
  readonly how: HowRead;
}

export interface PersonReadings {
  /** The oldest first. */
  readonly readings: readonly PersonReading[];
  /** Whether a key is lost: in the entries that it has hashed no number is found any more. */
  readonly isKeyLost: boolean;
  /** Files that readings may be missing from. */
  readonly unreadable: readonly UnreadableFile[];
}

/** Of everybody: what could have shown the person, while the others did. */
export const ofEverybody = (readings: readonly PersonReading[]): PersonReading[] =>
  readings.filter(({ how }) => how === 'everybody');

/** Those that showed the person. */
export const ofPerson = (readings: readonly PersonReading[]): PersonReading[] =>
  readings.filter(({ how }) => how !== 'everybody');

/** The sentence that names a file of the ledger that readings may be missing from. */
export const passedOver = (name: string, reason: string): Message =>
  say('{name} of the access ledger cannot be read, and was passed over: {reason}', { name, reason });

/** Finds one of these members in lines of entries: to parse them all takes three times as long. */
const naming = (memberIds: readonly number[]): RegExp =>
  new RegExp(`"members":\\[(?:[0-9]+,)*(?:${memberIds.join('|')})[,\\]]`);

/** @throws StorageError when the ledger cannot be read */
export function findPersonReadings(ledger: LedgerReader, traces: PersonTraces): PersonReadings {
  const readings: PersonReading[] = [];
  const members = new Set(traces.memberIds);
  const named = naming(traces.memberIds);
  const hashesOf = new Map<string, readonly string[] | undefined>();
  for (const batch of ledger.batches()) {
    const { keyId, lines } = batch;
    if (!hashesOf.has(keyId)) {
      const hashPerson = ledger.findPersonHash(keyId);
      hashesOf.set(keyId, hashPerson && traces.identityCards.map(hashPerson));
    }
    const hashes = hashesOf.get(keyId) ?? [];
    if (![...hashes, '"all":'].some((text) => lines.includes(text)) && !named.test(lines)) continue;
    for (const entry of ledger.entriesOf(batch)) {
      const how = howRead(entry, { traces, hashes, members });
      if (how !== undefined) readings.push({ entry, how });
    }
  }
  readings.sort((a, b) => (a.entry.time < b.entry.time ? -1 : Number(a.entry.time > b.entry.time)));
  const isKeyLost = [...hashesOf.values()].includes(undefined);
  return { readings, isKeyLost, unreadable: ledger.unreadable };
}

interface Sought {
  readonly traces: PersonTraces;
  readonly hashes: readonly string[];
  readonly members: ReadonlySet<number>;
}

function howRead(entry: LedgerEntry, { traces, hashes, members }: Sought): HowRead | undefined {
  const isMember = entry.members?.some((id) => members.has(id)) === true;
  const asked = traces.identityCards.filter((_, i) => entry.persons?.includes(hashes[i] as string));
  if (asked.some((number) => isMember || !isOfAnother(entry, number, traces))) return 'number';
  if (isMember) return 'member';
  return entry.all !== undefined && couldShow(entry, entry.all, traces) ? 'everybody' : undefined;
}

/** The members that were shown say whose the number was; where there are none, the time does. */
function isOfAnother(
  { members, time }: LedgerEntry,
  number: string,
  { otherHolders }: PersonTraces,
): boolean {
  const at = Math.floor(Date.parse(time) / 1000);
  return otherHolders.some(
    ({ identityCard, memberId, since, until }) =>
      identityCard === number &&
      (members?.includes(memberId) === true || (since <= at && (until === null || at <= until))),
  );
}

/** Of an erased person nobody knows any more where it was a member: all that was before counts. */
function couldShow(
  { time }: LedgerEntry,
  { cooperatives }: NonNullable<LedgerEntry['all']>,
  { since, erasedAt, cooperativeIds }: PersonTraces,
): boolean {
  const at = Math.floor(Date.parse(time) / 1000);
  if (erasedAt !== undefined && at <= erasedAt) return true;
  if (since === undefined || at < since) return false;
  return cooperatives === null || cooperatives.some((id) => cooperativeIds.includes(id));
}
