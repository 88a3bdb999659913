/**
 * Encodes readings as one text for the writing thread, since a string crosses threads at the least cost. The
 * text holds each entry's JSON except its time and the hashes of its national IDs: these take longest, and
 * the thread adds them.
 */

import type { AccessRecord } from '../access/access-ledger.ts';
import type { FieldGroup } from '../values/declared-fields.ts';
import { receiptOf } from './batch-hash.ts';

/** Hashes a national ID as entries do. @param identityCard 16 digits, hashed as they are */
export type HashPerson = (identityCard: string) => string;

/** A reading as stored; absent properties were not given, or do not apply. */
export interface StoredAccess {
  /** UTC, with milliseconds. */
  readonly time: string;
  readonly request_id: string;
  readonly key_id?: number;
  readonly user?: string;
  readonly route: string;
  readonly fields: readonly FieldGroup[];
  readonly status: number;
  readonly address?: string;
  readonly purpose?: string;
  readonly end_user?: string;
  /** Hashes of national IDs, with the key of the batch. */
  readonly persons?: readonly string[];
  readonly members?: readonly number[];
  /** True for a page of a list. */
  readonly page?: true;
  readonly all?: { readonly as_of: number; readonly cooperatives: readonly number[] | null };
}

export interface LedgerEntry extends StoredAccess {
  readonly chain: number;
  readonly origin: string;
  readonly sequence: number;
  readonly receipt: string;
}

export interface LedgerBatch {
  readonly chain: number;
  readonly origin: string;
  /** Sequence of its first entry. */
  readonly first: number;
  readonly count: number;
  /** Hexadecimal. */
  readonly hash: string;
  /** Id of the key that hashed its national IDs. */
  readonly keyId: string;
  /** The lines of its entries: searching them is faster than parsing them. */
  readonly lines: string;
}

/** Separators of readings, of their parts and of national IDs. No value contains a control character. */
const READINGS = '\x1e';
const PARTS = '\x1f';
const ITEMS = '\x1d';
const CONTROLS = /[\x00-\x1f\x7f]/g;
const SPECIAL = /[\x00-\x1f\x7f"\\]/;

/**
 * Callers already refuse control characters. Here one would end its value, and could make the ledger record a
 * different reader.
 */
const plain = (text: string): string => (SPECIAL.test(text) ? text.replace(CONTROLS, ' ') : text);

const quote = (text: string): string => (SPECIAL.test(text) ? JSON.stringify(plain(text)) : `"${text}"`);

/** Cache: all readings share a few routes. */
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

export function encodeAccesses(readings: readonly AccessRecord[]): string {
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

const encodeAll = ({ asOfSequence, cooperativeIds }: NonNullable<AccessRecord['subject']['all']>): string =>
  `{"as_of":${asOfSequence},"cooperatives":${cooperativeIds && `[${cooperativeIds.join()}]`}}`;

interface EntryLines {
  /** One line for each entry, with its line feed. */
  readonly lines: string;
  readonly count: number;
  /** Earliest and latest instant, in epoch milliseconds. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Returns the epoch milliseconds of the first reading, with which the text begins. */
export const timeOf = (text: string): number => Number.parseInt(text, 10);

/** Turns text from `encodeAccesses` into the lines of a batch. */
export function toLines(text: string, hashPerson: HashPerson): EntryLines {
  let [lines, count, firstMs, lastMs] = ['', 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [formattedMs, formatted] = [Number.NaN, ''];
  for (const reading of text.split(READINGS)) {
    const [time, start = '', persons = '', end = ''] = reading.split(PARTS);
    const timeMs = Math.floor(Number(time));
    // Most readings share the millisecond of the previous one.
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

/** Parses a batch's entries. @param text filter: lines that do not contain it are skipped unparsed */
export function entriesOf({ chain, origin, first, hash, lines }: LedgerBatch, text = ''): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const [i, line] of lines.slice(0, -1).split('\n').entries()) {
    if (!line.includes(text)) continue;
    const reading = JSON.parse(line) as StoredAccess;
    const sequence = first + i;
    entries.push({ chain, origin, sequence, receipt: receiptOf(sequence, hash), ...reading });
  }
  return entries;
}
