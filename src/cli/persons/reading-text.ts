/** Readings as commands show them: text for people, JSON for programs. */
import {
  formatReader,
  HOW_READ,
  type PersonReading,
  passedOver,
} from '../../app/readings/person-readings.ts';
import { formatDateTime, type TimeZone } from '../../domain/values/date-time.ts';
import { type Message, say, type Text } from '../../domain/values/message.ts';
import type { LedgerEntry, UnreadableFile } from '../../store/contract/access-ledger.ts';
import { type CliContext, tell } from '../terminal/context.ts';
import { formatTable } from '../terminal/output.ts';

/** Names the files that readings may be missing from. */
export function tellUnreadable(context: CliContext, files: readonly UnreadableFile[]): void {
  for (const { name, reason } of files) tell(context, passedOver(name, reason));
}

/** Names of keys by their ids. */
export type KeyNames = ReadonlyMap<number, string>;

/** What a reading is shown with. */
export interface ReadingContext {
  readonly zone: TimeZone;
  readonly keyNames: KeyNames;
}

/** @param time in UTC */
export const shownTime = (time: string, zone: TimeZone): string =>
  formatDateTime(Math.floor(Date.parse(time) / 1000), zone);

export const describeEntry = (entry: LedgerEntry, { zone, keyNames }: ReadingContext) => ({
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

export const describeReading = ({ entry, how }: PersonReading, shown: ReadingContext) => ({
  ...describeEntry(entry, shown),
  read_as: how,
});

/** What the readings of everybody mean. */
export const formatEverybody = (n: number): Message =>
  say(
    '{n|One reading was|# readings were} of everybody in cooperatives of the person. An export ' +
      'contained the person; another reading may have.',
    { n },
  );

/** A table with a line for each; what was said of purpose and end user is shown as it was sent. */
export function formatReadings(
  readings: readonly (Pick<PersonReading, 'entry'> & Partial<PersonReading>)[],
  { zone, keyNames }: ReadingContext,
  translate: (text: Text) => string,
): string {
  const headings = ['AT', 'BY', 'REQUEST', 'READ AS', 'FIELDS', 'STATUS', 'ADDRESS', 'PURPOSE', 'RECEIPT'];
  const rows = readings.map(({ entry, how }) => [
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
