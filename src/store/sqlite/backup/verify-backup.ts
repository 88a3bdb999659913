/** Checks a backup: what its manifest says of each file, and what is in the files. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckedBackup } from '../../ports/backup.ts';
import { COUNTED } from '../check/check.ts';
import { hashFile } from '../files/durable-files.ts';
import { DATABASE_FILES, SIDE_SUFFIXES } from '../files/registry-files.ts';
import { countRows, inspectDatabase, readSequencePosition } from './inspect.ts';
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
  for (const file of manifest.files) {
    const path = join(folder, file.name);
    const fault =
      findWrongFile(path, file) ?? (await findWrongBytes(path, file)) ?? findWrongContent(path, file, 'full');
    if (fault !== undefined) return { backup: manifest, fault: `${file.name}: ${fault}`, ledgerFault: null };
  }
  const fault = findWrongRows(folder, manifest) ?? null;
  return { backup: manifest, fault, ledgerFault: findLedgerFault(folder) };
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

/** @param depth how thoroughly the database is examined (inspect.ts) */
export function findWrongContent(
  path: string,
  file: ManifestFile,
  depth: 'quick' | 'full',
): string | undefined {
  const { fault, applicationId, schemaVersion } = inspectDatabase(path, depth);
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

function findWrongRows(folder: string, { files, rows, sequence }: Manifest): string | undefined {
  const registry = DATABASE_FILES.find(({ isOptional }) => !isOptional);
  const name = files.find((file) => file.name === registry?.name)?.name ?? '';
  const counted = countRows(join(folder, name), COUNTED);
  const wrong = Object.keys(counted).find((table) => table in rows && rows[table] !== counted[table]);
  if (wrong !== undefined)
    return `${name}: it has ${counted[wrong]} rows of ${wrong} instead of ${rows[wrong]}.`;
  if (sequence === undefined) return undefined;
  const found = readSequencePosition(join(folder, name));
  return found?.epoch === sequence.epoch && found.lastSequence === sequence.lastSequence
    ? undefined
    : `${name}: its sequence of changes is not the one that the manifest names.`;
}
