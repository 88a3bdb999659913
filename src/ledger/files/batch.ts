/**
 * A batch of entries, as it is in a segment: one line that heads it, then a line of JSON for each entry. Its
 * hash commits to its entries and to every batch before it (docs/decisions/0030-access-ledger.md).
 */
import { createHash, hash } from 'node:crypto';

/** What the first batch of a chain follows. */
export const NO_HASH = '0'.repeat(64);

/** How the line that heads a batch begins; no entry begins like it. */
export const HEADER_START = '{"first":';
const HEADER = new RegExp(
  '^(\\{"first":([0-9]{1,15}),"count":([0-9]{1,9}),"bytes":([0-9]{1,10})(?:,"dropped":([0-9]{1,10}))?)' +
    ',"hash":"([0-9a-f]{64})"\\}$',
);
export const MAX_HEADER_BYTES = 256;

export interface BatchHeader {
  /** The sequence of its first entry. */
  readonly first: number;
  /** How many entries it has. */
  readonly count: number;
  /** Of their lines. */
  readonly bytes: number;
  /** Bytes of an incomplete batch that was in its place; 0 for none. */
  readonly dropped: number;
  /** SHA-256, in hexadecimal digits. */
  readonly hash: string;
  /** What is hashed of the header. */
  readonly hashed: string;
}

/** @returns undefined for a line that is no header */
export function parseHeader(line: string): BatchHeader | undefined {
  const [, hashed, first, count, bytes, dropped = '0', hash] = HEADER.exec(line) ?? [];
  if (hashed === undefined || hash === undefined) return undefined;
  const [firstNumber, countNumber, bytesNumber, droppedNumber] = [first, count, bytes, dropped].map(Number);
  return {
    first: firstNumber as number,
    count: countNumber as number,
    bytes: bytesNumber as number,
    dropped: droppedNumber as number,
    hash,
    hashed,
  };
}

/** The hash of a batch. @param previous that of the batch before it */
export const hashBatch = (previous: string, hashed: string, lines: Uint8Array): string =>
  createHash('sha256').update(`${previous}\n${hashed}\n`).update(lines).digest('hex');

export interface FormattedBatch {
  readonly hash: string;
  /** How many bytes the batch has, and those with the zeros after it; valid until the next one is made. */
  readonly length: number;
  readonly bytes: Buffer;
}

/** What is hashed before the lines, and what is written before them, take less. */
const LEAD_BYTES = 512;
const MAX_CHARACTER_BYTES = 3;

/** Makes batches in one buffer: their lines are copied once, to be hashed and written from there. */
export class BatchFormatter {
  private buffer = Buffer.alloc(0);

  /**
   * @param lines of the entries, each with its line feed
   * @param leastBytes zeros follow up to there
   */
  format(
    previous: string,
    { first, count, dropped }: { readonly first: number; readonly count: number; readonly dropped: number },
    lines: string,
    leastBytes: number,
  ): FormattedBatch {
    const room = LEAD_BYTES + Math.max(lines.length * MAX_CHARACTER_BYTES, leastBytes);
    if (this.buffer.length < room) this.buffer = Buffer.allocUnsafe(room);
    const bytes = this.buffer.write(lines, LEAD_BYTES);
    const end = LEAD_BYTES + bytes;
    const drop = dropped === 0 ? '' : `,"dropped":${dropped}`;
    const hashed = `${HEADER_START}${first},"count":${count},"bytes":${bytes}${drop}`;
    const digest = hash('sha256', this.buffer.subarray(this.lead(`${previous}\n${hashed}\n`), end));
    const start = this.lead(`${hashed},"hash":"${digest}"}\n`);
    const paddedEnd = Math.max(end, start + leastBytes);
    if (paddedEnd > end) this.buffer.fill(0, end, paddedEnd);
    return { hash: digest, length: end - start, bytes: this.buffer.subarray(start, paddedEnd) };
  }

  /** Puts a text before the lines. @returns where it begins */
  private lead(text: string): number {
    const start = LEAD_BYTES - text.length;
    this.buffer.write(text, start, 'latin1');
    return start;
  }
}

const RECEIPT_DIGITS = 32;

/** What a client gets: the sequence of the entry, and the first half of the hash of its batch. */
export const receiptOf = (sequence: number, hash: string): string =>
  `${sequence}-${hash.slice(0, RECEIPT_DIGITS)}`;

/** @returns undefined for a text that is no receipt */
export function parseReceipt(text: string): { sequence: number; hash: string } | undefined {
  const [, sequence, hash] = /^([1-9][0-9]{0,14})-([0-9a-f]{32})$/i.exec(text.trim()) ?? [];
  return sequence === undefined || hash === undefined
    ? undefined
    : { sequence: Number(sequence), hash: hash.toLowerCase() };
}
