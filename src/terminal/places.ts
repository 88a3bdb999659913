/** Checks the paths in command lines, and writes files that only their owner can read. */
import {
  closeSync,
  existsSync,
  fstatSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { deniedMessage, openPrivateFile, systemCodeOf } from '../runtime/process.ts';
import { ownsFile } from '../sqlite/registry-files.ts';
import type { Storage } from '../sqlite/storage.ts';
import type { Awaitable } from '../values/errors.ts';
import { say, type Text } from '../values/message.ts';
import { CommandError, EXIT } from './context.ts';

/** @throws CommandError `usage` for a path that is missing or inaccessible */
export const statOf = (path: string): Stats => find(path, say('There is no file {path}.', { path }));

/** @throws CommandError `usage` with the message unless the path is an accessible folder */
export function assertFolder(path: string, message: Text): void {
  if (!find(path, message).isDirectory()) throw new CommandError(EXIT.usage, message);
}

/** @throws CommandError `usage` if the folder of the file is missing or inaccessible */
export function assertFolderOf(path: string): void {
  const folder = dirname(path);
  // Not the resolved path: for `.`, the user need not have access to the parent folders.
  find(folder, say('There is no folder {path}.', { path: resolve(folder) }));
}

function find(path: string, missing: Text): Stats {
  try {
    return statSync(path);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    throw new CommandError(EXIT.usage, code === 'EACCES' ? deniedMessage(path) : missing);
  }
}

interface PlaceRules {
  readonly storage: Storage;
  /** Suggestion, such as `another file for --out`. */
  readonly instead: string;
  /** Suggestion for a path that is not a file; by default, `instead`. */
  readonly insteadOfFolder?: string;
  /** Input files, which must not be replaced. The error says why, with `are`, a predicate. */
  readonly inputs?: { readonly paths: readonly string[]; readonly are: string };
  /** By default, no file is replaced. */
  readonly replaces?: { readonly kind: string; readonly accepts: (path: string) => Awaitable<boolean> };
}

/** @throws CommandError `usage` if the command must not write to the path */
export async function assertPlace(
  path: string,
  { storage, instead, insteadOfFolder = instead, inputs, replaces }: PlaceRules,
): Promise<void> {
  const refuse = (reason: string, choice = instead) =>
    new CommandError(EXIT.usage, `${path} ${reason}. Choose ${choice}.`);
  if (ownsFile(storage.location, path)) throw refuse('is a file of the registry');
  if (replaces === undefined && existsSync(path)) throw refuse('exists already');
  assertFolderOf(path);
  if (replaces === undefined || !existsSync(path)) return;
  if (!statSync(path).isFile()) throw refuse('is not a file', insteadOfFolder);
  if (inputs?.paths.some((input) => realpathSync(input) === realpathSync(path))) throw refuse(inputs.are);
  if (!(await replaces.accepts(path))) throw refuse(`already exists and is not ${replaces.kind}`);
}

/** Converts errors of the system. @param toError receives the code of the error, such as `ENOSPC` */
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

/** @param path path from the user @throws CommandError `usage` for errors of the system */
export const reading = <T>(path: string, work: () => Awaitable<T>): Promise<T> =>
  refusing(
    (code) =>
      new CommandError(
        EXIT.usage,
        code === 'EACCES' ? deniedMessage(path) : `${path} cannot be read (${code}).`,
      ),
    work,
  );

/** Removes an open file, unless another command has replaced it. */
export function removeOwn(path: string, descriptor: number): void {
  if (leadsTo(path, descriptor)) rmSync(path, { force: true });
}

/** @throws an error like the system's `EEXIST` if another command has replaced the open file */
export function assertOwn(path: string, descriptor: number): void {
  if (leadsTo(path, descriptor)) return;
  const message = `EEXIST: another command has replaced ${path}`;
  throw Object.assign(new Error(message), { code: 'EEXIST', syscall: 'open' });
}

function leadsTo(path: string, descriptor: number): boolean {
  const { ino, dev } = fstatSync(descriptor, { bigint: true });
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found?.ino === ino && found.dev === dev;
}

/**
 * Leaves no file after an error.
 * @throws CommandError `refused`, also if another command writes the same file
 */
export async function writePrivately(
  path: string,
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const incomplete = path + INCOMPLETE;
  const descriptor = await refusing(refused(path), () => {
    rmSync(incomplete, { force: true });
    return openPrivateFile(incomplete);
  });
  try {
    for await (const part of parts) await refusing(refused(path), () => writeFileSync(descriptor, part));
    await refusing(refused(path), () => {
      assertOwn(incomplete, descriptor);
      renameSync(incomplete, path);
    });
  } catch (error) {
    removeOwn(incomplete, descriptor);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** A killed export must not leave a file that looks complete. */
const INCOMPLETE = '.part';

export const refused = (path: string) => (code: string) =>
  new CommandError(EXIT.refused, `${path} cannot be written (${code}).`);
