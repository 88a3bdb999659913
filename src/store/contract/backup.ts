/** Copies of a registry: what it keeps, what a backup contains, and what writing or checking one reports. */

/**
 * Where a backup or its folder is, seen from the registry: in the folder `beside` it, elsewhere on the
 * `same_disk`, or on another disk; `missing` where nothing is there, as while a disk is not mounted.
 */
export type BackupPlace = 'missing' | 'beside' | 'same_disk' | 'elsewhere';

/** One file of a backup. */
export interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  /** Of its bytes, in hexadecimal digits. */
  readonly sha256: string;
  readonly schemaVersion: number;
}

/** Where the sequence of changes had got to. */
export interface SequencePosition {
  readonly epoch: string;
  /** 0 when nothing had happened. */
  readonly lastSequence: number;
}

/** What a backup says of itself. */
export interface Backup {
  /** The version of the program that wrote it. */
  readonly program: string;
  /** Epoch milliseconds: every write that was acknowledged before is in the backup. */
  readonly instantMs: number;
  readonly files: readonly BackupFile[];
  /** Rows by table: how large the registry is. */
  readonly rows: { readonly [table: string]: number };
  /** Undefined for a registry that has lost its epoch, which `check` reports. */
  readonly sequence: SequencePosition | undefined;
  /** The registry's id; undefined where it cannot be read. */
  readonly registryId: string | undefined;
}

/** One of the complete backups in a folder. */
export interface ListedBackup {
  /** Of its folder. */
  readonly name: string;
  readonly backup: Backup;
}

export interface BackupOptions {
  /** The version of the program, for the manifest. */
  readonly program: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Ends the work before its next step; nothing is left behind then. */
  readonly signal?: AbortSignal;
  /** @param part how much of the databases is copied, up to 1; reading it back takes about as long again */
  readonly onProgress?: (part: number) => void;
}

/** A backup as it was written. */
export interface WrittenBackup extends Backup {
  /** What of the access ledger could not be copied; null when all was. */
  readonly ledgerFault: string | null;
}

/** The result of checking a backup. */
export interface CheckedBackup {
  /** Undefined when the manifest cannot be relied on. */
  readonly backup: Backup | undefined;
  /** The first difference, beginning with the name of its file; null when the backup is sound. */
  readonly fault: string | null;
  /**
   * What is wrong with the access ledger in it, which was copied as it was: the backup can be relied on all
   * the same. Null when nothing is.
   */
  readonly ledgerFault: string | null;
}

export interface RestoreOptions {
  /** Moves what is at the location aside; otherwise nothing may be there. */
  readonly replace: boolean;
  /** A file of erasures from elsewhere, that knows more than the backup. */
  readonly erasuresFile?: string | undefined;
  /** Epoch milliseconds, for the name of the folder of the old files and for erasures. */
  readonly now: () => number;
  /** Who restores, for the corrections that erase. */
  readonly systemUser: string;
}

/** What became of persons who were erased after a backup was made. */
export interface RestoredErasures {
  /** The ids of the memberships that were erased again. */
  readonly members: readonly number[];
  /** Epoch milliseconds; undefined when erasures after the backup are known. */
  readonly unknownSinceMs: number | undefined;
  /** Epoch seconds of the last erasure that is known; undefined when there is none. */
  readonly lastSeconds: number | undefined;
}

export interface Restored {
  readonly backup: Backup;
  /** Where the files are that were at the location; undefined when there were none. */
  readonly replacedFolder: string | undefined;
  /** Whether an older release has written the backup: it is migrated when the registry is opened. */
  readonly isOlder: boolean;
  readonly erasures: RestoredErasures;
  readonly ledger: RestoredLedger;
}

/** What became of the access ledger of a backup: its readings are added to those at the location. */
export interface RestoredLedger {
  /** Readings. */
  readonly added: number;
  /** Origins of chains that went on apart here and there: both are kept. */
  readonly differing: readonly string[];
  /** What could not be read or written, and what became of it. */
  readonly faults: readonly string[];
}

/** The newest backup in a folder of all that is sound, and those that are newer and are not. */
export interface NewestBackup {
  readonly folder: string;
  readonly passedOver: readonly { readonly name: string; readonly fault: string }[];
}

/** What became of the backups in a folder of all. */
export interface PrunedBackups {
  readonly kept: number;
  /** The names of those that were removed. */
  readonly removed: readonly string[];
}

export interface PruneOptions {
  /** The name of a backup that was just made. */
  readonly made?: string;
  /** Whether older ones go although the newest has far fewer members. */
  readonly yes?: boolean;
}

/** The name of a backup in a folder of all: `000042-2026-11-21T18-30-00Z`, with its instant in UTC. */
export const datedNameOf = (number: number, instantMs: number): string =>
  `${String(number).padStart(6, '0')}-${new Date(instantMs)
    .toISOString()
    .replace(/\.[0-9]+/, '')
    .replaceAll(':', '-')}`;

/** Those of 1.0.0 have no number. */
export const isDatedName = (name: string): boolean =>
  /^(?:[0-9]{6,12}-)?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z(?:-[1-9][0-9]*)?$/.test(name);
