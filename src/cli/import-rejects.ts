/** Where the refused rows of an import go: `--rejects`. */
import { existsSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Header } from '../import/header.ts';
import { ImportError, type ImportFile, systemCodeOf } from '../import/import-files.ts';
import type { RecordSource } from '../import/records.ts';
import { createRejectsFile, isReplaceable, type RejectsFile, rejectsPath } from '../import/rejects.ts';
import type { CheckedFile } from '../store/ports/import-session.ts';
import type { Storage } from '../store/ports/storage.ts';
import { CommandError, EXIT } from './context.ts';

/**
 * Each file of an import may get rejects of its own. Earlier ones are replaced, so that the new ones have
 * their own mode; anything else is refused.
 * @throws CommandError `usage`
 */
export async function openRejects(
  path: string,
  files: readonly ImportFile[],
  storage: Storage,
): Promise<RejectsFile> {
  for (let place = 2; place <= files.length; place++)
    await openPlace(rejectsPath(path, place), files, storage, async () => {});
  return openPlace(path, files, storage, createRejectsFile);
}

async function openPlace<Opened>(
  path: string,
  files: readonly ImportFile[],
  storage: Storage,
  create: (path: string) => Promise<Opened>,
): Promise<Opened> {
  const refuse = (reason: string, another = 'another file') =>
    new CommandError(EXIT.usage, `${path} ${reason}. Choose ${another} for --rejects.`);
  if (!existsSync(dirname(path))) throw new CommandError(EXIT.usage, `There is no folder ${dirname(path)}.`);
  if (storage.ownsFile(path)) throw refuse('is a file of the registry');
  try {
    if (existsSync(path)) {
      if (!statSync(path).isFile()) throw refuse('is not a file', 'another one');
      if (files.some((file) => realpathSync(file.path) === realpathSync(path)))
        throw refuse('is to be imported');
      if (!(await isReplaceable(path))) throw refuse('already exists and is not a rejects file');
    }
    rmSync(path, { force: true });
    return await create(path);
  } catch (error) {
    const reason = systemCodeOf(error);
    throw reason === undefined ? error : refuse(`cannot be written (${reason})`);
  }
}

/**
 * @returns where the refused rows of the file are; undefined when no row is refused by itself
 * @throws ImportError when the disk takes no more
 */
export async function appendRejects(
  rejects: RejectsFile,
  checked: CheckedFile,
  source: RecordSource,
  header: Header | undefined,
): Promise<string | undefined> {
  try {
    return await rejects.append(checked.listFaults(), source, header);
  } catch (error) {
    const reason = systemCodeOf(error);
    if (reason === undefined) throw error;
    throw new ImportError(`The rejects cannot be written (${reason}). Nothing of this file was imported.`, {
      cause: error,
    });
  }
}
