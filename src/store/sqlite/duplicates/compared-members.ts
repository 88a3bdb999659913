/** What is kept in memory of every member while members are compared: 40 bytes each. */
import { wordsOf } from '../../../domain/membership/names.ts';
import type { Connection } from '../engine/connection.ts';
import { ERASED_STATUS } from '../identity/erased-rows.ts';
import { hashText } from './grouping.ts';

export const DIGITS = 16;
export const PLACES = Array.from({ length: DIGITS }, (_, place) => place);
/** Odd numbers without a pattern: the hash of a national ID is the sum of its digits times these. */
export const FACTORS = PLACES.map((place) => Math.imul(place + 1, 0x9e3779b1) ^ (0x5bd1e995 | 1));

export interface ComparedMembers {
  readonly count: number;
  readonly ids: Float64Array;
  /** Of national IDs, 16 for each member. */
  readonly digits: Uint8Array;
  readonly hashes: Int32Array;
  /** A bit for each word of the name: names that share a word share a bit. */
  readonly words: Int32Array;
  /** 0 for none. */
  readonly phones: Float64Array;
  /** Hashes of cooperative, date of birth and name; 0 without a date. */
  readonly namesakes: Int32Array;
}

type Row = readonly [
  id: number,
  card: string,
  name: string,
  phone: string | null,
  cooperativeId: number,
  born: string | null,
];

/** Most words of names are those of many. */
const MOST_WORDS = 100_000;

interface HashedWord {
  readonly bits: number;
  readonly hash: number;
}

/** @returns what folds and hashes a part of a name, of several words if a hyphen separates them */
function openWordHashes(): (text: string) => HashedWord {
  const known = new Map<string, HashedWord>();
  return (text) => {
    let hashed = known.get(text);
    if (hashed === undefined) {
      const hashes = wordsOf(text).map(hashText);
      hashed = {
        bits: hashes.reduce((bits, hash) => bits | (1 << (hash >>> 27)), 0),
        hash: hashes.reduce((sum, hash) => (sum + hash) | 0, 0),
      };
      if (known.size >= MOST_WORDS) known.clear();
      known.set(text, hashed);
    }
    return hashed;
  };
}

export function readComparedMembers(db: Connection): ComparedMembers {
  const rows = `main.members WHERE status <> '${ERASED_STATUS}'`;
  const count = db.count(rows);
  const members: ComparedMembers = {
    count,
    ids: new Float64Array(count),
    digits: new Uint8Array(count * DIGITS),
    hashes: new Int32Array(count),
    words: new Int32Array(count),
    phones: new Float64Array(count),
    namesakes: new Int32Array(count),
  };
  const { ids, digits, hashes, words, phones, namesakes } = members;
  const read = db.raw
    .prepare(
      `SELECT id, identity_card, full_name, mobile, cooperative_id, date_of_birth FROM ${rows} ORDER BY id`,
    )
    .raw();
  const hashWord = openWordHashes();
  let member = 0;
  for (const [id, card, name, phone, cooperativeId, born] of read.iterate() as Iterable<Row>) {
    ids[member] = id;
    let hash = 0;
    for (const place of PLACES) {
      const digit = card.charCodeAt(place) - 48;
      digits[member * DIGITS + place] = digit;
      hash += Math.imul(digit, FACTORS[place] as number);
    }
    hashes[member] = hash;
    let namesake = born === null ? 0 : Math.imul(cooperativeId, FACTORS[0] as number) + hashText(born);
    for (const word of name.split(' ')) {
      const { bits, hash: ofWord } = hashWord(word);
      words[member] = (words[member] as number) | bits;
      namesake += ofWord;
    }
    phones[member] = Number(phone);
    namesakes[member] = born === null ? 0 : namesake;
    member++;
  }
  return members;
}
