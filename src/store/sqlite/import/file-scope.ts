/** What the steps of one file share, from its staging to its apply. */
import type { BlockTexts } from '../../../domain/lookup.ts';
import type { ImportKind } from '../../ports.ts';
import type { Connection } from '../connection/connection.ts';

/** How long an apply waits for another writer. */
export const BUSY_TIMEOUT_MS = 10_000;

export interface FileScope {
  readonly db: Connection;
  readonly kind: ImportKind;
  /** Those the file has. */
  readonly columns: ReadonlySet<string>;
  /** How the stored texts of the read model are made. */
  readonly blocks: BlockTexts;
  /** Of a clock that never steps back. */
  readonly monotonicMs: () => number;
  /** All files share the staging tables. @throws Error when they hold another file by now, or none */
  assertCurrent(): void;
  /** After this the file is no longer current. */
  end(): void;
}
