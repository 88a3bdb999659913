/**
 * Appends batches to the newest file of the ledger. Each transaction first reads the end of the chain, so
 * that a service, commands and the desk can write to the same file. If the file is damaged or missing, a new
 * file begins a new chain; a damaged file stays unchanged (docs/decisions/0030-access-ledger.md).
 */
import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Connection } from '../sqlite/connection.ts';
import { syncPath } from '../sqlite/durable-files.ts';
import { hasTables, openDatabase, withDatabase } from '../sqlite/open-database.ts';
import { readRegistryId } from '../sqlite/registry-facts.ts';
import {
  keysFileOf,
  ledgerFolderOf,
  oldLedgerFileOf,
  sizeOf,
  withSideFiles,
} from '../sqlite/registry-files.ts';
import { LEDGER_SCHEMA } from '../sqlite/schemas.ts';
import { faultOf, isBusy, isDiskFull, isFailedWrite, StorageError } from '../sqlite/sqlite-errors.ts';
import { removeLog, restartLog } from '../sqlite/write-ahead-log.ts';
import {
  type HashPerson,
  hashBatch,
  NO_HASH,
  type RecordedBatch,
  timeOf,
  toLines,
} from './ledger-entries.ts';
import {
  beginFile,
  createLedgerFolder,
  freeNameOf,
  LEDGER_SETTINGS,
  type LedgerFile,
  listAllFiles,
  listLedgerFiles,
  nameOf,
  withLedgerLock,
} from './ledger-files.ts';
import {
  endOf,
  insertPartRow,
  isOld,
  type LedgerPart,
  type PartRow,
  readLedgerFile,
  readPartRow,
  readParts,
} from './ledger-rows.ts';
import { monthOf, readMonthKeys, takeMonthKey } from './month-keys.ts';
import { freeReserve, giveBackReserve, isRoomy, limitGrowth, STEPS } from './reserve.ts';
import { type Retention, removeOldFiles } from './retention.ts';

// Release 1.0.0 had a ledger of one file beside the database. That file becomes a closed file in the folder.

/** Origin and month in the new name of a file that cannot be read. */
const UNKNOWN = { origin: 'f'.repeat(32), month: '1970-01' };

/**
 * Moves the ledger file of 1.0.0, if there is one, into the folder, and adds the registry's id to the file.
 * The rows stay unchanged. A damaged file is moved too.
 * @throws StorageError while another process has the file open; the system's error
 */
export function adoptOldLedger(databaseFile: string, registry: string, waitMs: number): void {
  const old = oldLedgerFileOf(databaseFile);
  if (!hasTables(old)) return;
  withLedgerLock(databaseFile, waitMs, () => {
    if (!existsSync(old)) return;
    const newest = closeOld(old, registry);
    const folder = ledgerFolderOf(databaseFile);
    const { origin } = newest ?? UNKNOWN;
    const month = newest?.periods.at(-1)?.month ?? UNKNOWN.month;
    // Number 0 sorts this file before all others.
    const name = freeNameOf(folder, nameOf({ month, origin, number: 0 }));
    for (const path of withSideFiles(old).filter((file) => existsSync(file)))
      renameSync(path, join(folder, name + path.slice(old.length)));
    for (const path of [folder, dirname(old)]) syncPath(path);
  });
}

/** Closes the file of 1.0.0. @returns the newest part; undefined if the file is unreadable or has no parts */
function closeOld(old: string, registry: string): LedgerPart | undefined {
  try {
    return withDatabase(old, { waitMs: 0 }, (db) => {
      if (!isOld(db)) return undefined;
      const newest = readParts(db).reduce<LedgerPart | undefined>(
        (latest, part) => ((part.lastMs ?? 0) >= (latest?.lastMs ?? 0) ? part : latest),
        undefined,
      );
      if (newest !== undefined) stamp(db, newest, registry);
      db.raw.pragma('journal_mode = DELETE');
      return newest;
    });
  } catch (error) {
    if (isBusy(error) || isBusy((error as Error).cause))
      throw new StorageError('failed', `Another process keeps ${old} locked. Try again.`, { cause: error });
    return undefined;
  }
}

