/** Erases persons from a restored copy who were erased since the backup (docs/backup.md#erased-persons). */

import { createSecretKey } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  type OperationOptions,
  type OperationScope,
  openOperationScope,
} from '../journal/command-transaction.ts';
import { clearFreeSpace, eraseMembers } from '../people/corrections/persons-erase.ts';
import { runCorrection } from '../people/corrections/run-correction.ts';
import {
  addErasures,
  type Erasures,
  erasedSince,
  hashIdentity,
  isOfRegistry,
  mergeErasures,
  numberOfAnother,
  ownNumber,
  readErasures,
  readErasuresFile,
} from '../registry/stored/erasures.ts';
import type { Connection } from '../sqlite/connection.ts';
import { copyPrivately, syncPath } from '../sqlite/durable-files.ts';
import { withDatabase } from '../sqlite/open-database.ts';
import { erasuresFileOf } from '../sqlite/registry-files.ts';
import { StorageError } from '../sqlite/storage-error.ts';
import type { RestoredErasures, RestoreOptions, SequencePosition } from './backup-types.ts';

const REASON = 'Erased again: the backup was older than the erasure.';

/** Sources of erasures that the backup does not know. */
interface ErasureSources {
  /** Location of the registry that is being restored. */
  readonly databaseFile: string;
  /** The registry to be replaced, whether or not it exists. */
  readonly oldDatabase: string;
  /** Folder with the copies of the backup. */
  readonly copies: string;
}

interface FoundErasures {
  /** All known erasures. */
  readonly newest: Erasures;
  /** Erasures known from sources other than the backup. */
  readonly beyond: Erasures;
  /** True if a source is complete up to now: no later erasure can be missing from it. */
  readonly isUpToDate: boolean;
}

/** @throws StorageError when a file of erasures cannot be used */
export async function findErasures(
  { databaseFile, oldDatabase, copies }: ErasureSources,
  given: string | undefined,
  sequence: SequencePosition | undefined,
): Promise<FoundErasures> {
  const copy = join(copies, 'registry.db');
  const isOwn = (erasures: Erasures) => isOfRegistry(erasures, copy);
  const fromElsewhere = given === undefined ? undefined : await readGiven(given, copies);
  if (fromElsewhere !== undefined && !isOwn(fromElsewhere))
    throw new StorageError('unusable', `${given} is a file of erasures of another registry.`);
  const found = [readErasuresFile(erasuresFileOf(databaseFile)), fromElsewhere, readOldRegistry(oldDatabase)];
  const beyond = mergeErasures(...(found.filter((each) => each !== undefined && isOwn(each)) as Erasures[]));
  const ofBackup = readErasuresFile(join(copies, basename(erasuresFileOf('registry.db'))));
  const isUpToDate = fromElsewhere !== undefined || isContinued(oldDatabase, sequence);
  return { newest: ofBackup === undefined ? beyond : mergeErasures(beyond, ofBackup), beyond, isUpToDate };
}

/**
 * True if the file's registry is the one that was backed up, or continues it. Every restore renews the epoch,
 * so that a spare machine's copy does not count.
 */
function isContinued(file: string, sequence: SequencePosition | undefined): boolean {
  if (sequence === undefined) return false;
  try {
    const sql = 'SELECT 1 FROM feed WHERE epoch = ? AND (SELECT coalesce(max(sequence), 0) FROM events) >= ?';
    const { epoch, lastSequence } = sequence;
    return withDatabase(
      file,
      { readOnly: true, waitMs: 0 },
      (db) => db.row(sql, [epoch, lastSequence]) !== undefined,
    );
  } catch {
    return false;
  }
}

/** Reads a copy of the given file, as that may be on a read-only disk. */
async function readGiven(file: string, copies: string): Promise<Erasures | undefined> {
  const copy = join(copies, 'given.erasures.db');
  if (!existsSync(file)) throw new StorageError('unusable', `There is no file ${file}.`);
  if (!statSync(file).isFile()) throw new StorageError('unusable', `${file} is not a file.`);
  try {
    for (const suffix of ['', '-wal']) {
      if (suffix === '' || existsSync(file + suffix)) await copyPrivately(file + suffix, copy + suffix);
    }
    return readErasuresFile(copy);
  } catch (error) {
    const reason = (error as Error).message.replaceAll(copy, 'It');
    throw new StorageError('unusable', `${file} is not a file of erasures that can be read. ${reason}`, {
      cause: error,
    });
  }
}

/** Returns undefined for a damaged registry too: the file of erasures beside it then has to do. */
function readOldRegistry(file: string): Erasures | undefined {
  try {
    return readRegistry(file);
  } catch {
    return undefined;
  }
}

const readRegistry = (file: string): Erasures =>
  withDatabase(file, { readOnly: true, waitMs: 0 }, readErasures);

