/**
 * One storage location, and what may be opened there. One method is one atomic change; a write's
 * promise settles when the change is on disk. An engine is one folder beside this one, with the same entities
 * as file names; `open.ts` knows them.
 */

import type { TimeZone } from '../../domain/values/date-time.ts';
import type {
  AccessLedger,
  LedgerCondition,
  LedgerReader,
  OldLedgerFiles,
  RemovedLedgerFiles,
  Retention,
  ServedLedgerOptions,
} from './access-ledger.ts';
import type { ApiKeyStore } from './api-keys.ts';
import type {
  BackupOptions,
  BackupPlace,
  CheckedBackup,
  ListedBackup,
  NewestBackup,
  PrunedBackups,
  PruneOptions,
  Restored,
  RestoreOptions,
  WrittenBackup,
} from './backup.ts';
import type { Condition } from './condition.ts';
import type { ExportSession } from './exports.ts';
import type { ImportSession } from './import/import-session.ts';
import type { CorrectionStore } from './journal/corrections.ts';
import type { HeldDataStore } from './journal/held-data.ts';
import type { HistoryStore } from './journal/history.ts';
import type { Journal } from './journal/operations.ts';
import type { CommandStatistics, RegistryStore } from './registry.ts';
import type { WebhookStore } from './webhooks.ts';

/** How storage has work done at the end of the current event-loop iteration. */
export interface EndOfIteration {
  /** @param work must not throw */
  atEnd(step: 'storage', work: () => void): void;
}

/** @param durationMs from the begin of a transaction of writes until it was on disk; it must not throw */
export type CommitMeasure = (writes: number, durationMs: number) => void;

/** What storage gets from the program that opens it. */
export interface StorageDependencies {
  readonly clock: { monotonicMs(): number };
  readonly scheduler: EndOfIteration;
  /** In which stored parts of lookups show date-times; that of the registry where undefined. */
  readonly zone: TimeZone | undefined;
  /** Called after each transaction of a service's writes. */
  readonly measureCommit?: CommitMeasure | undefined;
}

/**
 * One storage location: everything that a command or the service does with it. Nothing is opened before it is
 * asked for.
 */
