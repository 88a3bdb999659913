/** What the disk and other writers do to an import, in words for the operator. */
import { RegistryError } from '../../../domain/values/errors.ts';
import { isBusy, isDiskFull } from '../engine/errors.ts';

/** @returns any other error as it is */
export function toRegistryError(error: unknown): unknown {
  if (isBusy(error)) {
    return new RegistryError(
      'unavailable',
      'Another process is writing to the registry. Nothing of this file was imported; try again.',
      { cause: error },
    );
  }
  if (!isDiskFull(error)) return error;
  return new RegistryError('unavailable', 'The disk is full. Nothing of this file was imported.', {
    cause: error,
  });
}
