/**
 * Reads and writes the `manifest.json` of a backup, which describes the other files
 * (src/sqlite/registry-files.ts). A folder without a manifest is not a backup.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLedgerFileOfBackup } from '../ledger/ledger-files.ts';
import { deniedMessage } from '../runtime/process.ts';
import { readRegistryId } from '../sqlite/registry-facts.ts';
import { DATABASE_FILES } from '../sqlite/registry-files.ts';
import type { SequencePosition } from '../sqlite/storage.ts';
import { StorageError } from '../sqlite/storage-error.ts';

export const MANIFEST_NAME = 'manifest.json';
/** Increased when an older release would misread a backup. */
const FORMAT = 2;

export interface ManifestFile {
  readonly name: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** `application_id` in the header of the SQLite file. */
  readonly applicationId: number;
  readonly schemaVersion: number;
}

export interface Manifest {
  /** Version of the program that wrote it. */
  readonly program: string;
  /** Epoch milliseconds: every write acknowledged before this instant is in the backup. */
  readonly instantMs: number;
  readonly files: readonly ManifestFile[];
  /** Row counts by table, as a measure of the registry's size. */
  readonly rows: { readonly [table: string]: number };
  /** Undefined for a registry that has lost its epoch, which `check` reports. */
  readonly sequence: SequencePosition | undefined;
  /** Undefined if the registry's id cannot be read. */
  readonly registryId: string | undefined;
  /** Number among the backups of 1.0.0 in a folder. Always 0 in later backups, with numbered folder names. */
  readonly number: number;
}

/** A manifest that is damaged or was changed. The message begins with the file's name. */
export class ManifestError extends Error {
  constructor(reason: string) {
    super(`${MANIFEST_NAME}: ${reason}`);
  }
}

/** Formats a manifest. The last field is a hash of all other fields. */
export function formatManifest(manifest: Manifest): string {
  const document = toDocument(manifest);
  return `${JSON.stringify({ ...document, manifest_sha256: hashOf(document) }, undefined, 2)}\n`;
}

type ManifestDocument = ReturnType<typeof toDocument>;

const toDocument = ({ program, instantMs, files, rows, sequence, registryId }: Manifest) => ({
  format: FORMAT,
  program,
  instant: new Date(instantMs).toISOString(),
  files: files.map((file) => ({
    name: file.name,
    bytes: file.bytes,
    sha256: file.sha256,
    application_id: file.applicationId,
    schema_version: file.schemaVersion,
  })),
  rows,
  epoch: sequence?.epoch,
  last_sequence: sequence?.lastSequence,
  registry_id: registryId,
});

const hashOf = (document: object): string => hash('sha256', JSON.stringify(document));

/**
 * Reads the manifest of a folder.
 * @throws StorageError `unusable` when the folder has no manifest, or the manifest of a newer release;
 * ManifestError when the manifest is damaged or was changed
 */
export function readManifest(folder: string): Manifest {
  let text: string;
  try {
    text = readFileSync(join(folder, MANIFEST_NAME), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' || code === 'ENOTDIR' ? '' : ` that can be read (${code})`;
    const message =
      code === 'EACCES' ? String(deniedMessage(folder)) : `There is no backup${reason} in ${folder}.`;
    throw new StorageError('unusable', message, { cause: error });
  }
  return parseManifest(text, folder);
}

/** Parses a manifest. File names are checked even if the hash is correct, since anyone can compute a hash. */
function parseManifest(text: string, folder: string): Manifest {
  const { manifest_sha256: sha256, ...document } = parseDocument(text);
  if (document.format > FORMAT) {
    throw new StorageError(
      'unusable',
      `The backup in ${folder} was written by a newer release ` +
        `(format ${document.format}, this one knows ${FORMAT}). Use that release.`,
    );
  }
  if (sha256 !== hashOf(document)) throw new ManifestError('it was changed after it was written.');
  const { program, instant, files, rows, epoch, last_sequence: lastSequence } = document;
  assertNames(files.map(({ name }) => name));
  return {
    program,
    instantMs: Date.parse(instant),
    files: files.map((file) => ({
      name: file.name,
      bytes: file.bytes,
      sha256: file.sha256,
      applicationId: file.application_id,
      schemaVersion: file.schema_version,
    })),
    rows,
    sequence: lastSequence === undefined ? undefined : { epoch: epoch as string, lastSequence },
    // Manifests of 1.0.0 lack the id, which is then read from the registry.
    registryId: document.registry_id ?? readRegistryId(join(folder, 'registry.db')),
    number: document.number ?? 0,
  };
}

type StoredDocument = ManifestDocument & {
  readonly manifest_sha256: unknown;
  /** Present only in manifests of 1.0.0. */
  readonly number?: number;
};

function parseDocument(text: string): StoredDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ManifestError('it is not JSON.');
  }
  const document = Object(value);
  if (Number.isSafeInteger(document.format)) return document;
  throw new ManifestError('it is not the manifest of a backup.');
}

/**
 * True for the database of a module that this program does not have, such as webhooks. Verification checks
 * only its size and hash; a restore skips it, and it stays in the backup.
 */
export const isUnknownFile = (name: string): boolean =>
  /^registry\.[a-z-]+\.db$/.test(name) &&
  !isLedgerFileOfBackup(name) &&
  !DATABASE_FILES.some((file) => file.name === name);

/** @throws ManifestError for an unexpected file name, since a path could point outside the folder */
function assertNames(names: readonly string[]): void {
  const isDatabase = (name: string) => DATABASE_FILES.some((file) => file.name === name);
  if (names.some((name) => !isDatabase(name) && !isLedgerFileOfBackup(name) && !isUnknownFile(name)))
    throw new ManifestError('it names a file that no backup has.');
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw new ManifestError(`it names ${repeated} twice.`);
  for (const { name, isOptional } of DATABASE_FILES)
    if (!isOptional && !names.includes(name)) throw new ManifestError(`it names ${name} nowhere.`);
}
