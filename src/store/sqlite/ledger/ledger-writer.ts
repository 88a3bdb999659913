/**
 * Appends to the ledger: each batch in a transaction that reads the end of the chain first, so that a
 * service, commands and the desk share the one open file. A file that is damaged or was taken away is left as
 * it is, and a new one with a new origin takes its place (docs/decisions/0030-access-ledger.md).
 */
import { randomBytes, randomInt } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import type { HashPerson, RemovedLedgerFiles, Retention } from '../../contract/access-ledger.ts';
import { StorageError } from '../../contract/storage-error.ts';
import type { Connection } from '../engine/connection.ts';
import { faultOf, isBusy, isDiskFull, isFailedWrite } from '../engine/errors.ts';
import { openDatabase, withDatabase } from '../engine/open-database.ts';
import { keysFileOf, sizeOf } from '../files/registry-files.ts';
import { readRegistryId } from '../identity/registry-id.ts';
import { LEDGER_SCHEMA } from '../schema/migrations/ledger.ts';
import { adoptOldLedger } from './adopt-old-ledger.ts';
import { hashBatch, NO_HASH, type Recorded } from './batch-hash.ts';
import {
  beginFile,
  createLedgerFolder,
  LEDGER_SETTINGS,
  type LedgerFile,
  listAllFiles,
  listLedgerFiles,
  type NewPart,
  withLedgerLock,
} from './ledger-files.ts';
import { keyIdAt, lastBatch, readLedgerFile, readPartRow } from './ledger-rows.ts';
import { monthOf, readMonthKeys, takeMonthKey } from './month-keys.ts';
import { timeOf, toLines } from './reading-text.ts';
import { freeReserve, giveBackReserve, isRoomy, limitGrowth, STEPS } from './reserve.ts';
import { removeOldFiles } from './retention.ts';

const ORIGIN_BYTES = 16;
/** A file that has more is closed. */
const MAX_FILE_BYTES = 1024 ** 3;

/** A reading that is late by so much goes into the present file: months must not alternate. */
const LATE_MS = 24 * 3600 * 1000;

/** Where the next batch goes. */
interface Head {
  readonly next: number;
  readonly hash: string;
}

/** The open file, and what this connection knows of it. */
interface OpenFile extends LedgerFile {
  readonly db: Connection;
  readonly inode: number;
  readonly origin: string;
  readonly keyId: string;
  /** Undefined where the key is lost: the file is closed then. */
  readonly hashPerson: HashPerson | undefined;
  readonly insert: { run(...values: unknown[]): unknown };
  readonly dataVersion: { get(): unknown };
  /** The reserve is used up: readings take what the disk still has. */
  fillsDisk: boolean;
  /** SQLite was told to refuse growth. */
  isHeldBack: boolean;
  seenVersion: unknown;
  /** As of `seenVersion`; undefined after a failure. */
  head: Head | undefined;
}

/** Another process has closed the file since. */
class Closed extends Error {}

export class LedgerWriter {
  private readonly databaseFile: string;
  private readonly waitMs: number;
  private readonly note: (message: string) => void;
  private readonly registry: string;
  private file: OpenFile | undefined;
  /** Names of files that were left, each of which is reported once. */
  private readonly replaced = new Set<string>();

  /**
   * @param note gets what an operator should know
   * @throws StorageError when the folder cannot be used
   */
  constructor(databaseFile: string, waitMs: number, note: (message: string) => void = () => undefined) {
    this.databaseFile = databaseFile;
    this.waitMs = waitMs;
    this.note = note;
    this.registry = readRegistryId(databaseFile) ?? '';
    assertWritable(createLedgerFolder(databaseFile));
    adoptOldLedger(databaseFile, this.registry, waitMs);
  }

  /** The file that is written, if one is open. */
  get connection(): Connection | undefined {
    return this.file?.db;
  }

  /**
   * Records readings as one batch.
   * @param text of `encodeReadings`
   * @returns when they are on disk
   * @throws StorageError, the driver's error; nothing is acknowledged then
   */
  append(text: string): Recorded {
    const timeMs = timeOf(text);
    let isReplaced = false;
    for (let file = this.fileFor(timeMs), room = makeRoom(file); ; ) {
      try {
        return this.appendTo(file, text);
      } catch (error) {
        file.head = undefined;
        if (isDiskFull(error) && room.next().done !== true) continue;
        if (error instanceof Closed) this.close();
        else if (isReplaced || isPassing(error, file)) throw error;
        else isReplaced = this.replace(file, timeMs, (error as Error).message);
        file = this.fileFor(timeMs);
        room = makeRoom(file);
      }
    }
  }

  private appendTo(file: OpenFile, text: string): Recorded {
    const { db, origin, keyId, hashPerson } = file;
    if (hashPerson === undefined) throw new StorageError('failed', `The key of ${file.name} is lost.`);
    return db.transaction.immediate(() => {
      keepToReserve(file);
      const { next: first, hash: previous } = currentHead(file);
      const { lines, count, firstMs, lastMs } = toLines(text, hashPerson);
      const hash = hashBatch(previous, { origin, first, count, keyId }, lines);
      file.insert.run(first, count, firstMs, lastMs, hash, lines);
      file.head = { next: first + count, hash };
      return { first, hash };
    });
  }

