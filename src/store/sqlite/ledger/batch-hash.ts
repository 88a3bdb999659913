/** What the hash of a batch commits to, and the receipts that follow from it (docs/decisions/0030). */
import { hash } from 'node:crypto';
import { RegistryError } from '../../../domain/values/errors.ts';

/** What the first batch of a chain follows. */
export const NO_HASH = '0'.repeat(64);

export interface BatchHeader {
  /** Of its chain. */
  readonly origin: string;
  /** The sequence of its first entry. */
  readonly first: number;
  /** How many entries it has. */
  readonly count: number;
  /** Of the key that has hashed its national IDs. */
  readonly keyId: string;
}

/** @param previous the hash of the batch before @param lines of its entries @returns 64 hexadecimal digits */
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

/** What a client gets: the sequence of the entry, and the first half of the hash of its batch. */
export const receiptOf = (sequence: number, batchHash: string): string =>
  `${sequence}-${batchHash.slice(0, RECEIPT_DIGITS)}`;

/** @returns undefined for a text that is not a receipt */
export function parseReceipt(text: string): { sequence: number; hash: string } | undefined {
  const [, sequence, digits] = /^([1-9][0-9]{0,14})-([0-9a-f]{32})$/i.exec(text.trim()) ?? [];
  return sequence === undefined || digits === undefined
    ? undefined
    : { sequence: Number(sequence), hash: digits.toLowerCase() };
}

/** Entries that are on disk. */
export interface Recorded {
  /** Sequence of the first one; those of the others follow. */
  readonly first: number;
  /** Of their batch, in hexadecimal digits. */
  readonly hash: string;
}

const RETRY_AFTER_SECONDS = 2;

export const unrecorded = (cause?: unknown): RegistryError =>
  new RegistryError(
    'unavailable',
    'This reading cannot be recorded now, and personal data is not shown unrecorded. Try again.',
    { reason: 'ledger', retryAfterSeconds: RETRY_AFTER_SECONDS, cause },
  );

/** @param count how many readings they are */
export const toReceipts = ({ first, hash }: Recorded, count: number): string[] =>
  Array.from({ length: count }, (_, i) => receiptOf(first + i, hash));
