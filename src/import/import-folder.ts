/** A folder of CSV files → the files of each kind, in the order in which they refer to each other. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { IMPORT_KINDS } from '../store/ports/import-session.ts';
import type { ImportFile } from './import-files.ts';

/**
 * Files called `<kind>*.csv`, in order of kind and name.
 * @returns also the names of the CSV files that belong to no kind and are skipped
 */
export function listImportFiles(folder: string): { files: ImportFile[]; skipped: string[] } {
  const names = readdirSync(folder)
    .filter((name) => /\.csv$/i.test(name))
    .sort();
  const files = IMPORT_KINDS.flatMap((kind) =>
    names.filter((name) => name.startsWith(kind)).map((name) => ({ kind, path: join(folder, name) })),
  );
  return { files, skipped: names.filter((name) => !IMPORT_KINDS.some((kind) => name.startsWith(kind))) };
}
