/** Places on the disk that a command reads or writes, and its refusals of those that it cannot. */
import { existsSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import { type Message, say } from '../../domain/values/message.ts';
import { systemCodeOf } from '../../runtime/system-code.ts';
import type { Storage } from '../../store/contract/storage.ts';
import { CommandError, EXIT } from './context.ts';

/** @throws CommandError `usage` for a path where there is nothing, or that this user may not reach */
export const statOf = (path: string): Stats => find(path, say('There is no file {path}.', { path }));

/** @throws CommandError `usage` for a file to be written, of which the folder is missing or out of reach */
export function assertFolderOf(path: string): void {
  const folder = dirname(path);
  // Not the resolved path: of `.` the system says whether this user may enter it.
  find(folder, say('There is no folder {path}.', { path: resolve(folder) }));
}

function find(path: string, missing: Message): Stats {
  try {
    return statSync(path);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    const denied = say('{path} cannot be opened: permission denied.', { path: resolve(path) });
    throw new CommandError(EXIT.usage, code === 'EACCES' ? denied : missing);
  }
}

/** What a command may write at a place. */
export interface PlaceRules {
  readonly storage: Pick<Storage, 'ownsFile'>;
  /** What to choose instead, such as `another file for --out`. */
  readonly instead: string;
  /** Likewise, instead of what is not a file. */
  readonly insteadOfFolder?: string;
  /** Files that are read, and what such a file is said to be. */
  readonly inputs?: { readonly paths: readonly string[]; readonly are: string };
  /** What may be replaced: an earlier file of this kind, or an empty one. */
  readonly replaces?: { readonly kind: string; readonly accepts: (path: string) => Awaitable<boolean> };
}

/** @throws CommandError `usage` for a path where the command must not write */
export async function assertPlace(
  path: string,
  { storage, instead, insteadOfFolder = instead, inputs, replaces }: PlaceRules,
): Promise<void> {
  const refuse = (reason: string, choice = instead) =>
    new CommandError(EXIT.usage, `${path} ${reason}. Choose ${choice}.`);
  if (storage.ownsFile(path)) throw refuse('is a file of the registry');
  if (replaces === undefined && existsSync(path)) throw refuse('exists already');
  assertFolderOf(path);
  if (replaces === undefined || !existsSync(path)) return;
  if (!statSync(path).isFile()) throw refuse('is not a file', insteadOfFolder);
  if (inputs?.paths.some((input) => realpathSync(input) === realpathSync(path))) throw refuse(inputs.are);
  if (!(await replaces.accepts(path))) throw refuse(`already exists and is not ${replaces.kind}`);
}

/**
 * Runs work on the disk.
 * @param toError what is thrown in the place of what the operating system refused, such as `ENOSPC`
 */
export async function refusing<T>(
  toError: (code: string, cause: Error) => Error,
  work: () => Awaitable<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = systemCodeOf(error);
    throw code === undefined ? error : toError(code, error as Error);
  }
}
