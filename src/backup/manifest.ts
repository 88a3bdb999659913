/** Reads and formats the `manifest.json` of a backup. A folder without a manifest is not a backup. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLedgerFileOfBackup } from '../ledger/ledger-files.ts';
import { deniedMessage } from '../runtime/process.ts';
import { readRegistryId } from '../sqlite/registry-facts.ts';
import { DATABASE_FILES, findDatabase } from '../sqlite/registry-files.ts';
import { StorageError } from '../sqlite/sqlite-errors.ts';
import type { SequencePosition } from '../sqlite/storage.ts';

export const MANIFEST_NAME = 'manifest.json';
/** Version of the format. Increase it if older releases would misread a backup. */
const FORMAT = 2;

export interface ManifestFile {
  readonly name: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly application_id: number;
  readonly schema_version: number;
}

export interface Manifest {
  /** Version of the program that wrote the backup. */
  readonly program: string;
  /** Epoch milliseconds. The backup has all writes that were acknowledged before this instant. */
  readonly instantMs: number;
  readonly files: readonly ManifestFile[];
  readonly rows: { readonly [table: string]: number };
  /** Undefined for a registry without an epoch, a fault that `check` reports. */
  readonly sequence: SequencePosition | undefined;
  /** Undefined if the registry's id cannot be read. */
  readonly registryId: string | undefined;
  /** Number of a backup of 1.0.0; 0 for a backup of a later release, which numbers the folder instead. */
  readonly number: number;
}

export class ManifestError extends Error {
  constructor(reason: string) {
    super(`${MANIFEST_NAME}: ${reason}`);
  }
}

/** The last field is a hash of all other fields. */
export function formatManifest(manifest: Manifest): string {
  const document = toDocument(manifest);
  return `${JSON.stringify({ ...document, manifest_sha256: hashOf(document) }, undefined, 2)}\n`;
}

const toDocument = ({ program, instantMs, files, rows, sequence, registryId }: Manifest) => ({
  format: FORMAT,
  program,
  instant: new Date(instantMs).toISOString(),
  files,
  rows,
  epoch: sequence?.epoch,
  last_sequence: sequence?.lastSequence,
  registry_id: registryId,
});

const hashOf = (document: object): string => hash('sha256', JSON.stringify(document));

/**
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

/** File names are checked even if the hash is correct, since a forged manifest can have a correct hash. */
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
    files,
    rows,
    sequence: lastSequence === undefined ? undefined : { epoch: epoch as string, lastSequence },
    // Manifests of 1.0.0 lack the id.
    registryId: document.registry_id ?? readRegistryId(join(folder, 'registry.db')),
    number: document.number ?? 0,
  };
}

type StoredDocument = ReturnType<typeof toDocument> & {
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
 * True for the database of a module that this program lacks, such as webhooks. Verification checks only the
 * size and hash of the file. A restore leaves the file in the backup.
 */
export const isUnknownFile = (name: string): boolean =>
  /^registry\.[a-z-]+\.db$/.test(name) && !isLedgerFileOfBackup(name) && findDatabase(name) === undefined;

/** @throws ManifestError for an unexpected file name, which could be a path outside the folder */
function assertNames(names: readonly string[]): void {
  if (names.some((name) => !findDatabase(name) && !isLedgerFileOfBackup(name) && !isUnknownFile(name)))
    throw new ManifestError('it names a file that no backup has.');
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw new ManifestError(`it names ${repeated} twice.`);
  for (const { name, isOptional } of DATABASE_FILES)
    if (!isOptional && !names.includes(name)) throw new ManifestError(`it names ${name} nowhere.`);
}