/** Adds the table `ledger_part` to a file of 1.0.0, which lacks it. */
function stamp(db: Connection, part: LedgerPart, registry: string): void {
  const { month = '', keyId = '' } = part.periods.at(-1) ?? {};
  db.transaction.immediate(() => {
    db.exec(`CREATE TABLE IF NOT EXISTS ledger_part (
      id INTEGER PRIMARY KEY, origin TEXT NOT NULL, registry TEXT NOT NULL,
      month TEXT NOT NULL, key_id TEXT NOT NULL,
      first_sequence INTEGER NOT NULL, previous_hash TEXT NOT NULL, follows TEXT NOT NULL,
      last_sequence INTEGER, last_hash TEXT) STRICT`);
    insertPartRow(db, { ...part, registry, month, keyId });
  });
}

const ORIGIN_BYTES = 16;
/** A file that has reached this size is closed. */
const MAX_FILE_BYTES = 1024 ** 3;

/** An access up to this long before the month of the file is still added to the file. */
const LATE_MS = 24 * 3600 * 1000;

/** End of a chain. */
type Head = Pick<LedgerPart, 'last' | 'lastHash'>;

interface OpenFile extends LedgerFile {
  readonly db: Connection;
  readonly inode: number;
  readonly origin: string;
  readonly keyId: string;
  /** Undefined if the month key is lost. The file is then closed. */
  readonly hashPerson: HashPerson | undefined;
  readonly insert: { run(...values: unknown[]): unknown };
  readonly dataVersion: { get(): unknown };
  /** True once the reserve is used up. Accesses may then use the rest of the disk. */
  fillsDisk: boolean;
  /** True while SQLite refuses to let the file grow (`limitGrowth`). */
  isHeldBack: boolean;
  /** `PRAGMA data_version` when `head` was read. The value changes with each commit of another process. */
  seenVersion: unknown;
  /** Undefined after a failure. */
  head: Head | undefined;
}

/** Another process has closed the file. */
class Closed extends Error {}

export class LedgerWriter {
  private readonly databaseFile: string;
  private readonly waitMs: number;
  private readonly note: (message: string) => void;
  private readonly registry: string;
  private file: OpenFile | undefined;
  private readonly replaced = new Set<string>();

  /** @throws StorageError when the folder cannot be used */
  constructor(databaseFile: string, waitMs: number, note: (message: string) => void = () => undefined) {
    this.databaseFile = databaseFile;
    this.waitMs = waitMs;
    this.note = note;
    this.registry = readRegistryId(databaseFile) ?? '';
    createLedgerFolder(databaseFile);
    adoptOldLedger(databaseFile, this.registry, waitMs);
  }

  get connection(): Connection | undefined {
    return this.file?.db;
  }