  /** The file that takes a batch of this instant. */
  private fileFor(timeMs: number): OpenFile {
    // SQLite would go on writing into a file that nobody can find.
    if (this.file !== undefined && findFile(this.file.path)?.ino !== this.file.inode)
      this.replace(this.file, timeMs, 'it was taken away');
    this.file ??= this.openNewest();
    const { file } = this;
    // The open file has a reserve, a new one none yet.
    if (file !== undefined && !(isDone(file, timeMs) && isRoomy(file.path))) return file;
    this.file = withLedgerLock(this.databaseFile, this.waitMs, () => this.continueIn(timeMs));
    return this.file;
  }

  /** The caller has the lock: another process may have begun the next file meanwhile. */
  private continueIn(timeMs: number): OpenFile {
    this.close();
    const file = this.openNewest();
    if (file === undefined) return this.begin(timeMs);
    this.file = file;
    if (!isDone(file, timeMs)) return file;
    const end = closePart(file.db);
    const { origin } = file;
    this.close();
    return this.begin(timeMs, { origin, first: end.next, previousHash: end.hash });
  }

  /** @returns undefined where the newest file is closed, of another registry, or cannot be used */
  private openNewest(): OpenFile | undefined {
    const newest = listLedgerFiles(this.databaseFile).at(-1);
    if (newest === undefined) return undefined;
    try {
      return this.open(newest);
    } catch (error) {
      if (isPassing(error, newest)) throw error;
      this.noteReplaced(newest.name, (error as Error).message);
      return undefined;
    }
  }

  private open(file: LedgerFile): OpenFile | undefined {
    // To open a file for writing puts it into WAL mode: a closed one stays as it is.
    const found = readLedgerFile(file.path);
    if (found instanceof StorageError) throw found;
    const [part] = found.parts;
    const isOurs = part?.registry === this.registry || part?.registry === '' || this.registry === '';
    if (part?.isClosed !== false || !isOurs) return undefined;
    const settings = { schema: LEDGER_SCHEMA, keepsSchema: true, waitMs: this.waitMs, ...LEDGER_SETTINGS };
    const inode = findFile(file.path)?.ino ?? 0;
    const db = openDatabase(file.path, settings);
    const keyId = keyIdAt(part, part.first);
    try {
      return {
        ...file,
        db,
        inode,
        origin: part.origin,
        keyId,
        hashPerson: readMonthKeys(keysFileOf(this.databaseFile)).get(keyId),
        insert: db.prepare<unknown[]>(
          `INSERT INTO ledger_batches (id, count, first_time, last_time, hash, entries)
           VALUES (?, ?, ?, ?, ?, ?)`,
        ),
        dataVersion: db.prepare('PRAGMA data_version'),
        fillsDisk: false,
        isHeldBack: false,
        seenVersion: undefined,
        head: undefined,
      };
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** The caller has the lock. @param start a chain that goes on; a new one when not given */
  private begin(
    timeMs: number,
    start?: Pick<NewPart, 'origin' | 'first' | 'previousHash'>,
    follows?: string,
  ): OpenFile {
    const month = monthOf(timeMs);
    const { id: keyId } = takeMonthKey(keysFileOf(this.databaseFile), month);
    const chain = start ?? {
      origin: newOrigin(),
      first: 1,
      previousHash: NO_HASH,
    };
    const part = { ...chain, registry: this.registry, month, keyId, follows };
    return this.open(beginFile(this.databaseFile, part, this.waitMs)) as OpenFile;
  }

  /**
   * Begins the first file where there is none, so that one that is missing later was taken away.
   * @throws StorageError when the folder cannot be used
   */
  start(nowMs: number): void {
    if (listAllFiles(this.databaseFile).length > 0) return;
    this.file = withLedgerLock(this.databaseFile, this.waitMs, () => this.continueIn(nowMs));
  }

  /** Leaves a file as it is. @throws StorageError, the system's error when no new one can be begun */
  private replace(file: OpenFile, timeMs: number, reason: string): boolean {
    const isGone = findFile(file.path)?.ino !== file.inode;
    this.close();
    this.file = withLedgerLock(this.databaseFile, this.waitMs, () => {
      const newest = listLedgerFiles(this.databaseFile).at(-1);
      // Another process has replaced it already.
      const other = newest !== undefined && newest.name !== file.name ? this.openNewest() : undefined;
      return other ?? this.begin(timeMs, undefined, isGone ? file.name : undefined);
    });
    this.noteReplaced(file.name, reason);
    return true;
  }

  private noteReplaced(name: string, reason: string): void {
    if (this.replaced.has(name)) return;
    this.replaced.add(name);
    this.note(`access ledger: ${name} cannot be used (${reason}); readings go on in a new file`);
  }

  /**
   * Removes files whose time is over, with their keys.
   * @throws StorageError, the driver's error
   */
  removeOld(retention: Retention): RemovedLedgerFiles {
    const { databaseFile, waitMs } = this;
    return withLedgerLock(databaseFile, waitMs, () =>
      removeOldFiles(databaseFile, retention, () => {
        // The one that is open here may have been closed since, and be among those that go.
        this.close();
        this.file = this.openNewest() ?? this.begin(retention.nowMs);
        return this.file.db;
      }),
    );
  }

  /** Gives the open file back; the next reading opens it again. */
  close(): void {
    const { file } = this;
    this.file = undefined;
    try {
      file?.db.close();
    } catch {
      // What is damaged may not close; nothing of it is used any more.
    }
  }
}

function assertWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const message = `${folder} cannot be written: ${(error as Error).message}.`;
    throw new StorageError('unusable', message, { cause: error });
  }
}

