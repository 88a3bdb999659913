/** Whom a key has read, as the access ledger has it (docs/ledger.md#whom-has-a-key-read). */
import type { HashPerson, LedgerEntry, LedgerReader } from '../../store/ports/access-ledger.ts';
import type { HeldDataStore } from '../../store/ports/journal/held-data.ts';

/** Which entries are meant; those of all times and keys when nothing is given. */
export interface EntryFilter {
  readonly keyId?: number | undefined;
  /** Epoch seconds, both included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface ReadPerson {
  /** The number of now. */
  readonly identityCard: string;
  /** In how many readings. */
  readonly times: number;
  /** In UTC. */
  readonly first: string;
  readonly last: string;
}

export interface KeyReadings {
  /** In the order in which they were first read. */
  readonly persons: readonly ReadPerson[];
  /** Readings of pages of lists, whose persons are among these. */
  readonly pages: number;
  readonly exports: number;
  /** Ids of the cooperatives of which exports have shown everybody; null: of all. */
  readonly exported: ReadonlySet<number> | null;
  /** Readings of numbers that nobody has, or of members who are not there any more. */
  readonly unknown: number;
  /** Readings of numbers whose key is lost: whose they were cannot be found out. */
  readonly withoutKey: number;
}

/** An entry, and the id of the key that has hashed its national IDs. */
interface FoundEntry {
  readonly entry: LedgerEntry;
  readonly hashedWith: string;
}

/** Entries chain by chain. @throws StorageError where the ledger cannot be read */
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

/** Of one key: the numbers of now by the hashes that entries have; undefined for what is unknown. */
interface Hashes {
  readonly hash: HashPerson | undefined;
  readonly numbers: Map<string, string | undefined>;
}

/** @throws StorageError when the ledger cannot be read */
export async function findKeyReadings(
  ledger: LedgerReader,
  filter: EntryFilter,
  store: Pick<HeldDataStore, 'listNumbers' | 'findNumbers'>,
): Promise<KeyReadings> {
  const keys = new Map<string, Hashes>();
  const members = new Set<number>();
  for (const { entry, hashedWith } of findEntries(ledger, filter)) {
    const { persons = [], members: shown = [] } = entry;
    for (const id of shown) members.add(id);
    if (persons.length === 0) continue;
    const known = keys.get(hashedWith) ?? { hash: ledger.findPersonHash(hashedWith), numbers: new Map() };
    keys.set(hashedWith, known);
    for (const person of persons) known.numbers.set(person, undefined);
  }
  resolve([...keys.values()], store);
  return count(findEntries(ledger, filter), keys, await store.findNumbers(members));
}

/** Hashes every number that the registry knows: the ledger itself leads to nobody. */
function resolve(keys: readonly Hashes[], store: Pick<HeldDataStore, 'listNumbers'>): void {
  let missing = keys.reduce((sum, { hash, numbers }) => sum + (hash === undefined ? 0 : numbers.size), 0);
  if (missing === 0) return;
  for (const { number, current } of store.listNumbers()) {
    for (const { hash, numbers } of keys) {
      const hashed = hash?.(number);
      // The numbers of now come first: a former one of somebody else does not replace them.
      if (hashed === undefined || !numbers.has(hashed) || numbers.get(hashed) !== undefined) continue;
      numbers.set(hashed, current);
      missing--;
    }
    if (missing === 0) return;
  }
}

function count(
  entries: Iterable<FoundEntry>,
  keys: ReadonlyMap<string, Hashes>,
  ofMembers: ReadonlyMap<number, string>,
): KeyReadings {
  const persons = new Map<string, { identityCard: string; times: number; first: string; last: string }>();
  const exported = new Set<number>();
  const counts = { pages: 0, exports: 0, unknown: 0, withoutKey: 0 };
  let isAll = false;
  for (const { entry, hashedWith } of entries) {
    const { time, page, persons: hashes = [], members = [], all } = entry;
    const { hash, numbers } = keys.get(hashedWith) ?? {};
    if (all !== undefined) {
      counts.exports++;
      isAll ||= all.cooperatives === null;
      for (const id of all.cooperatives ?? []) exported.add(id);
    }
    if (page === true) counts.pages++;
    if (hashes.length > 0 && hash === undefined) counts.withoutKey++;
    const found = [...hashes.map((each) => numbers?.get(each)), ...members.map((id) => ofMembers.get(id))];
    if (found.includes(undefined) && !(hashes.length > 0 && hash === undefined)) counts.unknown++;
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
