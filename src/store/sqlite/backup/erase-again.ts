/** Erases from the copy of an older registry who was erased since (docs/backup.md#erased-persons). */
import { createSecretKey } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { RestoredErasures, RestoreOptions, SequencePosition } from '../../contract/backup.ts';
import { StorageError } from '../../contract/storage-error.ts';
import { eraseMembers } from '../corrections/persons-erase.ts';
import { runCorrection } from '../corrections/run.ts';
import type { Connection } from '../engine/connection.ts';
import { withDatabase } from '../engine/open-database.ts';
import { copyPrivately, syncPath } from '../files/durable-files.ts';
import { erasuresFileOf } from '../files/registry-files.ts';
import {
  addErasures,
  type Erasures,
  erasedSince,
  isOfRegistry,
  mergeErasures,
  readErasures,
  readErasuresFile,
} from '../identity/erasures.ts';
import { hashIdentity, numberOfAnother, ownNumber } from '../identity/identity-hash.ts';
import {
  type OperationOptions,
  type OperationScope,
  openOperationScope,
} from '../journal/command-transaction.ts';
import { clearFreeSpace } from '../persons/free-space.ts';

const REASON = 'Erased again: the backup was older than the erasure.';

/** Where to look for erasures that a backup does not know. */
export interface ErasureSources {
  /** The location of the registry that is being restored. */
  readonly databaseFile: string;
  /** The registry that is replaced, whether or not it exists. */
  readonly oldDatabase: string;
  /** The folder of the copies of the backup. */
  readonly copies: string;
}

export interface FoundErasures {
  /** All that are known. */
  readonly newest: Erasures;
  /** Those that are known from elsewhere than the backup. */
  readonly beyond: Erasures;
  /** Whether they are known from where nobody can have been erased since without being known. */
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
 * Whether the registry in a file is the one that was backed up, which has gone on since: every restore renews
 * the epoch, so that a spare machine's copy is not.
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

/** From a copy: it may be on a disk that is read-only. */
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

/** Undefined also for one that is damaged: the file of erasures beside it is what is left. */
function readOldRegistry(file: string): Erasures | undefined {
  try {
    return readRegistry(file);
  } catch {
    return undefined;
  }
}

const readRegistry = (file: string): Erasures =>
  withDatabase(file, { readOnly: true, waitMs: 0 }, readErasures);

/** What erasing takes: the format of the read model, and a clock that never steps back. */
export type RestoreScope = Pick<OperationOptions, 'format' | 'monotonicMs'>;

export interface EraseOptions extends RestoreOptions {
  /** Epoch milliseconds of the backup. */
  readonly instantMs: number;
  /** Called after each change on disk. */
  readonly onStep: (step: string) => void;
}

export interface ErasedAgain {
  /** All erasures that are known now. */
  readonly all: Erasures;
  readonly report: RestoredErasures;
  /** Whether the copy has the newest schema now, whatever release has written the backup. */
  readonly isMigrated: boolean;
}

/**
 * Erases them from a copy that nobody else has open; one of an older release is migrated for it.
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
  // Those of a copy of the registry are as old as the copy, unless they have one from after the backup.
  const isNewer =
    isUpToDate || [...beyond.erasedAt.values()].some((seconds) => seconds * 1000 >= options.instantMs);
  // One that does not know what the backup does is older, or of another registry.
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

/** With the current national ID, and with each that led to it when the backup was made. */
const NUMBERS = [
  'SELECT id, identity_card, identity_card FROM members ORDER BY identity_card',
  `SELECT m.id, m.identity_card, f.old FROM former_identity_cards f
   JOIN members m ON m.identity_card = f.new`,
];

/** The members who were erased since, by their national IDs. */
function findPersons(db: Connection, newest: Erasures, since: ReadonlySet<string>): Map<string, number[]> {
  // As objects they are prepared once, not for each of millions of numbers.
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
