/** What the steps of one file share, from its staging to its apply. */
import type { TimeZone } from '../../../../domain/values/date-time.ts';
import type { ImportKind } from '../../../contract/import/import-session.ts';
import type { Connection } from '../../engine/connection.ts';
import type { ReadModelFormat } from '../../read-model/format.ts';

export interface FileScope {
  readonly db: Connection;
  readonly kind: ImportKind;
  /** Those the file has. */
  readonly columns: ReadonlySet<string>;
  readonly format: ReadModelFormat;
  /** In which the dates of the file were read; decided when it is checked. */
  readonly zone?: TimeZone;
  /** Of the bytes of the file, 64 hexadecimal digits; known when it is checked. */
  readonly sha256?: string | undefined;
  /** How they were read, as the registry keeps it of an import; known when it is checked. */
  readonly readAs?: unknown;
  /** The import of which the file is the newer version; decided when the file is checked. */
  readonly replaces?: number | undefined;
  /** Rows of erased persons are imported; decided when the file is checked. */
  readonly despiteErasure?: boolean;
  /** It is one row that somebody has typed; known when it is checked. */
  readonly isTyped?: boolean | undefined;
  /** Some of its rows came without a reference; known when it is checked. */
  readonly hasDerived?: boolean;
  /** Of a clock that never steps back. */
  readonly monotonicMs: () => number;
  /** All files share the staging tables. @throws Error when they hold another file by now, or none */
  assertCurrent(): void;
  /** After this the file is no longer current. */
  end(): void;
}
