/** Whom a key has read, as the access ledger has it (docs/ledger.md#whom-has-a-key-read). */
import { type HashPerson, openPersonHash } from '../../ledger/files/identity-hash.ts';
import { chainFolderOf } from '../../ledger/files/paths.ts';
import { entriesWith, type LedgerEntry, readLedger } from '../../ledger/read/read-ledger.ts';
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
  /** Readings of numbers in segments that have lost their key: whose they were cannot be found out. */
  readonly withoutKey: number;
}

interface FoundEntry extends LedgerEntry {
  readonly segment: number;
}

/** Entries with the segment that they are in, chain by chain. @throws the system's error */
export function* findEntries(ledgerFolder: string, { keyId, from, to }: EntryFilter): Generator<FoundEntry> {
  const [begin, end] = [from, to === undefined ? undefined : to + 1].map((seconds) =>
    seconds === undefined ? undefined : new Date(seconds * 1000).toISOString(),
  );
  for (const batch of readLedger(ledgerFolder)) {
    const ofKey = keyId === undefined ? '' : `"key_id":${keyId},`;
    if (!batch.lines.includes(ofKey)) continue;
    for (const entry of entriesWith(batch, ofKey)) {
      if (keyId !== undefined && entry.key_id !== keyId) continue;
      if ((begin !== undefined && entry.time < begin) || (end !== undefined && entry.time >= end)) continue;
      yield { ...entry, segment: batch.segment };
    }
  }
}

/** In one segment: the numbers of now by the hashes that its entries have; undefined for what is unknown. */
interface Hashes {
  readonly hash: HashPerson | undefined;
  readonly numbers: Map<string, string | undefined>;
}

/** @throws the system's error when the ledger cannot be read */
export async function findKeyReadings(
  ledgerFolder: string,
  filter: EntryFilter,
  store: Pick<HeldDataStore, 'listNumbers' | 'findNumbers'>,
): Promise<KeyReadings> {
  const segments = new Map<string, Hashes>();
  const members = new Set<number>();
  for (const { chain, segment, persons = [], members: shown = [] } of findEntries(ledgerFolder, filter)) {
    for (const id of shown) members.add(id);
    if (persons.length === 0) continue;
    const place = `${chain}/${segment}`;
    const hash = () => openPersonHash(chainFolderOf(ledgerFolder, chain), segment);
    const known = segments.get(place) ?? { hash: hash(), numbers: new Map() };
    segments.set(place, known);
    for (const person of persons) known.numbers.set(person, undefined);
  }
  resolve([...segments.values()], store);
  return count(findEntries(ledgerFolder, filter), segments, await store.findNumbers(members));
}

/** Hashes every number that the registry knows: the ledger itself leads to nobody. */
function resolve(segments: readonly Hashes[], store: Pick<HeldDataStore, 'listNumbers'>): void {
  let missing = segments.reduce((sum, { hash, numbers }) => sum + (hash === undefined ? 0 : numbers.size), 0);
  if (missing === 0) return;
  for (const { number, current } of store.listNumbers()) {
    for (const { hash, numbers } of segments) {
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
  segments: ReadonlyMap<string, Hashes>,
  ofMembers: ReadonlyMap<number, string>,
): KeyReadings {
  const persons = new Map<string, { identityCard: string; times: number; first: string; last: string }>();
  const exported = new Set<number>();
  const counts = { pages: 0, exports: 0, unknown: 0, withoutKey: 0 };
  let isAll = false;
  for (const { chain, segment, time, page, persons: hashes = [], members = [], all } of entries) {
    const { hash, numbers } = segments.get(`${chain}/${segment}`) ?? {};
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
