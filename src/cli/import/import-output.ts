/** What an import command shows, to a person or to a program. */

import type { Awaitable } from '../../domain/values/awaitable.ts';
import { say } from '../../domain/values/message.ts';
import type { RecordSource } from '../../import/formats/source/records.ts';
import type { FileReport, ImportFile } from '../../import/run/import-report.ts';
import type { FileFindings } from '../../import/table/read-and-check.ts';
import type { CheckedFile, RegistrySize } from '../../store/contract/import/import-session.ts';
import type { ImportWarning } from '../../store/contract/import/import-warnings.ts';

/** A file that was read and checked, before anything of it is written. */
export interface FileToShow {
  readonly file: ImportFile;
  readonly checked: CheckedFile;
  readonly source: RecordSource;
  readonly findings: FileFindings;
}

/** Those that stop the file first. */
export const warningsOf = ({
  checked,
  findings,
}: Pick<FileToShow, 'checked' | 'findings'>): readonly ImportWarning[] => [
  ...checked.warnings,
  ...findings.warnings,
];

/** What the operator or a program sees of an import, while it runs and afterwards. */
export interface ImportOutput {
  /** Before the first file. */
  begin(registry: RegistrySize): void;
  checked(shown: FileToShow): Awaitable<void>;
  finished(report: FileReport): void;
  /** After the last file. */
  end(reports: readonly FileReport[], registry: RegistrySize): void;
}

/** Of a file that warnings stop. */
export const STOPPED = say('Stopped by warnings. Look at them; to import the file nevertheless, add --yes.');

/** Of a file that its faults refuse, and that such warnings would stop as well. */
export const STOPS_TOO = say(
  'Correct the faults first; --yes does not help. Look at the warnings as well: it may be the wrong file.',
);

export const rowsPerSecond = ({ rows, seconds }: FileReport): number =>
  Math.round(rows / Math.max(seconds, 0.001));
