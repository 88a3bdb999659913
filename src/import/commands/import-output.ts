/** Interface of the output of an import command, for a person or for a program. */

import type { RecordSource } from '../../formats/records.ts';
import type { Awaitable } from '../../values/errors.ts';
import { say } from '../../values/message.ts';
import type { FileReport, ImportFile } from '../import-report.ts';
import type { ImportWarning } from '../import-warnings.ts';
import type { CheckedFile } from '../staging/import-transaction.ts';
import type { RegistrySize } from '../staging/session.ts';
import type { FileFindings } from '../table/read-and-check.ts';

/** A file that was read and checked, before anything of it is written. */
export interface FileToShow {
  readonly file: ImportFile;
  readonly checked: CheckedFile;
  readonly source: RecordSource;
  readonly findings: FileFindings;
}

/** All warnings about a file, those that stop it first. */
export const warningsOf = ({
  checked,
  findings,
}: Pick<FileToShow, 'checked' | 'findings'>): readonly ImportWarning[] => [
  ...checked.warnings,
  ...findings.warnings,
];

/** Output of an import for the operator or a program, while it runs and afterwards. */
export interface ImportOutput {
  /** Called before the first file. */
  begin(registry: RegistrySize): void;
  checked(shown: FileToShow): Awaitable<void>;
  finished(report: FileReport): void;
  /** Called after the last file. */
  end(reports: readonly FileReport[], registry: RegistrySize): void;
}

/** Message for a file that warnings stop. */
export const STOPPED = say('Stopped by warnings. Look at them; to import the file nevertheless, add --yes.');

/** Message for a file that its faults refuse, and that such warnings would stop as well. */
export const STOPS_TOO = say(
  'Correct the faults first; --yes does not help. Look at the warnings as well: it may be the wrong file.',
);

export const rowsPerSecond = ({ rows, seconds }: FileReport): number =>
  Math.round(rows / Math.max(seconds, 0.001));
