import { hash } from 'node:crypto';
import { RegistryError } from '../values/errors.ts';

/** Previous hash of a chain's first batch. */
export const NO_HASH = '0'.repeat(64);

interface BatchHeader {
  readonly origin: string;
  /** Sequence of its first entry. */
  readonly first: number;
  readonly count: number;
  /** Id of the key that hashed its national IDs. */
  readonly keyId: string;
}

/** @param previous hash of the previous batch @returns 64 hexadecimal digits */
export const hashBatch = (
  previous: string,
  { origin, first, count, keyId }: BatchHeader,
  lines: string,
): string =>
  hash(
    'sha256',
    `${previous}\n{"origin":"${origin}","first":${first},"count":${count},"key":"${keyId}"}\n${lines}`,
  );

const RECEIPT_DIGITS = 32;

/** Returns the client's receipt: the entry's sequence and the first half of its batch's hash. */
export const receiptOf = (sequence: number, batchHash: string): string =>
  `${sequence}-${batchHash.slice(0, RECEIPT_DIGITS)}`;

/** @returns undefined for text that is not a receipt */
export function parseReceipt(text: string): { sequence: number; hash: string } | undefined {
  const [, sequence, digits] = /^([1-9][0-9]{0,14})-([0-9a-f]{32})$/i.exec(text.trim()) ?? [];
  return sequence === undefined || digits === undefined
    ? undefined
    : { sequence: Number(sequence), hash: digits.toLowerCase() };
}

/** A batch of entries that is on disk. */
export interface Recorded {
  /** Sequence of the first entry; the others follow it. */
  readonly first: number;
  /** Hash of the batch, in hexadecimal digits. */
  readonly hash: string;
}

const RETRY_AFTER_SECONDS = 2;

export const unrecorded = (cause?: unknown): RegistryError =>
  new RegistryError(
    'unavailable',
    'This reading cannot be recorded now, and personal data is not shown unrecorded. Try again.',
    { reason: 'ledger', retryAfterSeconds: RETRY_AFTER_SECONDS, cause },
  );

/** @param count number of readings */
export const toReceipts = ({ first, hash }: Recorded, count: number): string[] =>
  Array.from({ length: count }, (_, i) => receiptOf(first + i, hash));
