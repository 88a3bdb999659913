/** Finds the persons whose data was read with an API key (docs/ledger.md#accesses-by-a-key). */
import type { HashPerson, LedgerEntry } from './ledger-entries.ts';
import type { LedgerReader } from './ledger-reader.ts';
import type { KnownNumber, PersonTracesStore } from './person-traces.ts';

export interface EntryFilter {
  readonly keyId?: number | undefined;
  /** Epoch seconds; `from` and `to` are inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

interface AccessedPerson {
  /** Present national ID. */
  readonly identityCard: string;
  times: number;
  /** In UTC. */
  first: string;
  last: string;
}

interface FoundEntry {
  readonly entry: LedgerEntry;
  /** Id of a month key. */
  readonly hashedWith: string;
}

/** @throws StorageError when the ledger cannot be read */
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

/** Hashes of national IDs that were made with one month key. */
interface Hashes {
  /** Undefined if the key is lost. */
  readonly hash: HashPerson | undefined;
  /** Persons who have or had the hashed national ID, by hash. */
  readonly holders: Map<string, KnownNumber[]>;
}

export type KeyAccesses = ReturnType<typeof findKeyAccesses>;

/** @throws StorageError when the ledger cannot be read */
export function findKeyAccesses(ledger: LedgerReader, filter: EntryFilter, store: PersonTracesStore) {
  const keys = new Map<string, Hashes>();
  const memberIds = new Set<number>();
  for (const { entry, hashedWith } of findEntries(ledger, filter)) {
    for (const id of entry.members ?? []) memberIds.add(id);
    const persons = hashesToResolve(entry);
    if (persons.length === 0) continue;
    const key = keys.get(hashedWith) ?? { hash: ledger.findPersonHash(hashedWith), holders: new Map() };
    keys.set(hashedWith, key);
    for (const person of persons) key.holders.set(person, []);
  }
  resolve([...keys.values()], store);
  const { exportedIds, ...counts } = count(findEntries(ledger, filter), keys, store.findNumbers(memberIds));
  const cooperatives = store.listCooperatives();
  const codeOf = (id: number) =>
    cooperatives.find((cooperative) => cooperative.id === id)?.code ?? `id ${id}`;
  return {
    ...counts,
    /** Codes of cooperatives whose persons were all exported; null if all cooperatives were exported. */
    exportedCodes: exportedIds && [...exportedIds].map(codeOf),
    unreadable: ledger.unreadable,
  };
}

/** Returns no hash for a single lookup that showed members, because the members identify the person. */
const hashesToResolve = ({ persons = [], members = [], lookups }: LedgerEntry): readonly string[] =>
  members.length === 0 || lookups === true ? persons : [];

/** Finds the persons of hashes by hashing every national ID, since hashes are irreversible. */
function resolve(keys: readonly Hashes[], store: PersonTracesStore): void {
  if (keys.every(({ hash }) => hash === undefined)) return;
  for (const holder of store.listNumbers())
    for (const { hash, holders } of keys)
      if (hash !== undefined) holders.get(hash(holder.number))?.push(holder);
}

/** @param holders all persons who have or had a national ID, in the order in which they lost the ID */
function holderAt(holders: readonly KnownNumber[], time: string): string | undefined {
  const at = Math.floor(Date.parse(time) / 1000);
  return (holders.find(({ until }) => until === null || at <= until) ?? holders.at(-1))?.current;
}

function count(
  entries: Iterable<FoundEntry>,
  keys: ReadonlyMap<string, Hashes>,
  numberOfMember: ReadonlyMap<number, string>,
) {
  const persons = new Map<string, AccessedPerson>();
  const exportedIds = new Set<number>();
  const counts = {
    /** Accesses to pages of lists. `persons` includes the persons on these pages. */
    pages: 0,
    exports: 0,
    /** Accesses to national IDs without a person, or to members that no longer exist. */
    unknown: 0,
    /** Accesses to national IDs that cannot be resolved, because the month key is lost. */
    withoutKey: 0,
  };
  let isAll = false;
  for (const { entry, hashedWith } of entries) {
    const { time, page, members = [], lookups, all } = entry;
    if (all !== undefined) {
      counts.exports++;
      isAll ||= all.cooperatives === null;
      for (const id of all.cooperatives ?? []) exportedIds.add(id);
    }
    if (page === true) counts.pages++;
    const { hash, holders } = keys.get(hashedWith) ?? {};
    const requestedHashes = hashesToResolve(entry);
    const requested = requestedHashes.map((person) => holderAt(holders?.get(person) ?? [], time));
    const identityCards = new Set([...members.map((id) => numberOfMember.get(id)), ...requested]);
    if (requestedHashes.length > 0 && hash === undefined) counts.withoutKey++;
    else if (lookups === true) counts.unknown += requested.filter((number) => number === undefined).length;
    else if (identityCards.has(undefined)) counts.unknown++;
    for (const identityCard of identityCards) {
      if (identityCard === undefined) continue;
      const person = persons.get(identityCard) ?? { identityCard, times: 0, first: time, last: time };
      persons.set(identityCard, person);
      person.times++;
      if (time < person.first) person.first = time;
      if (time > person.last) person.last = time;
    }
  }
  const byTime = [...persons.values()].sort((a, b) => (a.first < b.first ? -1 : Number(a.first > b.first)));
  return { ...counts, persons: byTime, exportedIds: isAll ? null : exportedIds };
}
