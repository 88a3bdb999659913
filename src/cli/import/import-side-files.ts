/** The files that an import writes beside the registry: `--rejects`, `--changes` and `--absent`. */
import { existsSync, realpathSync, rmSync, statSync } from 'node:fs';
import { Message } from '../../domain/values/message.ts';
import { ImportError, type ImportFile } from '../../import/run/import-report.ts';
import { createListFile, isListFile, type ListFile, type ListFormat } from '../../import/run/list-file.ts';
import { systemCodeOf } from '../../runtime/system-code.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import { assertFolderOf } from '../terminal/options.ts';

export interface SideFileKind<T> {
  /** Such as `--rejects`. */
  readonly option: string;
  /** Such as `a rejects file`. */
  readonly name: string;
  /** Whether an existing file may be replaced: it is empty, or an earlier one of this kind. */
  readonly isReplaceable: (path: string) => Promise<boolean>;
  readonly create: (path: string) => Promise<T>;
}

/**
 * Creates the file before anything is imported, so that a place that cannot be written stops nothing halfway.
 * An earlier file of the kind is replaced, so that the new one has its own mode.
 * @param files that are to be imported
 * @throws CommandError `usage` when it is another existing file, one of the registry or one to be imported
 */
export async function openSideFile<T>(
  path: string,
  { option, name, isReplaceable, create }: SideFileKind<T>,
  files: readonly ImportFile[],
  storage: Storage,
): Promise<T> {
  const refuse = (reason: string, another = 'another file') =>
    new CommandError(EXIT.usage, `${path} ${reason}. Choose ${another} for ${option}.`);
  assertFolderOf(path);
  if (storage.ownsFile(path)) throw refuse('is a file of the registry');
  try {
    if (existsSync(path)) {
      if (!statSync(path).isFile()) throw refuse('is not a file', 'another one');
      if (files.some((file) => realpathSync(file.path) === realpathSync(path)))
        throw refuse('is to be imported');
      if (!(await isReplaceable(path))) throw refuse(`already exists and is not ${name}`);
    }
    rmSync(path, { force: true });
    return await create(path);
  } catch (error) {
    const reason = systemCodeOf(error);
    throw reason === undefined ? error : refuse(`cannot be written (${reason})`);
  }
}

/** @throws CommandError `usage`, likewise */
export const openListFile = <Row>(
  path: string,
  { format, ...kind }: Pick<SideFileKind<unknown>, 'option' | 'name'> & { readonly format: ListFormat<Row> },
  files: readonly ImportFile[],
  storage: Storage,
): Promise<ListFile<Row>> =>
  openSideFile(
    path,
    {
      ...kind,
      isReplaceable: (file) => isListFile(file, format),
      create: (file) => createListFile(file, format),
    },
    files,
    storage,
  );

/**
 * @param lost the template of what is said when the disk takes no more, with a place for the reason
 * @throws ImportError then
 */
export async function appendTo<Row>(
  file: ListFile<Row>,
  lost: string,
  rows: AsyncIterable<Row>,
): Promise<void> {
  try {
    await file.append(rows);
  } catch (error) {
    const reason = systemCodeOf(error);
    if (reason === undefined) throw error;
    throw new ImportError(new Message(lost, { reason }), { cause: error });
  }
}
