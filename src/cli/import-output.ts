/** What an import command shows, to a person or to a program. */
import type { FileReport, ImportFile } from '../import/import-files.ts';
import type { CheckedFile, RegistrySize } from '../store/ports/import-session.ts';

/** What the operator or a program sees of an import, while it runs and afterwards. */
export interface ImportOutput {
  /** Before the first file. */
  begin(registry: RegistrySize): void;
  checked(file: ImportFile, checked: CheckedFile): Promise<void>;
  finished(report: FileReport): void;
  /** After the last file. */
  end(reports: readonly FileReport[], registry: RegistrySize): void;
}

export const rowsPerSecond = ({ rows, seconds }: FileReport): number =>
  Math.round(rows / Math.max(seconds, 0.001));
