/** Whom a key has read, as the access ledger has it (docs/ledger.md#whom-has-a-key-read). */
import type {
  HashPerson,
  LedgerEntry,
  LedgerReader,
  UnreadableFile,
} from '../../store/contract/access-ledger.ts';
import type { HeldDataStore, KnownNumber } from '../../store/contract/journal/held-data.ts';

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
  /** Files that readings may be missing from. */
  readonly unreadable: readonly UnreadableFile[];
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

/** Of one key: who had the numbers, by the hashes that entries have. */
interface Hashes {
  readonly hash: HashPerson | undefined;
  readonly holders: Map<string, KnownNumber[]>;
}

/** @throws StorageError when the ledger cannot be read */
export function findKeyReadings(
  ledger: LedgerReader,
  filter: EntryFilter,
  store: Pick<HeldDataStore, 'listNumbers' | 'findNumbers'>,
): KeyReadings {
  const keys = new Map<string, Hashes>();
  const members = new Set<number>();
  for (const { entry, hashedWith } of findEntries(ledger, filter)) {
    const { persons = [], members: shown = [] } = entry;
    for (const id of shown) members.add(id);
    // The members that were shown say whose the number was.
    if (persons.length === 0 || shown.length > 0) continue;
    const known = keys.get(hashedWith) ?? { hash: ledger.findPersonHash(hashedWith), holders: new Map() };
    keys.set(hashedWith, known);
    for (const person of persons) known.holders.set(person, []);
  }
  resolve([...keys.values()], store);
  const counted = count(findEntries(ledger, filter), keys, store.findNumbers(members));
  return { ...counted, unreadable: ledger.unreadable };
}

/** Hashes every number that the registry knows: the ledger itself leads to nobody. */
function resolve(keys: readonly Hashes[], store: Pick<HeldDataStore, 'listNumbers'>): void {
  if (keys.every(({ hash }) => hash === undefined)) return;
  for (const known of store.listNumbers())
    for (const { hash, holders } of keys)
      if (hash !== undefined) holders.get(hash(known.number))?.push(known);
}

/** Whoever was the next to stop having the number, or has it now; then whoever had it last. */
function holderAt(holders: readonly KnownNumber[], time: string): string | undefined {
  const at = Math.floor(Date.parse(time) / 1000);
  return (holders.find(({ until }) => until === null || at <= until) ?? holders.at(-1))?.current;
}

function count(
  entries: Iterable<FoundEntry>,
  keys: ReadonlyMap<string, Hashes>,
  ofMembers: ReadonlyMap<number, string>,
): Omit<KeyReadings, 'unreadable'> {
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
