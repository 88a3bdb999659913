/** How a backup is shown, to people and to programs. */

import { formatBytes } from '../../app/wording/bytes.ts';
import type { Backup } from '../../store/contract/backup.ts';
import { formatTable } from '../terminal/output.ts';

export const formatInstant = (instantMs: number): string => new Date(instantMs).toISOString();

/** The document that `--json` prints of a backup. */
export const describeBackup = (
  folder: string,
  { program, instantMs, files, rows, sequence, registryId }: Backup,
) => ({
  folder,
  program,
  instant: formatInstant(instantMs),
  files: files.map((file) => ({
    name: file.name,
    bytes: file.bytes,
    sha256: file.sha256,
    schema_version: file.schemaVersion,
  })),
  rows,
  epoch: sequence?.epoch ?? null,
  last_sequence: sequence?.lastSequence ?? null,
  registry_id: registryId ?? null,
});

/** The files and the rows of a backup, as tables. */
export function formatBackup({ files, rows, sequence }: Backup): string {
  const fileLines = files.map(({ name, bytes, schemaVersion, sha256 }) => [
    name,
    formatBytes(bytes),
    String(schemaVersion),
    `${sha256.slice(0, 16)}…`,
  ]);
  const rowLines = Object.entries(rows).map(([table, count]) => [table, String(count)]);
  const fileTable = formatTable(['FILE', 'SIZE', 'SCHEMA', 'SHA-256'], fileLines);
  const events =
    sequence === undefined ? '' : `\nEvents up to ${sequence.lastSequence} of epoch ${sequence.epoch}.\n`;
  return `${fileTable}\n${formatTable(['TABLE', 'ROWS'], rowLines)}${events}`;
}
