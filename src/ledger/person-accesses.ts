/** Finds the accesses to a person's data in the access ledger (docs/ledger.md#accesses-to-a-person). */

import type { KeyNames } from '../keys/key-text.ts';
import { type CliContext, tell } from '../terminal/context.ts';
import { formatTable } from '../terminal/output.ts';
import { formatDateTime, type TimeZone } from '../values/date-time.ts';
import { asMessage, type Message, say, type Text } from '../values/message.ts';
import type { UnreadableFile } from './ledger-chains.ts';
import type { LedgerEntry } from './ledger-entries.ts';
import type { LedgerReader } from './ledger-reader.ts';
import type { PersonTraces } from './person-traces.ts';

/**
 * `number`: the person's national ID was requested or shown. `member`: one of the person's members was shown.
 * `everybody`: all persons of a cooperative were shown, possibly including this person.
 */
type HowRead = 'number' | 'member' | 'everybody';

export const HOW_READ: { readonly [how in HowRead]: Message } = {
  number: say('the person'),
  member: say('a member'),
  everybody: say('everybody'),
};

export function formatReader(
  { key_id: id, user = '' }: LedgerEntry,
  keyNames: ReadonlyMap<number, string>,
): Message {
  if (id === undefined) return asMessage(user);
  const name = keyNames.get(id);
  return name === undefined ? say('key {id}', { id }) : say('key {id} ({name})', { id, name });
}

export interface PersonAccess {
  readonly entry: LedgerEntry;
  readonly how: HowRead;
}

/** Selects the accesses to all persons of a cooperative, which may have shown the person. */
export const ofEverybody = (accesses: readonly PersonAccess[]): PersonAccess[] =>
  accesses.filter(({ how }) => how === 'everybody');

export const ofPerson = (accesses: readonly PersonAccess[]): PersonAccess[] =>
  accesses.filter(({ how }) => how !== 'everybody');

export const KEY_LOST = say(
  'A key of the ledger is lost: lookups that were recorded with it cannot be assigned to a person.',
);

export const passedOver = (name: string, reason: string): Message =>
  say('{name} of the access ledger cannot be read, and was passed over: {reason}', { name, reason });

/** Matches lines with one of the members. Parsing all entries would take three times as long. */
const naming = (memberIds: readonly number[]): RegExp =>
  new RegExp(`"members":\\[(?:[0-9]+,)*(?:${memberIds.join('|')})[,\\]]`);

/** @throws StorageError when the ledger cannot be read */
export function findPersonAccesses(ledger: LedgerReader, traces: PersonTraces) {
  const accesses: PersonAccess[] = [];
  const namesMember = naming(traces.memberIds);
  const hashesOf = new Map<string, readonly string[] | undefined>();
  for (const batch of ledger.batches()) {
    const { keyId, lines } = batch;
    if (!hashesOf.has(keyId)) {
      const hashPerson = ledger.findPersonHash(keyId);
      hashesOf.set(keyId, hashPerson && traces.identityCards.map(hashPerson));
    }
    const hashes = hashesOf.get(keyId) ?? [];
    if (![...hashes, '"all":'].some((text) => lines.includes(text)) && !namesMember.test(lines)) continue;
    for (const entry of ledger.entriesOf(batch)) {
      const how = howRead(entry, traces, hashes);
      if (how !== undefined) accesses.push({ entry, how });
    }
  }
  accesses.sort((a, b) => (a.entry.time < b.entry.time ? -1 : Number(a.entry.time > b.entry.time)));
  return {
    accesses,
    /** True if the key of a month is lost. The accesses of that month cannot be found by national ID. */
    isKeyLost: [...hashesOf.values()].includes(undefined),
    unreadable: ledger.unreadable,
  };
}

/** @param hashes hashes of `traces.identityCards`, in the same order */
function howRead(entry: LedgerEntry, traces: PersonTraces, hashes: readonly string[]): HowRead | undefined {
  const isMember = entry.members?.some((id) => traces.memberIds.includes(id)) === true;
  const numbers = traces.identityCards.filter((_, i) => entry.persons?.includes(hashes[i] as string));
  if (numbers.some((number) => isMember || !isOfAnother(entry, number, traces))) return 'number';
  if (isMember) return 'member';
  return entry.all !== undefined && couldShow(entry, entry.all, traces) ? 'everybody' : undefined;
}

/**
 * True if the number belonged to another person at the time of the entry, or if the entry shows a member of
 * that person. Members in a batch of lookups do not count, since they may belong to other national IDs.
 */
function isOfAnother(
  { members, lookups, time }: LedgerEntry,
  number: string,
  { otherHolders }: PersonTraces,
): boolean {
  const at = Math.floor(Date.parse(time) / 1000);
  return otherHolders.some(
    ({ identityCard, memberId, since, until }) =>
      identityCard === number &&
      ((lookups !== true && members?.includes(memberId) === true) ||
        (since <= at && (until === null || at <= until))),
  );
}

/** True for all accesses up to an erasure: the registry no longer knows an erased person's memberships. */
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

// Output of accesses: text for people, JSON for programs

export function tellUnreadable(context: CliContext, files: readonly UnreadableFile[]): void {
  for (const { name, reason } of files) tell(context, passedOver(name, reason));
}

interface AccessContext {
  readonly zone: TimeZone;
  readonly keyNames: KeyNames;
}

/** @param time in UTC */
export const shownTime = (time: string, zone: TimeZone): string =>
  formatDateTime(Math.floor(Date.parse(time) / 1000), zone);

export const describeEntry = (entry: LedgerEntry, { zone, keyNames }: AccessContext) => ({
  sequence: entry.sequence,
  chain: entry.chain,
  origin: entry.origin,
  time: shownTime(entry.time, zone),
  request_id: entry.request_id,
  key_id: entry.key_id ?? null,
  key_name: entry.key_id === undefined ? null : (keyNames.get(entry.key_id) ?? null),
  user: entry.user ?? null,
  route: entry.route,
  fields: entry.fields,
  status: entry.status,
  address: entry.address ?? null,
  purpose: entry.purpose ?? null,
  end_user: entry.end_user ?? null,
  receipt: entry.receipt,
});

export const describeAccess = ({ entry, how }: PersonAccess, context: AccessContext) => ({
  ...describeEntry(entry, context),
  read_as: how,
});

export const formatEverybody = (n: number): Message =>
  say(
    '{n|One access covered|# accesses covered} all persons of a cooperative of the person. An export ' +
      'contained the person; another access may have.',
    { n },
  );

export function formatAccesses(
  accesses: readonly { readonly entry: LedgerEntry; readonly how?: HowRead }[],
  { zone, keyNames }: AccessContext,
  translate: (text: Text) => string,
): string {
  const headings = ['AT', 'BY', 'REQUEST', 'READ AS', 'FIELDS', 'STATUS', 'ADDRESS', 'PURPOSE', 'RECEIPT'];
  const rows = accesses.map(({ entry, how }) => [
    shownTime(entry.time, zone),
    translate(formatReader(entry, keyNames)),
    entry.route,
    how === undefined ? '' : translate(HOW_READ[how]),
    entry.fields.join(', '),
    String(entry.status),
    entry.address ?? '',
    [entry.purpose, entry.end_user].filter((text) => text !== undefined).join('; '),
    entry.receipt,
  ]);
  return formatTable(headings.map(translate), rows);
}