  /**
   * Records accesses as one batch, which is then on disk.
   * @param text from `encodeAccesses`
   * @throws StorageError, or the driver's error, if the accesses are not recorded
   */
  append(text: string): RecordedBatch {
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
        else {
          this.replace(file, timeMs, (error as Error).message);
          isReplaced = true;
        }
        file = this.fileFor(timeMs);
        room = makeRoom(file);
      }
    }
  }

  private appendTo(file: OpenFile, text: string): RecordedBatch {
    const { db, origin, keyId, hashPerson } = file;
    if (hashPerson === undefined) throw new StorageError('failed', `The key of ${file.name} is lost.`);
    return db.transaction.immediate(() => {
      keepToReserve(file);
      const { last, lastHash } = currentHead(file);
      const first = last + 1;
      const { lines, count, firstMs, lastMs } = toLines(text, hashPerson);
      const hash = hashBatch(lastHash, { origin, first, count, keyId }, lines);
      file.insert.run(first, count, firstMs, lastMs, hash, lines);
      file.head = { last: last + count, lastHash: hash };
      return { first, hash };
    });
  }

  private fileFor(timeMs: number): OpenFile {
    // Without this check, SQLite would continue to write to a file that was removed or renamed.
    if (this.file !== undefined && isGone(this.file)) this.replace(this.file, timeMs, 'it was taken away');
    this.file ??= this.openNewest();
    // On a nearly full disk, the old file stays in use, because a new file would have no reserve.
    if (this.file === undefined || (isDone(this.file, timeMs) && isRoomy(this.file.path)))
      this.file = this.rotate(timeMs);
    return this.file;
  }

  /** @returns the file to use, which another process may have begun */
  private rotate(timeMs: number): OpenFile {
    return this.locked(() => {
      this.close();
      this.file = this.openNewest();
      if (this.file === undefined) return this.begin(timeMs);
      if (!isDone(this.file, timeMs)) return this.file;
      const { db, origin } = this.file;
      const { last, lastHash } = closePart(db);
      this.close();
      return this.begin(timeMs, { origin, first: last + 1, previousHash: lastHash });
    });
  }

  private locked<T>(work: () => T): T {
    return withLedgerLock(this.databaseFile, this.waitMs, work);
  }

  /** @returns undefined if the newest file is closed, belongs to another registry, or cannot be used */
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
    // Read-only first: opening for writing would switch the file to WAL mode, but a closed file must not
    // change.
    const content = readLedgerFile(file.path);
    if (content instanceof StorageError) throw content;
    const [part] = content.parts;
    const isOurs = part?.registry === this.registry || part?.registry === '' || this.registry === '';
    if (part?.isClosed !== false || !isOurs) return undefined;
    const settings = { schema: LEDGER_SCHEMA, keepsSchema: true, waitMs: this.waitMs, ...LEDGER_SETTINGS };
    const inode = findFile(file.path)?.ino ?? 0;
    const db = openDatabase(file.path, settings);
    const { origin, periods } = part;
    const keyId = periods[0]?.keyId ?? '';
    try {
      return {
        ...file,
        db,
        inode,
        origin,
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

  /**
   * The caller must have locked the ledger.
   * @param lostName previous file, if it has disappeared
   */
  private begin(
    timeMs: number,
    start: Pick<PartRow, 'origin' | 'first' | 'previousHash'> = newChain(),
    lostName?: string,
  ): OpenFile {
    const month = monthOf(timeMs);
    const keysFile = keysFileOf(this.databaseFile);
    const isLost = lostName === undefined && listAllFiles(this.databaseFile).length === 0;
    if (isLost && readMonthKeys(keysFile).size > 0)
      this.note(
        'access ledger: all files are missing, but hashing keys of its months still exist; a new file begins',
      );
    const keyId = takeMonthKey(keysFile, month);
    const part = { ...start, registry: this.registry, month, keyId };
    return this.open(beginFile(this.databaseFile, part, lostName, this.waitMs)) as OpenFile;
  }

  /**
   * Creates the first file if the ledger has no files, so that a later loss of all files can be detected.
   * @throws StorageError when the folder cannot be used
   */
  start(nowMs: number): void {
    if (listAllFiles(this.databaseFile).length === 0) this.file = this.rotate(nowMs);
  }

  /** @throws StorageError, or the system's error, when no new file can be created */
  private replace(file: OpenFile, timeMs: number, reason: string): void {
    const lostName = isGone(file) ? file.name : undefined;
    this.close();
    this.file = this.locked(() => {
      // Another process may already have replaced the file.
      const isNewest = listLedgerFiles(this.databaseFile).at(-1)?.name === file.name;
      const other = isNewest ? undefined : this.openNewest();
      return other ?? this.begin(timeMs, undefined, lostName);
    });
    this.noteReplaced(file.name, reason);
  }

  private noteReplaced(name: string, reason: string): void {
    if (this.replaced.has(name)) return;
    this.replaced.add(name);
    this.note(`access ledger: ${name} cannot be used (${reason}); recording continues in a new file`);
  }

  /** @throws StorageError, the driver's error */
  removeOld(retention: Retention): ReturnType<typeof removeOldFiles> {
    return this.locked(() =>
      removeOldFiles(this.databaseFile, retention, () => {
        // If another process has begun a newer file, this file may be among the files to remove.
        this.close();
        this.file = this.openNewest() ?? this.begin(retention.nowMs);
        return this.file.db;
      }),
    );
  }

  close(): void {
    const { file } = this;
    this.file = undefined;
    try {
      file?.db.close();
    } catch {
      // Closing a damaged file may fail. The file is not used again.
    }
  }
}

const newChain = () => ({ origin: newOrigin(), first: 1, previousHash: NO_HASH });

/** The first digit is a letter, because messages hide long decimal numbers as possible national IDs. */
const newOrigin = (): string =>
  `${'abcdef'[randomInt(6)]}${randomBytes(ORIGIN_BYTES).toString('hex').slice(1)}`;

const findFile = (path: string) => statSync(path, { throwIfNoEntry: false });

const isGone = ({ path, inode }: OpenFile): boolean => findFile(path)?.ino !== inode;

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
  if (part.last !== null) throw new Closed();
  return endOf(file.db, 0, part);
}

