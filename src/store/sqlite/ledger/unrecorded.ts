/** What becomes of readings: their receipts, or the refusal of those that are not on disk. */
import { RegistryError } from '../../../domain/values/errors.ts';
import { receiptOf } from './batch-hash.ts';
import type { Recorded } from './ledger-writer.ts';

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
