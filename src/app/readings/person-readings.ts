/** Who has read the data of a person, as the access ledger has it (docs/ledger.md#who-has-read-a-person). */
import { openPersonHash } from '../../ledger/files/identity-hash.ts';
import { chainFolderOf } from '../../ledger/files/paths.ts';
import { entriesOf, type LedgerBatch, type LedgerEntry, readLedger } from '../../ledger/read/read-ledger.ts';
import type { PersonTraces } from '../../store/ports/journal/held-data.ts';

/**
 * Why it counts: the number was asked for or shown, a member who is the person was shown, or everybody was of
 * a cooperative where the person was at that time.
 */
export type HowRead = 'number' | 'member' | 'everybody';

export interface PersonReading {
  readonly entry: LedgerEntry;
  readonly how: HowRead;
}

export interface PersonReadings {
  /** The oldest first. */
  readonly readings: readonly PersonReading[];
  /** Segments without their key: in them no number is found any more. */
  readonly segmentsWithoutKey: number;
}

/** Of everybody: what could have shown the person, while the others did. */
export const ofEverybody = (readings: readonly PersonReading[]): PersonReading[] =>
  readings.filter(({ how }) => how === 'everybody');

/** Those that showed the person. */
export const ofPerson = (readings: readonly PersonReading[]): PersonReading[] =>
  readings.filter(({ how }) => how !== 'everybody');

/** Finds one of these members in lines of entries: to parse them all takes three times as long. */
const naming = (memberIds: readonly number[]): RegExp =>
  new RegExp(`"members":\\[(?:[0-9]+,)*(?:${memberIds.join('|')})[,\\]]`);

/** @throws the system's error when the ledger cannot be read */
export function findPersonReadings(ledgerFolder: string, traces: PersonTraces): PersonReadings {
  const readings: PersonReading[] = [];
  const members = new Set(traces.memberIds);
  const named = naming(traces.memberIds);
  let segmentsWithoutKey = 0;
  let segment: { readonly of: LedgerBatch; readonly hashes: readonly string[] } | undefined;
  for (const batch of readLedger(ledgerFolder)) {
    if (segment?.of.segment !== batch.segment || segment.of.chain !== batch.chain) {
      const hash = openPersonHash(chainFolderOf(ledgerFolder, batch.chain), batch.segment);
      if (hash === undefined) segmentsWithoutKey++;
      segment = { of: batch, hashes: hash === undefined ? [] : traces.identityCards.map(hash) };
    }
    const { hashes } = segment;
    const { lines } = batch;
    if (![...hashes, '"all":'].some((text) => lines.includes(text)) && !named.test(lines.toString('latin1')))
      continue;
    for (const entry of entriesOf(batch)) {
      const how = howRead(entry, { traces, hashes, members });
      if (how !== undefined) readings.push({ entry, how });
    }
  }
  readings.sort((a, b) => (a.entry.time < b.entry.time ? -1 : Number(a.entry.time > b.entry.time)));
  return { readings, segmentsWithoutKey };
}

interface Sought {
  readonly traces: PersonTraces;
  readonly hashes: readonly string[];
  readonly members: ReadonlySet<number>;
}

function howRead(entry: LedgerEntry, { traces, hashes, members }: Sought): HowRead | undefined {
  if (entry.persons?.some((hash) => hashes.includes(hash))) return 'number';
  if (entry.members?.some((id) => members.has(id))) return 'member';
  return entry.all !== undefined && couldShow(entry, entry.all, traces) ? 'everybody' : undefined;
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