export interface Storage {
  /** As the configuration names it. */
  readonly location: string;
  /** Whether a registry was created there. */
  exists(): boolean;
  /**
   * Whether a path, in any spelling and through symbolic links, names a file that the registry keeps there,
   * or may create. Nothing else may write to it.
   */
  ownsFile(path: string): boolean;
  /** The folder of the access ledger, whether or not it exists. */
  readonly ledgerFolder: string;
  /** Where an open desk is found, whether or not one is open. */
  readonly deskFile: string;
  /** Where the files are kept that this user has given to the desk, whether or not there are any. */
  readonly deskFolder: string;
  /** Records the readings of a service. Creates what is missing. @throws StorageError */
  serveLedger(options: ServedLedgerOptions): AccessLedger;
  /** Records the readings of a command or of the desk, which rejects with a StorageError where it cannot. */
  openCommandLedger(): AccessLedger;
  /** Where there is no ledger, one without entries. @throws StorageError when it cannot be read */
  openLedgerReader(): LedgerReader;
  /** Files of the access ledger that are older than readings are kept. */
  findOldLedgerFiles(retention: Retention): OldLedgerFiles;
  /** Removes those that retention removes, and those that are named. @throws StorageError */
  pruneLedger(retention: Retention): RemovedLedgerFiles;
  /** How the access ledger is doing. @returns undefined where there is none yet */
  readLedgerCondition(retention: Retention): LedgerCondition | undefined;
  /** Creates what is missing. @throws StorageError */
  openRegistry(): RegistryStore;
  /**
   * @param use `serve`: found by their secrets on each request, created when missing; `issue`: changed by a
   * command, created when missing; `manage`: changed by a command, must exist
   * @throws StorageError
   */
  openKeys(use: 'serve' | 'issue' | 'manage'): ApiKeyStore;
  /** The keys' file, where keys are gone that were in use: it was lost, or begun anew. */
  findLostKeys(): string | undefined;
  /** Whether a key was ever issued. */
  hasKeys(): boolean;
  /** Whether an endpoint of webhooks was ever added: cheap enough to be asked every second. */
  hasWebhooks(): boolean;
  /**
   * @param use `serve`: to deliver, must exist; `issue` and `manage` as for `openKeys`
   * @throws StorageError
   */
  openWebhooks(use: 'serve' | 'issue' | 'manage'): WebhookStore;
  /**
   * @param use `import`, the default, creates what is missing; `dryRun` compares with an empty registry then,
   * and refuses what an older release has written instead of migrating it
   * @throws StorageError
   */
  openImportSession(use?: 'import' | 'dryRun'): ImportSession;
  /**
   * The imports and corrections that were applied.
   * @param use as for `openCorrections`
   * @throws StorageError `unusable` when there is no registry
   */
  openJournal(use?: 'command' | 'serve'): Journal;
  /**
   * Corrections of who is who.
   * @param use `serve`: beside a service, whose event loop must not stop while another process has the lock
   * @throws StorageError `unusable` when there is no registry
   */
  openCorrections(use?: 'command' | 'serve'): CorrectionStore;
  /** What the registry holds, row by row. @throws StorageError `unusable` when there is no registry */
  openHeldData(): HeldDataStore;
  /** What has changed in single rows. @throws StorageError `unusable` when there is no registry */
  openHistory(): HistoryStore;
  /** Reads of entire tables. @throws StorageError `unusable` when there is no registry of this release */
  openExportSession(): ExportSession;
  /**
   * A file on the disk of the registry that nobody else can open, and that is gone once it is closed.
   * @returns its descriptor, which its caller closes
   * @throws the system's error
   */
  openSpool(): number;
  /** Sums over cooperatives. @throws StorageError `unusable` when there is no registry of this release */
  openStatistics(): CommandStatistics;
  /**
   * Whether a program serves the registry, on this machine: it has the keys open all the time, commands for
   * moments only, and a backup while it copies them.
   */
  isServed(): boolean;
  /**
   * How the registry is doing, in a few milliseconds.
   * @param use as for `openCorrections`
   * @throws StorageError (as rejection) `unusable` when there is no registry of this release
   */
  readCondition(use?: 'command' | 'serve'): Promise<Condition>;
  /**
   * Reads everything and changes nothing.
   * @throws StorageError `unusable` when there is no registry of this release
   */
  check(): readonly Finding[];
  /**
   * Computes what lookups would otherwise compute each time, in small transactions, so that other writers
   * wait only for one of them.
   * @returns how many members it was computed for
   * @throws StorageError
   */
  refreshReadModel(nowSeconds: number): number;
  /** The zone that the registry belongs to; undefined where there is none, or nothing can be read of it. */
  timeZone(): TimeZone | undefined;
  /**
   * Moves the registry to the zone of this storage, and computes again what depends on it.
   * @returns for how many members
   * @throws StorageError (as rejection) also while a process has it open
   */
  changeTimeZone(nowSeconds: number): Promise<number>;
  /** Removes what killed imports have left. @returns how many imports that were */
  removeStaleStaging(): number;
  /**
   * Writes a backup while others read and write, without making them wait.
   * @param folder new or empty; it gets this name only when it is complete, checked and on disk
   * @throws StorageError (as rejection), or the reason of the signal
   */
  backUp(folder: string, options: BackupOptions): Promise<WrittenBackup>;
  /**
   * Reads every byte of a backup and changes nothing in it. The result is remembered if it is about the last
   * backup that was made of this location.
   * @param now epoch milliseconds
   * @throws StorageError (as rejection) `unusable` when there is no backup in the folder, or one of a newer
   * release
   */
  verifyBackup(folder: string, now: () => number): Promise<CheckedBackup>;
  /**
   * Removes the oldest of the complete backups of one registry in a folder, and nothing else.
   * @param keep how many stay, at least 1
   * @throws StorageError `failed` when the newest has fewer than half the members of the one before it
   */
  pruneBackups(parent: string, keep: number, options?: PruneOptions): PrunedBackups;
  /** A folder for the next backup in the folder of all, which nothing has yet. */
  datedFolderIn(parent: string, instantMs: number): string;
  /** Where a folder for backups is. */
  backupPlaceOf(folder: string): BackupPlace;
  /** The complete backups in a folder, the newest first: by what they hold. @throws the system's error */
  listBackups(parent: string): readonly ListedBackup[];
  /**
   * Verifies the backups of the registry at the location, the newest first.
   * @throws StorageError (as rejection) `unusable` when none is sound
   */
  findNewestBackup(parent: string): Promise<NewestBackup>;
  /**
   * Puts a backup in the place of whatever is at the location. A process that is killed in the middle leaves
   * the old registry, or a location at which nothing but another restore can be opened.
   * @throws StorageError (as rejection) when the backup is not sound, the location is in use, or something is
   * there and is not to be replaced; nothing has changed then
   */
  restore(folder: string, options: RestoreOptions): Promise<Restored>;
}

/** One result of a check. */
export interface Finding {
  readonly check: string;
  /** Of the access ledger, on which nothing else depends. */
  readonly isOfLedger?: true;
  /** Null when the check passed. */
  readonly fault: string | null;
  /** What was counted or read. */
  readonly value?: string;
}
