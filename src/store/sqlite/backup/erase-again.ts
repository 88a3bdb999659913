/** Erases from the copy of an older registry who was erased since (docs/backup.md#erased-persons). */
import { createSecretKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { RestoredErasures, RestoreOptions } from '../../ports/backup.ts';
import { StorageError } from '../../ports/storage-error.ts';
import { ERASED_BEFORE, erasePerson } from '../corrections/persons-erase.ts';
import { runCorrection } from '../corrections/run.ts';
import type { Connection } from '../engine/connection.ts';
import { openDatabase } from '../engine/open-database.ts';
import { copyPrivately, syncPath } from '../files/durable-files.ts';
import { erasuresFileOf } from '../files/location.ts';
import { ERASED_FIELD } from '../identity/erased-rows.ts';
import {
  addErasures,
  type Erasures,
  erasedSince,
  mergeErasures,
  readErasures,
  readErasuresFile,
} from '../identity/erasures.ts';
import { hashIdentity } from '../identity/identity-hash.ts';
import { type OperationScope, openOperationScope } from '../journal/perform.ts';
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
}

/** @throws StorageError when a file of erasures cannot be used */
export async function findErasures(
  { databaseFile, oldDatabase, copies }: ErasureSources,
  given: string | undefined,
): Promise<FoundErasures> {
  const found = [
    readErasuresFile(erasuresFileOf(databaseFile)),
    given === undefined ? undefined : await readGiven(given, copies),
    readOldRegistry(oldDatabase),
  ];
  const beyond = mergeErasures(...found.filter((each) => each !== undefined));
  const ofBackup = readErasuresFile(join(copies, basename(erasuresFileOf('registry.db'))));
  return { newest: ofBackup === undefined ? beyond : mergeErasures(beyond, ofBackup), beyond };
}

/** From a copy: it may be on a disk that is read-only. */
async function readGiven(file: string, copies: string): Promise<Erasures | undefined> {
  const copy = join(copies, 'given.erasures.db');
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

function readRegistry(file: string): Erasures {
  const db = openDatabase(file, { readOnly: true, waitMs: 0 });
  try {
    return readErasures(db);
  } finally {
    db.close();
  }
}

/** What erasing takes: the format of the read model, and a clock that never steps back. */
export type RestoreScope = Pick<OperationScope, 'format' | 'monotonicMs'>;

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
  { newest, beyond }: FoundErasures,
  scope: RestoreScope,
  options: EraseOptions,
): ErasedAgain {
  const known = readRegistry(copy);
  const since = new Set(erasedSince(newest, known));
  const members = since.size === 0 ? [] : eraseFrom(copy, newest, since, scope, options);
  // Under the own key, too, if they were erased from a registry with another one.
  const all = mergeErasures(newest, since.size === 0 ? known : readRegistry(copy));
  // One that does not know what the backup does is older, or of another registry.
  const isNewer = beyond.secrets.includes(known.secrets[0] ?? '') && erasedSince(known, beyond).length === 0;
  const last = all.erasedAt.size === 0 ? undefined : Math.max(...all.erasedAt.values());
  return {
    all,
    isMigrated: since.size > 0,
    report: { members, unknownSinceMs: isNewer ? undefined : options.instantMs, lastSeconds: last },
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
    const numbers = findNumbers(db, newest.secrets, since);
    const members = numbers.flatMap(([number, hash]) => {
      const time = { nowSeconds, erasedBefore: newest.erasedAt.get(hash) as number };
      const correction = erasePerson(db, number, time);
      const result = runCorrection(scope, correction, { reason: REASON, systemUser, nowSeconds });
      // Under another number that the same person has had.
      if (result.outcome === 'refused' && result.message === ERASED_BEFORE) return [];
      if (result.outcome === 'refused') throw new Error(result.message);
      if (result.errorAfterCommit !== undefined) throw result.errorAfterCommit;
      onStep('erased a person');
      return erasedMembers(db, result.correctionId as number);
    });
    addErasures(db, newest, 'registry');
    onStep('erasures added');
    if (numbers.length > 0) clear(scope, numbers, nowSeconds);
    return members.sort((a, b) => a - b);
  } finally {
    db.close();
    syncPath(copy);
  }
}

function clear({ db }: OperationScope, numbers: readonly (readonly [string, string])[], nowSeconds: number) {
  const texts = numbers.map(([number]) => number);
  const { uncleared } = clearFreeSpace(db, texts, nowSeconds, 0);
  if (uncleared === undefined) return;
  throw new StorageError(
    'failed',
    'The disk has no room to erase from the backup who was erased since. Nothing was restored.',
  );
}

const erasedMembers = (db: Connection, correctionId: number): number[] =>
  db.raw
    .prepare(`SELECT row_id FROM main.changes WHERE field = '${ERASED_FIELD}' AND actor = ?`)
    .pluck()
    .all(`correction:${correctionId}`) as number[];

/** The national IDs that have one of the hashes, current and former ones, and the hash of each. */
function findNumbers(
  db: Connection,
  secrets: readonly string[],
  since: ReadonlySet<string>,
): (readonly [number: string, hash: string])[] {
  // As objects they are prepared once, not for each of millions of numbers.
  const keys = secrets.map((secret) => createSecretKey(Buffer.from(secret, 'hex')));
  const found: (readonly [string, string])[] = [];
  for (const sql of ['SELECT DISTINCT identity_card FROM members', 'SELECT old FROM former_identity_cards'])
    for (const number of db.raw.prepare(sql).pluck().iterate() as IterableIterator<string>)
      for (const key of keys) {
        const hash = hashIdentity(key, number).toString('hex');
        if (since.has(hash)) found.push([number, hash]);
      }
  return found;
}
