/**
 * `unusable`: the location does not exist, belongs to another program or release, or cannot be opened.
 * `failed`: the disk, the file or another process's lock prevented the work.
 */
type StorageErrorKind = 'unusable' | 'failed';

/** Failure of storage itself, with a message for operators. */
export class StorageError extends Error {
  readonly kind: StorageErrorKind;

  constructor(kind: StorageErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.kind = kind;
  }
}

/** Creates the error for an unusable location. @param what a sentence without the reason */
export const unusable = (what: string, cause: unknown): StorageError =>
  new StorageError('unusable', `${what}: ${(cause as Error).message}.`, { cause });
