/** Types of backups and restores: content, options and results. */

/**
 * Location of a backup or its folder relative to the registry: `beside` it in its folder, elsewhere on the
 * `same_disk`, or on another disk; `missing` if nothing exists there, as when a disk is not mounted.
 */
export type BackupPlace = 'missing' | 'beside' | 'same_disk' | 'elsewhere';

export interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  readonly schemaVersion: number;
}

/** Position in the sequence of changes. */
export interface SequencePosition {
  readonly epoch: string;
  /** 0 if there are no changes. */
  readonly lastSequence: number;
}

/** A backup as described by its manifest. */
export interface Backup {
  /** Version of the program that wrote it. */
  readonly program: string;
  /** Epoch milliseconds: every write acknowledged before this instant is in the backup. */
  readonly instantMs: number;
  readonly files: readonly BackupFile[];
  /** Row counts by table, as a measure of the registry's size. */
  readonly rows: { readonly [table: string]: number };
  /** Undefined for a registry that has lost its epoch, which `check` reports. */
  readonly sequence: SequencePosition | undefined;
  /** Undefined if the registry's id cannot be read. */
  readonly registryId: string | undefined;
}

/** A complete backup in a folder of backups. */
export interface ListedBackup {
  /** Name of its folder. */
  readonly name: string;
  readonly backup: Backup;
}

export interface BackupOptions {
  /** Version of the program, for the manifest. */
  readonly program: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Stops the work before its next step, and leaves nothing behind. */
  readonly signal?: AbortSignal;
  /** @param part copied share of the databases, up to 1; reading them back takes about as long again */
  readonly onProgress?: (part: number) => void;
}

export interface WrittenBackup extends Backup {
  /** Fault of an access ledger that was not copied completely; null if it was. */
  readonly ledgerFault: string | null;
}

export interface CheckedBackup {
  /** Undefined if the manifest cannot be relied on. */
  readonly backup: Backup | undefined;
  /** First difference, beginning with the file's name; null if the backup is sound. */
  readonly fault: string | null;
  /**
   * Fault of the access ledger, which is copied even if damaged and does not make the backup unusable; null
   * if none.
   */
  readonly ledgerFault: string | null;
}

export interface RestoreOptions {
  /** Moves existing files aside; without it, the location must be empty. */
  readonly replace: boolean;
  /** File of erasures from elsewhere, newer than the backup. */
  readonly erasuresFile?: string | undefined;
  /** Epoch milliseconds, used to name the folder of the old files and for erasures. */
  readonly now: () => number;
  /** User recorded in the corrections that erase. */
  readonly systemUser: string;
}

/** Outcome for persons who were erased after the backup was made. */
export interface RestoredErasures {
  /** Ids of the memberships that were erased again. */
  readonly members: readonly number[];
  /** Epoch milliseconds; undefined if all erasures since the backup are known. */
  readonly unknownSinceMs: number | undefined;
  /** Epoch seconds of the last known erasure; undefined if there is none. */
  readonly lastSeconds: number | undefined;
}

export interface Restored {
  readonly backup: Backup;
  /** Folder with the files that were at the location; undefined if there were none. */
  readonly replacedFolder: string | undefined;
  /** True if an older release wrote the backup, which is then migrated when the registry is opened. */
  readonly isOlder: boolean;
  readonly erasures: RestoredErasures;
  readonly ledger: RestoredLedger;
}

/** Outcome for the backup's access ledger, whose readings are added to those at the location. */
export interface RestoredLedger {
  /** Number of readings. */
  readonly added: number;
  /** Origins of chains that have diverged between the location and the backup; both versions are kept. */
  readonly differing: readonly string[];
  /** Files that could not be read or written, and what was done with them. */
  readonly faults: readonly string[];
}

/** The newest sound backup in a folder of backups, and newer ones that are not sound. */
export interface NewestBackup {
  readonly folder: string;
  readonly passedOver: readonly { readonly name: string; readonly fault: string }[];
}

export interface PrunedBackups {
  /** Number of backups of this registry that are left. */
  readonly kept: number;
  /** Names of the removed backups. */
  readonly removed: readonly string[];
}

export interface PruneOptions {
  /** Name of a backup that was just written. */
  readonly made?: string;
  /** Removes older backups even if the newest has far fewer members. */
  readonly yes?: boolean;
}

/** Returns the folder name of a backup: `000042-2026-11-21T18-30-00Z`, with the instant in UTC. */
export const datedNameOf = (number: number, instantMs: number): string =>
  `${String(number).padStart(6, '0')}-${new Date(instantMs)
    .toISOString()
    .replace(/\.[0-9]+/, '')
    .replaceAll(':', '-')}`;

/** Also accepts names of 1.0.0, which have no number. */
export const isDatedName = (name: string): boolean =>
  /^(?:[0-9]{6,12}-)?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z(?:-[1-9][0-9]*)?$/.test(name);

/** Record of the last backup, stored beside the registry. */
export interface RememberedBackup {
  /** Epoch of the backed-up sequence; null if the registry had lost its own. */
  readonly epoch: string | null;
  /** Absolute path. */
  readonly folder: string;
  /** Epoch milliseconds: every write acknowledged before this instant is in the backup. */
  readonly instantMs: number;
  /** Total size of its files. */
  readonly bytes: number;
  /** Time of the last complete `backup verify`, in epoch milliseconds; null if never verified. */
  readonly verifiedAtMs: number | null;
  /** Fault found when it was written or verified; null if none. */
  readonly fault: string | null;
}

export interface LastBackup extends RememberedBackup {
  /** Current location; `elsewhere` if this user may not look there. */
  readonly place: BackupPlace;
}