/** It begins with a letter: a name of digits only would be hidden in messages, as national IDs are. */
const newOrigin = (): string =>
  `${'abcdef'[randomInt(6)]}${randomBytes(ORIGIN_BYTES).toString('hex').slice(1)}`;

const findFile = (path: string) => statSync(path, { throwIfNoEntry: false });

const isDone = ({ path, month, hashPerson }: OpenFile, timeMs: number): boolean =>
  ![timeMs, timeMs + LATE_MS].some((ms) => monthOf(ms) === month) ||
  hashPerson === undefined ||
  sizeOf(path) >= MAX_FILE_BYTES;

/** @throws Closed when another process has closed the file */
function currentHead(file: OpenFile): Head {
  const { data_version: version } = file.dataVersion.get() as { readonly data_version: number };
  if (version === file.seenVersion && file.head !== undefined) return file.head;
  file.seenVersion = version;
  const part = readPartRow(file.db);
  if (part === undefined) throw new StorageError('failed', 'its first row is missing');
  if (part.last_sequence !== null) throw new Closed();
  return endOf(file.db, part.first_sequence, part.previous_hash);
}

function endOf(db: Connection, first: number, previousHash: string): Head {
  const last = lastBatch(db, 0);
  return last === undefined
    ? { next: first, hash: previousHash }
    : { next: last.id + last.count, hash: last.hash };
}

/**
 * Closes the part that a connection is open on: nothing is added to it from then on. The file is complete in
 * itself as soon as no reader keeps its write-ahead log.
 */
export function closePart(db: Connection): Head {
  const end = db.transaction.immediate(() => {
    const part = readPartRow(db);
    if (part === undefined) throw new StorageError('failed', 'its first row is missing');
    const { next, hash } = endOf(db, part.first_sequence, part.previous_hash);
    db.run('UPDATE ledger_part SET last_sequence = ?, last_hash = ? WHERE last_sequence IS NULL', [
      next - 1,
      hash,
    ]);
    return { next, hash };
  });
  giveBackReserve(db);
  leaveLog(db);
  return end;
}

/**
 * Closes the open file of a location if it has entries; the next reading begins a new chain.
 * @throws StorageError, the driver's error
 */
export function closeOpenFile(databaseFile: string): void {
  const newest = listLedgerFiles(databaseFile).at(-1);
  if (newest === undefined) return;
  const found = readLedgerFile(newest.path);
  if (
    found instanceof StorageError ||
    found.parts.every(({ isClosed, lastMs }) => isClosed || lastMs === null)
  )
    return;
  try {
    withDatabase(newest.path, { waitMs: 0, ...LEDGER_SETTINGS }, closePart);
  } catch (error) {
    // One that cannot be closed is replaced with the next reading, or goes on: nothing depends on it.
    faultOf(error);
  }
}

/** A closed file needs nothing beside it to be read; where a reader prevents it, the log stays. */
function leaveLog(db: Connection): void {
  try {
    db.waitForLock(0);
    db.raw.pragma('journal_mode = DELETE');
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

/** While the disk is nearly full, readings fill the free pages, then the reserve, and only then the disk. */
function keepToReserve(file: OpenFile): void {
  const hasRoom = isRoomy(file.path);
  if (hasRoom) file.fillsDisk = false;
  const holdsBack = !hasRoom && !file.fillsDisk;
  if (holdsBack || file.isHeldBack) limitGrowth(file.db, holdsBack);
  file.isHeldBack = holdsBack;
}

/**
 * What is done for one batch that finds no room, one step before each new try: the log is emptied into the
 * file, so that it is written from its beginning; then the reserve is used, and then the disk.
 */
function* makeRoom(file: OpenFile): Generator<void, void> {
  const emptyLog = () => void file.db.raw.pragma('wal_checkpoint(RESTART)');
  try {
    emptyLog();
    yield;
    for (let step = 0; step <= STEPS; step++) {
      emptyLog();
      if (!freeReserve(file.db)) break;
      yield;
    }
    file.fillsDisk = true;
    yield;
  } catch {
    // The log cannot be emptied, and without it nothing else helps.
  }
}

/**
 * Nothing is wrong with the file: another process has it locked, or the disk is full. A write that failed
 * while the disk has room says that of the file: readings go on in a new one.
 */
const isPassing = (error: unknown, { path }: LedgerFile): boolean =>
  [error, (error as Error).cause].some(
    (each) => isBusy(each) || (isDiskFull(each) && !(isFailedWrite(each) && isRoomy(path))),
  );