/** Requirements of an erasure: the format of the read model, and a clock that never steps back. */
export type RestoreScope = Pick<OperationOptions, 'format' | 'monotonicMs'>;

interface EraseOptions extends RestoreOptions {
  /** Instant of the backup, in epoch milliseconds. */
  readonly instantMs: number;
  /** Called after each change on disk. */
  readonly onStep: (step: string) => void;
}

export interface ErasedAgain {
  /** All erasures known now. */
  readonly all: Erasures;
  readonly report: RestoredErasures;
  /** True if the copy now has the newest schema, whichever release wrote the backup. */
  readonly isMigrated: boolean;
}

/**
 * Erases the persons from a copy that no other process has open; one of an older release is migrated first.
 * @param copy of the registry, as it is in the backup
 * @throws StorageError when the disk is full
 */
export function eraseAgain(
  copy: string,
  { newest, beyond, isUpToDate }: FoundErasures,
  scope: RestoreScope,
  options: EraseOptions,
): ErasedAgain {
  const known = readRegistry(copy);
  const since = new Set(erasedSince(newest, known));
  const members = since.size === 0 ? [] : eraseFrom(copy, newest, since, scope, options);
  const all = mergeErasures(newest, known);
  // Another copy of the registry may be as old as the backup, unless it has a later erasure.
  const isNewer =
    isUpToDate || [...beyond.erasedAt.values()].some((seconds) => seconds * 1000 >= options.instantMs);
  // A source that lacks erasures of the backup is older than it, or of another registry.
  const isComplete =
    beyond.secrets.includes(known.secrets[0] ?? '') && erasedSince(known, beyond).length === 0;
  const last = all.erasedAt.size === 0 ? undefined : Math.max(...all.erasedAt.values());
  return {
    all,
    isMigrated: since.size > 0,
    report: {
      members,
      unknownSinceMs: isNewer && isComplete ? undefined : options.instantMs,
      lastSeconds: last,
    },
  };
}

function eraseFrom(
  copy: string,
  newest: Erasures,
  since: ReadonlySet<string>,
  shared: RestoreScope,
  { now, systemUser, onStep }: EraseOptions,
): number[] {
  const scope = openOperationScope(copy, { ...shared, waitMs: 0 });
  const { db } = scope;
  const nowSeconds = Math.floor(now() / 1000);
  try {
    const persons = findPersons(db, newest, since);
    for (const [identityCard, members] of persons) {
      const correction = eraseMembers(db, identityCard, members, nowSeconds);
      const result = runCorrection(scope, correction, { reason: REASON, systemUser, nowSeconds });
      if (result.outcome === 'refused') throw new Error(String(result.message));
      if (result.errorAfterCommit !== undefined) throw result.errorAfterCommit;
      onStep('erased a person');
    }
    addErasures(db, newest, 'registry');
    onStep('erasures added');
    if (persons.size > 0) clear(scope, nowSeconds);
    return [...persons.values()].flat().sort((a, b) => a - b);
  } finally {
    db.close();
    syncPath(copy);
  }
}

function clear({ db }: OperationScope, nowSeconds: number): void {
  if (clearFreeSpace(db, nowSeconds, 0) === undefined) return;
  throw new StorageError(
    'failed',
    'The disk has no room to erase from the backup who was erased since. Nothing was restored.',
  );
}

/** Finds each member's current national ID, and each former one that led to it at the time of the backup. */
const NUMBERS = [
  'SELECT id, identity_card, identity_card FROM members ORDER BY identity_card',
  `SELECT m.id, m.identity_card, f.old FROM former_identity_cards f
   JOIN members m ON m.identity_card = f.new`,
];

/** Returns the members erased since, by national ID. */
function findPersons(db: Connection, newest: Erasures, since: ReadonlySet<string>): Map<string, number[]> {
  // Key objects are prepared once instead of once for each of millions of numbers.
  const keys = newest.secrets.map((secret) => createSecretKey(Buffer.from(secret, 'hex')));
  const isAmong = (hashes: { has(hash: string): boolean }, text: string): boolean =>
    keys.some((key) => hashes.has(hashIdentity(key, text).toString('hex')));
  const found = new Map<string, Set<number>>();
  for (const sql of NUMBERS)
    for (const row of db.raw.prepare(sql).raw().iterate()) {
      const [id, identityCard, number] = row as [number, string, string];
      const isErased = isAmong(since, number)
        ? !isAmong(newest.erasedAt, numberOfAnother(id, number))
        : isAmong(since, ownNumber(id, number));
      if (isErased) found.set(identityCard, (found.get(identityCard) ?? new Set()).add(id));
    }
  return new Map([...found].map(([identityCard, ids]) => [identityCard, [...ids]]));
}