/** Marks a file as closed, and removes the write-ahead log unless another process is reading the file. */
export function closePart(db: Connection): Head {
  const end = db.transaction.immediate(() => {
    const { last, lastHash } = endOf(db, 0, readPartRow(db));
    db.run('UPDATE ledger_part SET last_sequence = ?, last_hash = ? WHERE last_sequence IS NULL', [
      last,
      lastHash,
    ]);
    return { last, lastHash };
  });
  giveBackReserve(db);
  removeLog(db);
  return end;
}

/**
 * Closes the newest file if it is open and has entries. The next access begins a new chain.
 * @throws StorageError, the driver's error
 */
export function closeOpenFile(databaseFile: string): void {
  const newest = listLedgerFiles(databaseFile).at(-1);
  if (newest === undefined) return;
  const content = readLedgerFile(newest.path);
  if (content instanceof StorageError) return;
  if (content.parts.every(({ isClosed, lastMs }) => isClosed || lastMs === null)) return;
  try {
    withDatabase(newest.path, { waitMs: 0, ...LEDGER_SETTINGS }, closePart);
  } catch (error) {
    // Throws errors that are not caused by the file. The next access uses or replaces a faulty file.
    faultOf(error);
  }
}

/**
 * Prevents the file from growing on a nearly full disk. Accesses then use first the free pages of the file,
 * then the reserve, and last the rest of the disk.
 */
function keepToReserve(file: OpenFile): void {
  const hasRoom = isRoomy(file.path);
  if (hasRoom) file.fillsDisk = false;
  const holdsBack = !hasRoom && !file.fillsDisk;
  if (holdsBack || file.isHeldBack) limitGrowth(file.db, holdsBack);
  file.isHeldBack = holdsBack;
}

/**
 * Makes room for one batch. Each `next` takes one step, after which the caller tries to write again: the
 * first step moves the write-ahead log into the file, later steps free parts of the reserve, and the last
 * step allows the use of the remaining disk.
 */
function* makeRoom(file: OpenFile): Generator<void, void> {
  try {
    restartLog(file.db);
    yield;
    for (let step = 0; step <= STEPS; step++) {
      restartLog(file.db);
      if (!freeReserve(file.db)) break;
      yield;
    }
    file.fillsDisk = true;
    yield;
  } catch {
    // If the log cannot be moved, no later step can help.
  }
}

/**
 * True for an error that may end by itself: the file is locked, or the disk is full. If a write fails
 * although the disk has room, the file is faulty.
 */
const isPassing = (error: unknown, { path }: LedgerFile): boolean =>
  [error, (error as Error).cause].some(
    (each) => isBusy(each) || (isDiskFull(each) && !(isFailedWrite(each) && isRoomy(path))),
  );
