/**
 * Appends to the ledger: each batch in a transaction that reads the end of the chain first, so that a
 * service, commands and the desk share one chain.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { StorageError } from '../../contract/storage-error.ts';
import type { Connection } from '../engine/connection.ts';
import { openDatabase } from '../engine/open-database.ts';
import { keysFileOf, ledgerFileOf, ledgerFolderOf } from '../files/registry-files.ts';
import { LEDGER_SCHEMA } from '../schema/migrations/ledger.ts';
import { hashBatch } from './batch-hash.ts';
import { addChain, addPeriod, endOf, findOpenChain, idOf, insertRow, listPeriods } from './ledger-rows.ts';
import { type MonthKey, monthOf, takeMonthKey } from './month-keys.ts';
import { timeOf, toLines } from './reading-text.ts';
import { type RemovalTimes, removeOldReadings } from './remove-old.ts';

const ORIGIN_BYTES = 16;
const CACHE_KIB = 1024;

/** Entries that are on disk. */
export interface Recorded {
  /** Sequence of the first one; those of the others follow. */
  readonly first: number;
  /** Of their batch, in hexadecimal digits. */
  readonly hash: string;
}

/** Where the next batch goes. */
interface Head {
  readonly chain: number;
  readonly origin: string;
  readonly next: number;
  readonly hash: string;
  readonly month: string | undefined;
  readonly keyId: string | undefined;
}

/**
 * Opens the file for writing, and creates it when it is missing.
 * @throws StorageError when it cannot be used
 */
export function openLedgerFile(databaseFile: string, waitMs: number): Connection {
  const old = ledgerFolderOf(databaseFile);
  if (existsSync(old))
    throw new StorageError(
      'unusable',
      `${old} is the access ledger of a version before 1.0.0, which only that version reads. Move the ` +
        'folder away, keep it, and start again.',
    );
  return openDatabase(ledgerFileOf(databaseFile), {
    ...{ schema: LEDGER_SCHEMA, create: true, waitMs, cacheKiB: CACHE_KIB },
  });
}

export class LedgerWriter {
  private readonly db: Connection;
  private readonly file: string;
  private readonly inode: number | undefined;
  private readonly keysFile: string;
  private readonly insert: ReturnType<typeof insertRow>;
  private readonly dataVersion: { get(): unknown };
  private seenVersion: unknown;
  /** As of `seenVersion`; undefined after a failure. */
  private head: Head | undefined;
  private key: (MonthKey & { readonly month: string }) | undefined;

  /** @throws StorageError when the ledger cannot be used */
  constructor(databaseFile: string, waitMs: number) {
    this.db = openLedgerFile(databaseFile, waitMs);
    this.file = ledgerFileOf(databaseFile);
    this.inode = inodeOf(this.file);
    this.keysFile = keysFileOf(databaseFile);
    this.insert = insertRow(this.db);
    this.dataVersion = this.db.prepare('PRAGMA data_version');
  }

  /**
   * Records readings as one batch.
   * @param texts of `encodeReadings`
   * @returns when they are on disk
   * @throws StorageError when the file was taken away; the driver's error; nothing is acknowledged then
   */
  append(texts: readonly string[]): Recorded {
    // SQLite would go on writing into a file that nobody can find.
    if (inodeOf(this.file) !== this.inode)
      throw new StorageError('failed', `${this.file} was taken away: start the service again.`);
    const month = monthOf(timeOf(texts[0] ?? ''));
    // Before the transaction: the key is on disk when the first entry that it has hashed is.
    if (this.key?.month !== month) this.key = { ...takeMonthKey(this.keysFile, month), month };
    const { key } = this;
    const before = this.head;
    this.head = undefined;
    const { head, recorded } = this.db.transaction.immediate(() =>
      this.appendTo(this.currentHead(before), texts, { ...key, month }),
    );
    this.head = head;
    return recorded;
  }

  private appendTo(
    { chain, origin, next: first, hash: previous, month, keyId }: Head,
    texts: readonly string[],
    key: MonthKey & { readonly month: string },
  ) {
    if (month !== key.month || keyId !== key.id)
      addPeriod(this.db, chain, { first, month: key.month, key_id: key.id });
    const { lines, count, firstMs, lastMs } = toLines(texts, key.hashPerson);
    const hash = hashBatch(previous, { origin, first, count, keyId: key.id }, lines);
    this.insert({
      ...{ id: idOf(chain, first), count, first_time: firstMs, last_time: lastMs },
      ...{ hash, entries: lines },
    });
    const head = { chain, origin, next: first + count, hash, month: key.month, keyId: key.id };
    return { head, recorded: { first, hash } };
  }

  /** @param before as this connection left it: valid unless another one has committed since */
  private currentHead(before: Head | undefined): Head {
    const { data_version: version } = this.dataVersion.get() as { readonly data_version: number };
    const isSeen = version === this.seenVersion;
    this.seenVersion = version;
    return (isSeen ? before : undefined) ?? this.readHead();
  }

  private readHead(): Head {
    const { db } = this;
    const open = findOpenChain(db);
    if (open === undefined) {
      const origin = randomBytes(ORIGIN_BYTES).toString('hex');
      addChain(db, origin, true);
      return this.readHead();
    }
    const period = listPeriods(db, open.chain).at(-1);
    const { next, hash } = endOf(db, open);
    return { ...{ chain: open.chain, origin: open.origin }, next, hash, ...ofPeriod(period) };
  }

  /** @returns how many readings were removed: 0 when nothing is old any more @throws the driver's error */
  removeOld(times: RemovalTimes): number {
    return removeOldReadings(this.db, this.keysFile, times);
  }

  close(): void {
    this.db.close();
  }
}

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

const ofPeriod = (period: { readonly month: string; readonly key_id: string } | undefined) => ({
  month: period?.month,
  keyId: period?.key_id,
});
