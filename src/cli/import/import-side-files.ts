/** The files that an import writes beside the registry: `--rejects`, `--changes` and `--absent`. */
import { rmSync } from 'node:fs';
import { Message } from '../../domain/values/message.ts';
import { ImportError, type ImportFile } from '../../import/run/import-report.ts';
import { createListFile, isListFile, type ListFile, type ListFormat } from '../../import/run/list-file.ts';
import type { Storage } from '../../store/contract/storage.ts';
import { CommandError, EXIT } from '../terminal/context.ts';
import { assertPlace, refusing } from '../terminal/places.ts';

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
  const instead = `another file for ${option}`;
  const failed = (code: string) =>
    new CommandError(EXIT.usage, `${path} cannot be written (${code}). Choose ${instead}.`);
  return refusing(failed, async () => {
    await assertPlace(path, {
      storage,
      instead,
      insteadOfFolder: `another one for ${option}`,
      inputs: { paths: files.map((file) => file.path), are: 'is to be imported' },
      replaces: { kind: name, accepts: isReplaceable },
    });
    rmSync(path, { force: true });
    return create(path);
  });
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
export const appendTo = <Row>(file: ListFile<Row>, lost: string, rows: Iterable<Row>): Promise<void> =>
  refusing(
    (reason, cause) => new ImportError(new Message(lost, { reason }), { cause }),
    () => file.append(rows),
  );
