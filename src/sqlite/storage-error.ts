/**
 * `unusable`: the location does not exist, belongs to another program or release, or cannot be opened.
 * `failed`: the disk, the file or another process's lock prevented the work.
 */
type StorageErrorKind = 'unusable' | 'failed';

/** Error with a message for operators, about a file, the disk or the location of a registry. */
export class StorageError extends Error {
  readonly kind: StorageErrorKind;

  constructor(kind: StorageErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.kind = kind;
  }
}

/** @param what beginning of the message, to which a colon and the message of the cause are added */
export const unusable = (what: string, cause: unknown): StorageError =>
  new StorageError('unusable', `${what}: ${(cause as Error).message}.`, { cause });
