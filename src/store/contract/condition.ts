/** How a registry is doing: the facts that `status` and metrics show, none of which takes long to read. */
import type { BackupPlace, SequencePosition } from './backup.ts';
import type { RegistrySize } from './import/import-session.ts';
import type { RecordedImport } from './journal/operations.ts';
import type { WebhookEndpoint } from './webhooks.ts';

export interface Condition {
  /** Of all databases of the registry, with their write-ahead logs. */
  readonly bytes: number;
  /** Of the registry's write-ahead log. */
  readonly logBytes: number;
  /** Of the disk that the registry is on. */
  readonly freeBytes: number;
  /** With less than this free, writes are refused. */
  readonly reservedBytes: number;
  readonly rows: RegistrySize;
  readonly readModel: ReadModelCondition;
  /** Undefined for a registry that has lost its epoch, which `check` reports. */
  readonly sequence: SequencePosition | undefined;
  readonly imports: RunningImports;
  /** An undone one too; corrections are left out. */
  readonly lastImport: RecordedImport | undefined;
  /** The last complete one that was made on this machine; null when none is known. */
  readonly lastBackup: LastBackup | null;
  /** The endpoints of webhooks. */
  readonly endpoints: readonly EndpointCondition[];
}

/** Imports under way, in any process. How far one has got is known only to itself. */
export interface RunningImports {
  readonly running: number;
  /** What they have read and set aside. */
  readonly stagedBytes: number;
}

export interface ReadModelCondition {
  /** Members of whom lookups compute something each time; counted up to `STALE_COUNTED`. */
  readonly stale: number;
  /**
   * Whether it was stored by a release with other rules. Seen on a sample: a hundredth of
   * the members in one stretch is found, a few need not be.
   */
  readonly hasOtherRules: boolean;
  /** Members whose names no search finds yet. */
  readonly unindexed: number;
}

/** Counting more would take longer than a scrape of metrics should. */
export const STALE_COUNTED = 10_000;

/** What is remembered of it beside the registry. */
export interface RememberedBackup {
  /** The epoch of the sequence in it; null when the registry had lost its own. */
  readonly epoch: string | null;
  /** An absolute path. */
  readonly folder: string;
  /** Epoch milliseconds: every write that was acknowledged before is in it. */
  readonly instantMs: number;
  /** Of all its files. */
  readonly bytes: number;
  /** When `backup verify` last read all of it, in epoch milliseconds; null when it never did. */
  readonly verifiedAtMs: number | null;
  /** What was wrong with it then; null when nothing was. */
  readonly fault: string | null;
}

export interface LastBackup extends RememberedBackup {
  /** Where it is now; what this user may not look into counts as `elsewhere`. */
  readonly place: BackupPlace;
}

export interface EndpointCondition {
  readonly endpoint: WebhookEndpoint;
  /** Events after those that were delivered or passed over; null when it is to start again. */
  readonly behind: number | null;
  /** Of the oldest of these events, in epoch seconds; null when there is none. */
  readonly oldestAt: number | null;
}
