/** Verifies a backup: each file against its manifest, and the content of the files. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { COUNTED } from '../check/check.ts';
import { findLedgerFault } from '../ledger/ledger-copy.ts';
import { isLedgerFileOfBackup } from '../ledger/ledger-files.ts';
import { Connection } from '../sqlite/connection.ts';
import { hashFile } from '../sqlite/durable-files.ts';
import { findDatabase, SIDE_SUFFIXES } from '../sqlite/registry-files.ts';
import { readSequence, type SequencePosition } from '../sqlite/storage.ts';
import { isUnknownFile, type Manifest, ManifestError, type ManifestFile, readManifest } from './manifest.ts';

export interface Inspection {
  readonly applicationId: number;
  readonly schemaVersion: number;
  /** Null if the database is intact. */
  readonly fault: string | null;
  /** Numbers of rows by table. A file of an older release may have fewer tables. */
  readonly rows: { readonly [table: string]: number };
  /** Undefined for a registry that has lost its epoch, and for files other than the registry. */
  readonly sequence: SequencePosition | undefined;
}

/**
 * Inspects a file that no other process uses.
 * @param depth `quick` checks the structure of all tables and indexes; `full` also compares indexes with
 * their tables, which takes several times as long
 */
export function inspectDatabase(file: string, depth: 'quick' | 'full'): Inspection {
  let raw: Database.Database | undefined;
  try {
    raw = new Database(file, { readonly: true, fileMustExist: true });
    const db = new Connection(raw, { readOnly: true });
    const read = (pragma: string) => raw?.pragma(pragma, { simple: true });
    // With the default cache of 16 MB, the check of a file of 3.4 GB reads 84 GB.
    read('cache_size = -262144');
    const result = read(depth === 'full' ? 'integrity_check(1)' : 'quick_check(1)');
    const isIntact = result === 'ok';
    return {
      applicationId: read('application_id') as number,
      schemaVersion: read('user_version') as number,
      fault: isIntact ? null : toOneLine(String(result)),
      rows: isIntact ? countRows(db) : {},
      sequence: isIntact && hasTable(db, 'feed') ? readSequence(db) : undefined,
    };
  } catch (error) {
    const fault = (error as Error).message;
    return { applicationId: 0, schemaVersion: 0, fault, rows: {}, sequence: undefined };
  } finally {
    raw?.close();
  }
}

/** Joins the lines of a result, without the line that only names the database. */
const toOneLine = (result: string): string =>
  result
    .replace(/^\*\*\* .* \*\*\*\n/, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '');

const countRows = (db: Connection): Inspection['rows'] =>
  Object.fromEntries(COUNTED.filter((table) => hasTable(db, table)).map((table) => [table, db.count(table)]));

const hasTable = (db: Connection, name: string): boolean =>
  db.has(`sqlite_schema WHERE type = 'table' AND name = '${name}'`);

export interface CheckedBackup {
  /** Undefined if the manifest is damaged or was changed. */
  readonly backup: Manifest | undefined;
  /** First fault, beginning with the file's name; null if the backup is sound. */
  readonly fault: string | null;
  /** Fault of the access ledger; null for a sound ledger. Without the ledger, the backup is still usable. */
  readonly ledgerFault: string | null;
}

/**
 * Reads every byte of a backup and changes nothing.
 * @throws StorageError `unusable` when the folder has no backup, or a backup of a newer release
 */
export async function checkBackup(folder: string): Promise<CheckedBackup> {
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
      (isOfLedger || isUnknownFile(file.name)
        ? undefined
        : findWrongInside(inspectDatabase(path, 'full'), file, manifest));
    if (fault === undefined) continue;
    if (!isOfLedger) return { backup: manifest, fault: `${file.name}: ${fault}`, ledgerFault: null };
    ledgerFault ??= `${file.name}: ${fault}`;
  }
  return { backup: manifest, fault: null, ledgerFault: ledgerFault ?? findLedgerFault(folder) };
}

/** Checks the file without reading it. */
export function findWrongFile(path: string, { bytes }: ManifestFile): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 'it is missing.';
  if (!stats.isFile()) return 'it is not a file.';
  if (stats.size !== bytes) return `it has ${stats.size} bytes instead of ${bytes}.`;
  // SQLite would treat a side file as part of the database.
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
  const schema = findDatabase(file.name)?.schema;
  if (applicationId !== file.application_id || applicationId !== schema?.applicationId)
    return `it ${schema?.mistakenFor?.[applicationId] ?? 'belongs to another application.'}`;
  if (schemaVersion !== file.schema_version)
    return `it has schema ${schemaVersion} instead of ${file.schema_version}.`;
  const newest = schema.migrations.length;
  return schemaVersion > newest
    ? `it was written by a newer release (schema ${schemaVersion}, this one knows ${newest}).`
    : undefined;
}

function findWrongInside(
  inspection: Inspection,
  file: ManifestFile,
  { rows, sequence }: Manifest,
): string | undefined {
  const fault = findWrongContent(inspection, file);
  if (fault !== undefined || file.name !== 'registry.db') return fault;
  const { rows: counts, sequence: position } = inspection;
  const table = Object.keys(counts).find((name) => name in rows && rows[name] !== counts[name]);
  if (table !== undefined) return `it has ${counts[table]} rows of ${table} instead of ${rows[table]}.`;
  if (sequence === undefined) return undefined;
  return position?.epoch === sequence.epoch && position.lastSequence === sequence.lastSequence
    ? undefined
    : 'its sequence of changes is not the one that the manifest names.';
}
