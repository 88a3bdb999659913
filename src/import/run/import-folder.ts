/** A folder → the files of each kind, in the order in which they refer to each other. */
import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { IMPORT_KINDS, type ImportKind } from '../../store/contract/import/import-session.ts';
import type { ImportFile } from './import-report.ts';

export interface SkippedFile {
  readonly name: string;
  /** Ends a sentence such as `Skipped notes.txt: it is not a .csv or .xlsx file`. */
  readonly reason: string;
}

/**
 * Files called `<kind>*.csv` or `<kind>*.xlsx` in any letter case, in order of kind and name.
 * @returns also everything else in the folder, by name
 * @throws the system's error when the folder cannot be read
 */
export function listImportFiles(folder: string): { files: ImportFile[]; skipped: SkippedFile[] } {
  const names = readdirSync(folder).sort();
  const skipped: SkippedFile[] = [];
  const found = names.flatMap((name) => {
    const reason = reasonToSkip(folder, name);
    if (reason === undefined) return name;
    skipped.push({ name, reason });
    return [];
  });
  const files = IMPORT_KINDS.flatMap((kind) =>
    found.filter((name) => kindOf(name) === kind).map((name) => ({ kind, path: join(folder, name) })),
  );
  return { files, skipped };
}

const kindOf = (name: string): ImportKind | undefined =>
  IMPORT_KINDS.find((kind) => name.toLowerCase().startsWith(kind));

function reasonToSkip(folder: string, name: string): string | undefined {
  const type = typeOf(join(folder, name));
  if (type?.isDirectory()) return 'it is a folder';
  if (type?.isFile() === false) return 'it is not a file';
  if (name.startsWith('~$')) return 'it is a lock file, which Excel keeps while a workbook is open';
  if (name.startsWith('.')) return 'it is hidden';
  if (/\.xls$/i.test(name)) return 'it is an .xls file; save it as .xlsx or "CSV UTF-8"';
  if (!/\.(?:csv|xlsx)$/i.test(name)) return 'it is not a .csv or .xlsx file';
  if (kindOf(name) !== undefined) return undefined;
  return `its name does not start with any of ${IMPORT_KINDS.join(', ')}`;
}

/** Undefined for a link that leads nowhere: that is reported when the file is opened. */
function typeOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
