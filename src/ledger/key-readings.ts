/** Finds the persons whose data a key has read (docs/ledger.md#whom-has-a-key-read). */

import type { StoredDataStore } from '../registry/stored/stored-data.ts';
import type { KnownNumber } from '../registry/stored/stored-data-types.ts';
import type { UnreadableFile } from './ledger-chains.ts';
import type { LedgerReader } from './ledger-reader.ts';
import type { HashPerson, LedgerEntry } from './reading-text.ts';

/** Selection of entries; an empty filter selects all. */
export interface EntryFilter {
  readonly keyId?: number | undefined;
  /** Epoch seconds, both ends included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

interface ReadPerson {
  /** The person's current number. */
  readonly identityCard: string;
  /** Number of readings that included the person. */
  readonly times: number;
  /** In UTC. */
  readonly first: string;
  readonly last: string;
}

export interface KeyAccesses {
  /** In order of first reading. */
  readonly persons: readonly ReadPerson[];
  /** Readings of list pages; the persons on them are included in `persons`. */
  readonly pages: number;
  readonly exports: number;
  /** Ids of the cooperatives that were exported in full; null: all cooperatives. */
  readonly exported: ReadonlySet<number> | null;
  /** Readings of numbers that no person has, or of members that no longer exist. */
  readonly unknown: number;
  /** Readings whose month key is lost, so that their hashed numbers cannot be resolved. */
  readonly withoutKey: number;
  /** Files that could not be read: readings in them are not counted. */
  readonly unreadable: readonly UnreadableFile[];
}

/** An entry with the id of the month key that hashed its national IDs. */
interface FoundEntry {
  readonly entry: LedgerEntry;
  readonly hashedWith: string;
}

/** Yields matching entries, chain by chain. @throws StorageError when the ledger cannot be read */
export function* findEntries(ledger: LedgerReader, { keyId, from, to }: EntryFilter): Generator<FoundEntry> {
  const [begin, end] = [from, to === undefined ? undefined : to + 1].map((seconds) =>
    seconds === undefined ? undefined : new Date(seconds * 1000).toISOString(),
  );
  for (const batch of ledger.batches()) {
    const ofKey = keyId === undefined ? '' : `"key_id":${keyId},`;
    if (!batch.lines.includes(ofKey)) continue;
    for (const entry of ledger.entriesOf(batch, ofKey)) {
      if (keyId !== undefined && entry.key_id !== keyId) continue;
      if ((begin !== undefined && entry.time < begin) || (end !== undefined && entry.time >= end)) continue;
      yield { entry, hashedWith: batch.keyId };
    }
  }
}

/** The hash function of one month key, and the holders found for each hash in the entries. */
interface Hashes {
  readonly hash: HashPerson | undefined;
  readonly holders: Map<string, KnownNumber[]>;
}

/** @throws StorageError when the ledger cannot be read */
export function findKeyAccesses(
  ledger: LedgerReader,
  filter: EntryFilter,
  store: Pick<StoredDataStore, 'listNumbers' | 'findNumbers'>,
): KeyAccesses {
  const keys = new Map<string, Hashes>();
  const members = new Set<number>();
  for (const { entry, hashedWith } of findEntries(ledger, filter)) {
    const { persons = [], members: shown = [] } = entry;
    for (const id of shown) members.add(id);
    // Shown members already identify the person.
    if (persons.length === 0 || shown.length > 0) continue;
    const known = keys.get(hashedWith) ?? { hash: ledger.findPersonHash(hashedWith), holders: new Map() };
    keys.set(hashedWith, known);
    for (const person of persons) known.holders.set(person, []);
  }
  resolve([...keys.values()], store);
  const counted = count(findEntries(ledger, filter), keys, store.findNumbers(members));
  return { ...counted, unreadable: ledger.unreadable };
}

/** Hashes every number that the registry knows, because the ledger's hashes cannot be reversed. */
function resolve(keys: readonly Hashes[], store: Pick<StoredDataStore, 'listNumbers'>): void {
  if (keys.every(({ hash }) => hash === undefined)) return;
  for (const known of store.listNumbers())
    for (const { hash, holders } of keys)
      if (hash !== undefined) holders.get(hash(known.number))?.push(known);
}

/**
 * Returns the current number of the holder at that time: the first one whose possession ended at or after it
 * or has not ended, otherwise the last holder.
 */
function holderAt(holders: readonly KnownNumber[], time: string): string | undefined {
  const at = Math.floor(Date.parse(time) / 1000);
  return (holders.find(({ until }) => until === null || at <= until) ?? holders.at(-1))?.current;
}

function count(
  entries: Iterable<FoundEntry>,
  keys: ReadonlyMap<string, Hashes>,
  ofMembers: ReadonlyMap<number, string>,
): Omit<KeyAccesses, 'unreadable'> {
  const persons = new Map<string, { identityCard: string; times: number; first: string; last: string }>();
  const exported = new Set<number>();
  const counts = { pages: 0, exports: 0, unknown: 0, withoutKey: 0 };
  let isAll = false;
  for (const { entry, hashedWith } of entries) {
    const { time, page, persons: hashes = [], members = [], all } = entry;
    if (all !== undefined) {
      counts.exports++;
      isAll ||= all.cooperatives === null;
      for (const id of all.cooperatives ?? []) exported.add(id);
    }
    if (page === true) counts.pages++;
    const { hash, holders } = keys.get(hashedWith) ?? {};
    const asked = members.length === 0 ? hashes : [];
    const found = [
      ...members.map((id) => ofMembers.get(id)),
      ...asked.map((each) => holderAt(holders?.get(each) ?? [], time)),
    ];
    if (asked.length > 0 && hash === undefined) counts.withoutKey++;
    else if (found.includes(undefined)) counts.unknown++;
    for (const identityCard of new Set(found)) {
      if (identityCard === undefined) continue;
      const before = persons.get(identityCard);
      if (before === undefined)
        persons.set(identityCard, { identityCard, times: 1, first: time, last: time });
      else {
        before.times++;
        if (time < before.first) before.first = time;
        if (time > before.last) before.last = time;
      }
    }
  }
  const ordered = [...persons.values()].sort((a, b) => (a.first < b.first ? -1 : Number(a.first > b.first)));
  return { ...counts, persons: ordered, exported: isAll ? null : exported };
}
