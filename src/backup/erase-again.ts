/** Repeats, in a copy of a backup, the erasures made after the backup (docs/backup.md#erased-persons). */

import { createSecretKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openOperations } from '../journal/command-transaction.ts';
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
import { StorageError } from '../sqlite/sqlite-errors.ts';
import { readSequence, type SequencePosition, type Storage } from '../sqlite/storage.ts';
import { statOf } from '../terminal/places.ts';
import type { RestoringFolder } from './restoring-folder.ts';

const REASON = 'Erased again: the backup was older than the erasure.';

/**
 * Collects erasures from the files of erasures in the backup and at the location, from the registry to be
 * replaced, and from `erasuresFile`.
 * @param sequence last event of the backup
 * @throws StorageError when a file of erasures cannot be used; CommandError `usage` when `erasuresFile` is
 * missing or inaccessible
 */
export async function findErasures(
  { databaseFile, oldDatabase, copies }: RestoringFolder,
  erasuresFile: string | undefined,
  sequence: SequencePosition | undefined,
) {
  const copy = join(copies, 'registry.db');
  const fromElsewhere = erasuresFile === undefined ? undefined : await readElsewhere(erasuresFile, copies);
  if (fromElsewhere !== undefined && !isOfRegistry(fromElsewhere, copy))
    throw new StorageError('unusable', `${erasuresFile} is a file of erasures of another registry.`);
  const beyond = mergeErasures(
    ...[readErasuresFile(erasuresFileOf(databaseFile)), fromElsewhere, readOldRegistry(oldDatabase)]
      .filter((erasures) => erasures !== undefined)
      .filter((erasures) => isOfRegistry(erasures, copy)),
  );
  const ofBackup = readErasuresFile(join(copies, basename(erasuresFileOf('registry.db'))));
  return {
    newest: ofBackup === undefined ? beyond : mergeErasures(beyond, ofBackup),
    /** Erasures from all sources except the backup. */
    beyond,
    /** True if a source other than the backup has all erasures up to now. */
    isUpToDate: fromElsewhere !== undefined || isContinued(oldDatabase, sequence),
  };
}

/** True for the registry that was backed up, but not for a restored copy, which has another epoch. */
function isContinued(file: string, sequence: SequencePosition | undefined): boolean {
  if (sequence === undefined) return false;
  try {
    const current = withDatabase(file, { readOnly: true, waitMs: 0 }, readSequence);
    return current?.epoch === sequence.epoch && current.lastSequence >= sequence.lastSequence;
  } catch {
    return false;
  }
}

/** Reads a copy of the file, because SQLite may be unable to read a file on a read-only disk. */
async function readElsewhere(file: string, copies: string): Promise<Erasures | undefined> {
  const copy = join(copies, 'given.erasures.db');
  if (!statOf(file).isFile()) throw new StorageError('unusable', `${file} is not a file.`);
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

/** Returns undefined for an unreadable registry. Erasures are then read only from the files of erasures. */
function readOldRegistry(file: string): Erasures | undefined {
  try {
    return readRegistry(file);
  } catch {
    return undefined;
  }
}

const readRegistry = (file: string): Erasures =>
  withDatabase(file, { readOnly: true, waitMs: 0 }, readErasures);

interface EraseOptions extends Pick<Storage, 'configuredZone' | 'monotonicMs'> {
  /** Returns epoch milliseconds. */
  readonly now: () => number;
  readonly systemUser: string;
  /** Called after each change on disk. */
  readonly onStep: (step: string) => void;
}

export type RestoredErasures = ReturnType<typeof eraseAgain>['report'];

/**
 * Erases from the copy all persons who were erased after the backup. If the copy has the schema of an older
 * release, migrates the copy before the first erasure.
 * @param copy file of the registry, copied from the backup and not open in another process
 * @param instantMs time of the backup, in epoch milliseconds
 * @throws StorageError when the disk is full
 */
export function eraseAgain(
  copy: string,
  { newest, beyond, isUpToDate }: Awaited<ReturnType<typeof findErasures>>,
  instantMs: number,
  options: EraseOptions,
) {
  const ofBackup = readRegistry(copy);
  const since = new Set(erasedSince(newest, ofBackup));
  const members = since.size === 0 ? [] : eraseFrom(copy, newest, since, options);
  const all = mergeErasures(newest, ofBackup);
  // Unless a source besides the backup has an erasure after the backup, all of them may be older than it.
  const isNewer = isUpToDate || beyond.erasedAt.values().some((seconds) => seconds * 1000 >= instantMs);
  // If the other sources lack an erasure that the backup has, they are older, or of another registry.
  const isComplete =
    beyond.secrets.includes(ofBackup.secrets[0] ?? '') && erasedSince(ofBackup, beyond).length === 0;
  return {
    all,
    /** True if the copy was opened for erasures, which gives the copy the newest schema. */
    isMigrated: since.size > 0,
    report: {
      /** Ids of the members that were erased again. */
      members,
      /** Epoch milliseconds after which erasures may be unknown; undefined if all are known. */
      unknownSinceMs: isNewer && isComplete ? undefined : instantMs,
      /** Epoch seconds of the last known erasure; undefined if there is none. */
      lastSeconds:
        all.erasedAt.size === 0 ? undefined : all.erasedAt.values().reduce((a, b) => Math.max(a, b)),
    },
  };
}

function eraseFrom(
  copy: string,
  newest: Erasures,
  since: ReadonlySet<string>,
  options: EraseOptions,
): number[] {
  const { now, systemUser, onStep } = options;
  const scope = openOperations(options, copy, 0);
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
    if (persons.size > 0 && clearFreeSpace(db, nowSeconds, 0) !== undefined)
      throw new StorageError(
        'failed',
        'Persons were erased after this backup, and the disk has no room to erase them from it. ' +
          'Nothing was restored.',
      );
    return [...persons.values()].flat().sort((a, b) => a - b);
  } finally {
    db.close();
    syncPath(copy);
  }
}

/**
 * SELECTs of all national IDs that members have or had, each with the member's id and present national ID.
 */
const NUMBERS = [
  'SELECT id, identity_card, identity_card FROM members ORDER BY identity_card',
  `SELECT m.id, m.identity_card, f.old FROM former_identity_cards f
   JOIN members m ON m.identity_card = f.new`,
];

function findPersons(db: Connection, newest: Erasures, since: ReadonlySet<string>): Map<string, number[]> {
  // Key objects are created once here, instead of again for each of the many national IDs.
  const keys = newest.secrets.map((secret) => createSecretKey(Buffer.from(secret, 'hex')));
  const isAmong = (hashes: { has(hash: string): boolean }, text: string): boolean =>
    keys.some((key) => hashes.has(hashIdentity(key, text).toString('hex')));
  const persons = new Map<string, Set<number>>();
  for (const sql of NUMBERS)
    for (const row of db.raw.prepare(sql).raw().iterate()) {
      const [id, identityCard, number] = row as [number, string, string];
      const isErased = isAmong(since, number)
        ? !isAmong(newest.erasedAt, numberOfAnother(id, number))
        : isAmong(since, ownNumber(id, number));
      if (isErased) persons.set(identityCard, (persons.get(identityCard) ?? new Set()).add(id));
    }
  return new Map([...persons].map(([identityCard, ids]) => [identityCard, [...ids]]));
}
