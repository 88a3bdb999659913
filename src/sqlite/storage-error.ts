/** Errors of storage itself. */

/**
 * `unusable`: the location cannot be used (it does not exist, belongs to another program or release, or
 * cannot be opened); `failed`: it can, but the disk, the file or another process's lock prevented the work.
 */
type StorageErrorKind = 'unusable' | 'failed';

/** A failure of storage itself, with a message for operators. */
export class StorageError extends Error {
  readonly kind: StorageErrorKind;

  constructor(kind: StorageErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.kind = kind;
  }
}

/** Creates the error for a location that cannot be used. @param what a sentence without its reason */
export const unusable = (what: string, cause: unknown): StorageError =>
  new StorageError('unusable', `${what}: ${(cause as Error).message}.`, { cause });
