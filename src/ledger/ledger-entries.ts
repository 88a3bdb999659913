/**
 * Encodes accesses as entries, and hashes batches of entries (docs/decisions/0030-access-ledger.md). Accesses
 * are sent to the writing thread as one string, the cheapest value to pass between threads. The string has
 * the JSON of each entry except the time and the hashes of national IDs. The thread adds the time and the
 * hashes, which take the longest to compute.
 */
import { hash } from 'node:crypto';
import type { AccessRecord } from '../access/access-ledger.ts';
import type { FieldGroup } from '../values/declared-fields.ts';

export type HashPerson = (identityCard: string) => string;

/** Properties without a value are absent. */
export interface LedgerEntry {
  readonly chain: number;
  readonly origin: string;
  readonly sequence: number;
  readonly receipt: string;
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
  /** National IDs, hashed with the month key of the batch. */
  readonly persons?: readonly string[];
  readonly members?: readonly number[];
  readonly page?: true;
  /** The access is a batch of lookups. Some of `persons` may have no member in `members`. */
  readonly lookups?: true;
  readonly all?: { readonly as_of: number; readonly cooperatives: readonly number[] | null };
}

export interface LedgerBatch {
  readonly chain: number;
  readonly origin: string;
  /** Sequence of the first entry. */
  readonly first: number;
  readonly count: number;
  /** Hexadecimal. */
  readonly hash: string;
  /** Id of the month key that hashed the national IDs. */
  readonly keyId: string;
  /** Entries as lines of JSON: searching the text is faster than parsing it. */
  readonly lines: string;
}

// Separators in the encoded string. No value contains a control character.
const ACCESSES = '\x1e';
const PARTS = '\x1f';
/** Separates national IDs. */
const ITEMS = '\x1d';
const CONTROLS = /[\x00-\x1f\x7f]/g;
const SPECIAL = /[\x00-\x1f\x7f"\\]/;

/** Replaces control characters: if earlier checks missed one, a client could forge entries with it. */
const plain = (text: string): string => (SPECIAL.test(text) ? text.replace(CONTROLS, ' ') : text);

const quote = (text: string): string => (SPECIAL.test(text) ? JSON.stringify(plain(text)) : `"${text}"`);

const optional = (name: string, text: string | null): string =>
  text === null || text === '' ? '' : `,"${name}":${quote(text)}`;

const quotedRoutes = new Map<string, string>();

function quoteRoute(route: string): string {
  let quoted = quotedRoutes.get(route);
  if (quoted === undefined) {
    quoted = quote(route);
    quotedRoutes.set(route, quoted);
  }
  return quoted;
}

export function encodeAccesses(accesses: readonly AccessRecord[]): string {
  let text = '';
  // Concatenation is faster than `join`, which copies each part again.
  for (const access of accesses) text += (text === '' ? '' : ACCESSES) + encodeAccess(access);
  return text;
}

function encodeAccess(access: AccessRecord): string {
  const { timeMs, fields, reader, subject } = access;
  const { all, identityCards, memberIds } = subject;
  return (
    `${timeMs}${PARTS},"request_id":${quote(access.requestId)},` +
    `${'keyId' in reader ? `"key_id":${reader.keyId}` : `"user":${quote(reader.user)}`},` +
    `"route":${quoteRoute(access.route)},` +
    `"fields":${fields.length === 0 ? '[]' : `["${fields.join('","')}"]`},` +
    `"status":${access.status}${optional('address', access.address)}` +
    `${optional('purpose', access.purpose)}${optional('end_user', access.endUser)}${PARTS}` +
    `${identityCards?.map(plain).join(ITEMS) ?? ''}${PARTS}` +
    `${memberIds === undefined || memberIds.length === 0 ? '' : `,"members":[${memberIds.join()}]`}` +
    `${access.isPage === true ? ',"page":true' : ''}` +
    `${access.isOfNumbers === true ? ',"lookups":true' : ''}` +
    `${all === undefined ? '' : `,"all":${encodeAll(all)}`}}`
  );
}

const encodeAll = ({ asOfSequence, cooperativeIds }: NonNullable<AccessRecord['subject']['all']>): string =>
  `{"as_of":${asOfSequence},"cooperatives":${cooperativeIds && `[${cooperativeIds.join()}]`}}`;

/** @param text from `encodeAccesses` @returns the epoch milliseconds of the first access */
export const timeOf = (text: string): number => Number.parseInt(text, 10);

/** @param text from `encodeAccesses` @returns the entries as lines, and the range of their times */
export function toLines(text: string, hashPerson: HashPerson) {
  let [lines, count, firstMs, lastMs] = ['', 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [formattedMs, formatted] = [Number.NaN, ''];
  for (const access of text.split(ACCESSES)) {
    const [time, start = '', persons = '', end = ''] = access.split(PARTS);
    const timeMs = Math.floor(Number(time));
    // Most accesses have the same millisecond as the previous access.
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

/** Takes the place of the previous hash for the first batch of a chain. */
export const NO_HASH = '0'.repeat(64);

/** @param previous hash of the previous batch @returns 64 hexadecimal digits */
export const hashBatch = (
  previous: string,
  { origin, first, count, keyId }: Pick<LedgerBatch, 'origin' | 'first' | 'count' | 'keyId'>,
  lines: string,
): string =>
  hash(
    'sha256',
    `${previous}\n{"origin":"${origin}","first":${first},"count":${count},"key":"${keyId}"}\n${lines}`,
  );

export type RecordedBatch = Pick<LedgerBatch, 'first' | 'hash'>;
