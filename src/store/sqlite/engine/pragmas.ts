/** The pragmas of every connection, and how long each kind of work waits for another process's lock. */

/**
 * Milliseconds for which SQLite may block the thread while another process holds the lock. `serving`: none,
 * as the event loop must not stop; the group commit tries again by timer. `opening`: a start that must
 * migrate waits for an import that is being applied. `command`: a command has nothing else to do.
 */
export const WAIT_MS = { serving: 0, opening: 10_000, command: 10_000 } as const;

/** How long a write over HTTP waits for another process's lock before it is refused (docs/api.md#writing). */
export const MAX_WRITE_WAIT_MS = 2_000;

export interface ConnectionSettings {
  /** Nothing can be written, and the file's journal mode is not changed. */
  readonly readOnly?: boolean;
  /** FILE only for commands over large sets, so that their sorts take no memory. */
  readonly tempStore?: 'MEMORY' | 'FILE';
  readonly cacheKiB?: number;
  /** Overwrites what is deleted only where that costs no page more: for files without personal data. */
  readonly secureDelete?: 'ON' | 'FAST';
}

const CACHE_KIB = 16 * 1024;
const JOURNAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

export interface Pragma {
  readonly name: string;
  readonly value: string;
  /** What reading it back must give. */
  readonly expected: number | string;
}

/** Every pragma but `busy_timeout`, which changes with the work. For staging: staged/staging-database.ts. */
export function pragmasOf({
  readOnly = false,
  tempStore = 'MEMORY',
  cacheKiB = CACHE_KIB,
  secureDelete = 'ON',
}: ConnectionSettings) {
  const pragma = (name: string, value: string, expected: number | string): Pragma => ({
    name,
    value,
    expected,
  });
  return [
    // One that only reads leaves a file as it is: those of a backup have no -wal until something writes.
    ...(readOnly ? [] : [pragma('journal_mode', 'WAL', 'wal')]),
    // FULL: with NORMAL a power cut takes back writes that were acknowledged.
    pragma('synchronous', 'FULL', 2),
    pragma('foreign_keys', 'ON', 1),
    pragma('trusted_schema', 'OFF', 0),
    pragma('cell_size_check', 'ON', 1),
    pragma('temp_store', tempStore, tempStore === 'FILE' ? 1 : 2),
    pragma('secure_delete', secureDelete, secureDelete === 'FAST' ? 2 : 1),
    pragma('journal_size_limit', String(JOURNAL_SIZE_LIMIT_BYTES), JOURNAL_SIZE_LIMIT_BYTES),
    pragma('cache_size', String(-cacheKiB), -cacheKiB),
    pragma('query_only', readOnly ? 'ON' : 'OFF', readOnly ? 1 : 0),
  ];
}
