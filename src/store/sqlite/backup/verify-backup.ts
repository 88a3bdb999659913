/** Checks a backup: what its manifest says of each file, and what is in the files. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckedBackup } from '../../contract/backup.ts';
import { hashFile } from '../files/durable-files.ts';
import { DATABASE_FILES, SIDE_SUFFIXES } from '../files/registry-files.ts';
import { isLedgerFileOfBackup } from '../ledger/ledger-files.ts';
import { type Inspection, inspectDatabase } from './inspect.ts';
import { findLedgerFault } from './ledger-copy.ts';
import { type Manifest, ManifestError, type ManifestFile, readManifest } from './manifest.ts';

/**
 * Reads every byte of a backup and changes nothing.
 * @throws StorageError `unusable` when there is no backup in the folder, or one of a newer release
 */
export async function verifyBackup(folder: string): Promise<CheckedBackup> {
  let manifest: Manifest;
  try {
    manifest = readManifest(folder);
  } catch (error) {
    if (error instanceof ManifestError) return { backup: undefined, fault: error.message, ledgerFault: null };
    throw error;
  }
  let ledgerFault: string | null = null;
  for (const file of manifest.files) {
    const isOfLedger = isLedgerFileOfBackup(file.name);
    const path = join(folder, file.name);
    const fault =
      findWrongFile(path, file) ??
      (await findWrongBytes(path, file)) ??
      (isOfLedger ? undefined : findWrongInside(inspectDatabase(path, 'full'), file, manifest));
    if (fault === undefined) continue;
    if (!isOfLedger) return { backup: manifest, fault: `${file.name}: ${fault}`, ledgerFault: null };
    ledgerFault ??= `${file.name}: ${fault}`;
  }
  return { backup: manifest, fault: null, ledgerFault: ledgerFault ?? findLedgerFault(folder) };
}

/** Whether the file is there as the manifest says, without reading it. */
export function findWrongFile(path: string, { bytes }: ManifestFile): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return 'it is missing.';
  if (!found.isFile()) return 'it is not a file.';
  if (found.size !== bytes) return `it has ${found.size} bytes instead of ${bytes}.`;
  // SQLite would take it for a part of the database.
  const side = SIDE_SUFFIXES.find((suffix) => existsSync(path + suffix));
  return side === undefined
    ? undefined
    : `a file that does not belong to the backup is beside it, with ${side}.`;
}

async function findWrongBytes(path: string, { sha256 }: ManifestFile): Promise<string | undefined> {
  try {
    const hash = await hashFile(path);
    return hash.sha256 === sha256 ? undefined : 'its content has changed: the SHA-256 differs.';
  } catch (error) {
    return `it cannot be read: ${(error as Error).message}.`;
  }
}

export function findWrongContent(
  { fault, applicationId, schemaVersion }: Inspection,
  file: ManifestFile,
): string | undefined {
  if (fault !== null) return `it is damaged: ${fault}.`;
  const schema = DATABASE_FILES.find(({ name }) => name === file.name)?.schema;
  if (applicationId !== file.applicationId || applicationId !== schema?.applicationId)
    return `it ${schema?.mistakenFor?.[applicationId] ?? 'belongs to another application.'}`;
  if (schemaVersion !== file.schemaVersion)
    return `it has schema ${schemaVersion} instead of ${file.schemaVersion}.`;
  const newest = schema.migrations.length;
  return schemaVersion > newest
    ? `it was written by a newer release (schema ${schemaVersion}, this one knows ${newest}).`
    : undefined;
}

/** As `findWrongContent`; of the registry also whether the manifest names its rows and its sequence. */
function findWrongInside(found: Inspection, file: ManifestFile, manifest: Manifest): string | undefined {
  const wrong = findWrongContent(found, file);
  const isRegistry = DATABASE_FILES.some(({ name, isOptional }) => name === file.name && !isOptional);
  if (wrong !== undefined || !isRegistry) return wrong;
  const { rows, sequence } = manifest;
  const table = Object.keys(found.rows).find((name) => name in rows && rows[name] !== found.rows[name]);
  if (table !== undefined) return `it has ${found.rows[table]} rows of ${table} instead of ${rows[table]}.`;
  if (sequence === undefined) return undefined;
  return found.sequence?.epoch === sequence.epoch && found.sequence.lastSequence === sequence.lastSequence
    ? undefined
    : 'its sequence of changes is not the one that the manifest names.';
}
