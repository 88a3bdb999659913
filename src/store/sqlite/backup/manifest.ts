/**
 * `manifest.json` of a backup: what it says of its files. Which files these are is in
 * files/registry-files.ts. A folder without one is not a backup.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backup, BackupFile, GenerationPosition } from '../../ports/backup.ts';
import { StorageError } from '../../ports/storage-error.ts';
import { DATABASE_FILES } from '../files/registry-files.ts';

export const MANIFEST_NAME = 'manifest.json';
/** Rises when an older release would misread a backup. */
const FORMAT = 1;

export interface ManifestFile extends BackupFile {
  /** As in SQLite's header. */
  readonly applicationId: number;
}

export interface Manifest extends Backup {
  /** Higher than that of every backup beside which it was written. */
  readonly number: number;
  readonly files: readonly ManifestFile[];
}

/** A manifest that cannot be relied on; the message begins with its name. */
export class ManifestError extends Error {
  constructor(reason: string) {
    super(`${MANIFEST_NAME}: ${reason}`);
  }
}

/** The text of a manifest; its last field is a hash of all others. */
export function formatManifest({ program, instantMs, files, rows, sequence, number }: Manifest): string {
  const document = {
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
    ...(sequence === undefined ? {} : describeSequence(sequence)),
    number,
  };
  return `${JSON.stringify({ ...document, manifest_sha256: hashOf(document) }, undefined, 2)}\n`;
}

const describeSequence = ({ epoch, lastSequence, generation }: GenerationPosition) => ({
  epoch,
  last_sequence: lastSequence,
  generation,
});

const hashOf = (document: object): string =>
  createHash('sha256').update(JSON.stringify(document)).digest('hex');

/**
 * Reads the manifest of a folder.
 * @throws StorageError `unusable` when the folder has none, or one of a newer release; ManifestError when it
 * cannot be relied on
 */
export function readManifest(folder: string): Manifest {
  let text: string;
  try {
    text = readFileSync(join(folder, MANIFEST_NAME), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' || code === 'ENOTDIR' ? '' : ` that can be read (${code})`;
    throw new StorageError('unusable', `There is no backup${reason} in ${folder}.`, { cause: error });
  }
  return parseManifest(text, folder);
}

function parseManifest(text: string, folder: string): Manifest {
  const { manifest_sha256: hash, ...document } = parseObject(text);
  const { format, program, instant, files, rows, number = 0 } = document;
  if (isCount(format) && format > FORMAT) {
    throw new StorageError(
      'unusable',
      `The backup in ${folder} was written by a newer release ` +
        `(format ${format}, this one knows ${FORMAT}). Use that release.`,
    );
  }
  if (hash !== hashOf(document)) throw new ManifestError('it was changed after it was written.');
  const instantMs = Date.parse(String(instant));
  const isKnown =
    format === FORMAT && typeof program === 'string' && !Number.isNaN(instantMs) && Array.isArray(files);
  if (!isKnown || !isRecordOfCounts(rows)) throw new ManifestError('it is not the manifest of a backup.');
  if (!isCount(number)) throw new ManifestError('it does not say its number.');
  return { program, instantMs, files: parseFiles(files), rows, sequence: parseSequence(document), number };
}

/** Neither is in the backup of a registry that has lost its epoch. */
function parseSequence(document: { readonly [name: string]: unknown }): Manifest['sequence'] {
  const { epoch, last_sequence: lastSequence, generation = 0 } = document;
  if (epoch === undefined && lastSequence === undefined) return undefined;
  if (typeof epoch !== 'string' || !isCount(lastSequence) || !isCount(generation))
    throw new ManifestError('it does not say where the sequence of changes has got to.');
  return { epoch, lastSequence, generation };
}

function parseObject(text: string): { [name: string]: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ManifestError('it is not JSON.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new ManifestError('it is not the manifest of a backup.');
}

/** Every name must be a known one: a path would lead out of the folder. */
function parseFiles(entries: readonly unknown[]): ManifestFile[] {
  const files = entries.map(parseFile);
  for (const { name, isOptional } of DATABASE_FILES) {
    const count = files.filter((file) => file.name === name).length;
    if (count > 1 || (count === 0 && !isOptional))
      throw new ManifestError(`it names ${name} ${count === 0 ? 'nowhere' : 'twice'}.`);
  }
  return files;
}

function parseFile(entry: unknown): ManifestFile {
  const { name, bytes, sha256, ...header } = entry as { [name: string]: unknown };
  const { application_id: applicationId, schema_version: schemaVersion } = header;
  const known = DATABASE_FILES.find((file) => file.name === name);
  if (known === undefined) throw new ManifestError('it names a file that no backup has.');
  const isHash = typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256);
  if (!isHash || !isCount(bytes) || !isCount(applicationId) || !isCount(schemaVersion))
    throw new ManifestError(`it does not describe ${known.name}.`);
  return { name: known.name, bytes, sha256, applicationId, schemaVersion };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isRecordOfCounts = (value: unknown): value is Manifest['rows'] =>
  typeof value === 'object' && value !== null && Object.values(value).every(isCount);
