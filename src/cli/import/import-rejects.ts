/** Where the refused rows of an import go: `--rejects`. */

import { say } from '../../domain/values/message.ts';
import type { RecordSource } from '../../import/formats/source/records.ts';
import {
  createRejectsFile,
  hasRepeatedRow,
  isReplaceable,
  type RejectsFile,
  rejectsPath,
} from '../../import/rejects/rejects-file.ts';
import { ImportError, type ImportFile } from '../../import/run/import-report.ts';
import type { FileFindings } from '../../import/table/read-and-check.ts';
import type { Language } from '../../language/language.ts';
import type { CheckedFile } from '../../store/contract/import/import-session.ts';
import type { Storage } from '../../store/contract/storage.ts';
import { refusing } from '../terminal/places.ts';
import { openSideFile } from './import-side-files.ts';

/**
 * Each file of an import may get rejects of its own. Earlier ones are replaced, so that the new ones have
 * their own mode; anything else is refused.
 * @param language of the reasons
 * @param isForPage whether a page offers them: to people, who know columns by what they are called
 * @throws CommandError `usage`
 */
export async function openRejects(
  path: string,
  files: readonly ImportFile[],
  storage: Storage,
  language: Language,
  isForPage: boolean,
): Promise<RejectsFile> {
  const labelled = isForPage ? files[0]?.kind : undefined;
  const create = (file: string) => createRejectsFile(file, language, labelled);
  const kind = { option: '--rejects', name: 'a rejects file', isReplaceable };
  for (let place = 2; place <= files.length; place++)
    await openSideFile(rejectsPath(path, place), { ...kind, create: async () => {} }, files, storage);
  return openSideFile(path, { ...kind, create }, files, storage);
}

/**
 * @returns where the refused rows of the file are; undefined when no row is refused by itself
 * @throws ImportError when the disk takes no more
 */
export const appendRejects = (
  rejects: RejectsFile,
  checked: CheckedFile,
  source: RecordSource,
  findings: FileFindings,
): Promise<string | undefined> =>
  refusing(
    (reason, cause) =>
      new ImportError(
        say('The rejects cannot be written ({reason}). Nothing of this file was imported.', { reason }),
        { cause },
      ),
    async () => rejects.append(checked.listFaults(), source, findings, hasRepeatedRow(checked.listFaults())),
  );
