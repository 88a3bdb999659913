/**
 * Readings as text. On their way to what writes them: one text for many, because a text passes between
 * threads at the least cost. It holds the JSON of each entry, but for its time and the hashes of its
 * national IDs, which take longest and are left to the thread.
 */
import type {
  HashPerson,
  LedgerBatch,
  LedgerEntry,
  Reading,
  StoredReading,
} from '../../contract/access-ledger.ts';
import { receiptOf } from './batch-hash.ts';

/** Between readings, between their parts, and between national IDs. No value holds a control character. */
const READINGS = '\x1e';
const PARTS = '\x1f';
const ITEMS = '\x1d';
const CONTROLS = /[\x00-\x1f\x7f]/g;
const SPECIAL = /[\x00-\x1f\x7f"\\]/;

/** Callers refuse control characters: here one would end the value, and another reader could be recorded. */
const plain = (text: string): string => (SPECIAL.test(text) ? text.replace(CONTROLS, ' ') : text);

const quote = (text: string): string => (SPECIAL.test(text) ? JSON.stringify(plain(text)) : `"${text}"`);

/** The same few are in all readings. */
const quotedRoutes = new Map<string, string>();

function quoteRoute(route: string): string {
  let quoted = quotedRoutes.get(route);
  if (quoted === undefined) {
    quoted = quote(route);
    quotedRoutes.set(route, quoted);
  }
  return quoted;
}

const optional = (name: string, text: string | null): string =>
  text === null || text === '' ? '' : `,"${name}":${quote(text)}`;

export function encodeReadings(readings: readonly Reading[]): string {
  let text = '';
  for (const reading of readings) {
    const { fields, reader, subject } = reading;
    const { all, identityCards, memberIds } = subject;
    if (text !== '') text += READINGS;
    text +=
      `${reading.timeMs}${PARTS},"request_id":${quote(reading.requestId)},` +
      `${'keyId' in reader ? `"key_id":${reader.keyId}` : `"user":${quote(reader.user)}`},` +
      `"route":${quoteRoute(reading.route)},` +
      `"fields":${fields.length === 0 ? '[]' : `["${fields.join('","')}"]`},` +
      `"status":${reading.status}${optional('address', reading.address)}` +
      `${optional('purpose', reading.purpose)}${optional('end_user', reading.endUser)}${PARTS}` +
      `${identityCards?.map(plain).join(ITEMS) ?? ''}${PARTS}` +
      `${memberIds === undefined || memberIds.length === 0 ? '' : `,"members":[${memberIds.join()}]`}` +
      `${reading.isPage === true ? ',"page":true' : ''}` +
      `${all === undefined ? '' : `,"all":${encodeAll(all)}`}}`;
  }
  return text;
}

const encodeAll = ({ asOfSequence, cooperativeIds }: NonNullable<Reading['subject']['all']>): string =>
  `{"as_of":${asOfSequence},"cooperatives":${cooperativeIds && `[${cooperativeIds.join()}]`}}`;

/** Entries as they are written. */
export interface EntryLines {
  /** Each with its line feed. */
  readonly lines: string;
  readonly count: number;
  /** Earliest and latest instant, in epoch milliseconds. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Epoch milliseconds of the first reading of a text: it begins with them. */
export const timeOf = (text: string): number => Number.parseInt(text, 10);

/** Turns a text of `encodeReadings` into the lines of a batch. */
export function toLines(text: string, hashPerson: HashPerson): EntryLines {
  let [lines, count, firstMs, lastMs] = ['', 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [formattedMs, formatted] = [Number.NaN, ''];
  for (const reading of text.split(READINGS)) {
    const [time, start = '', persons = '', end = ''] = reading.split(PARTS);
    const timeMs = Math.floor(Number(time));
    // Most readings are of the millisecond of the one before.
    if (timeMs !== formattedMs) {
      [formattedMs, formatted] = [timeMs, new Date(timeMs).toISOString()];
      firstMs = Math.min(firstMs, timeMs);
      lastMs = Math.max(lastMs, timeMs);
    }
    const hashes = persons === '' ? '' : `,"persons":[${hashAll(persons, hashPerson)}]`;
    lines += `{"time":"${formatted}"${start}${hashes}${end}\n`;
    count++;
  }
  return { lines, count, firstMs, lastMs };
}

function hashAll(persons: string, hashPerson: HashPerson): string {
  if (!persons.includes(ITEMS)) return `"${hashPerson(persons)}"`;
  return persons
    .split(ITEMS)
    .map((person) => `"${hashPerson(person)}"`)
    .join();
}

/** The entries of a batch. @param text only those whose lines contain it: the others are not parsed */
export function entriesOf({ chain, origin, first, hash, lines }: LedgerBatch, text = ''): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const [i, line] of lines.slice(0, -1).split('\n').entries()) {
    if (!line.includes(text)) continue;
    const reading = JSON.parse(line) as StoredReading;
    const sequence = first + i;
    entries.push({ chain, origin, sequence, receipt: receiptOf(sequence, hash), ...reading });
  }
  return entries;
}
