/** What can go wrong with storage itself. */

/**
 * `unusable`: what the location names cannot be used (there is nothing, it belongs to another program or
 * release, it cannot be opened); `failed`: it can, but the disk, the file or another process's lock
 * prevented the work.
 */
export type StorageErrorKind = 'unusable' | 'failed';

/** A failure of storage itself; the message is written for an operator. */
export class StorageError extends Error {
  readonly kind: StorageErrorKind;

  constructor(kind: StorageErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.kind = kind;
  }
}
