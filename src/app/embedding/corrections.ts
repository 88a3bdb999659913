/** Corrections of who is who for programs that embed the registry: what the commands do, as functions. */

import type { Awaitable } from '../../domain/values/awaitable.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type {
  CorrectionOptions,
  CorrectionResult,
  CorrectionStore,
} from '../../store/ports/journal/corrections.ts';
import type { ImportLog, UndoResult } from '../../store/ports/journal/operations.ts';
import type { Storage } from '../../store/ports/storage.ts';

export interface EmbeddedCorrectionOptions {
  /** Why, for the history: 1 to 500 characters, without national IDs. */
  readonly reason: string;
  /** Who, as the program names them. */
  readonly user: string;
  /** Does everything and takes it back: the result is what would have happened. */
  readonly isDryRun?: boolean;
}

/**
 * The corrections of docs/correcting.md. Each is one transaction on the calling thread. They do not wait
 * while another process has the lock: they reject with a RegistryError `unavailable`, and may be repeated.
 */
export interface EmbeddedCorrections {
  replaceIdentityCard(
    old: string,
    current: string,
    options: EmbeddedCorrectionOptions & { readonly releases?: boolean },
  ): Promise<CorrectionResult>;
  releaseIdentityCard(former: string, options: EmbeddedCorrectionOptions): Promise<CorrectionResult>;
  mergeMembers(fromId: number, intoId: number, options: EmbeddedCorrectionOptions): Promise<CorrectionResult>;
  moveMember(memberId: number, code: string, options: EmbeddedCorrectionOptions): Promise<CorrectionResult>;
  mergeCooperatives(
    fromCode: string,
    intoCode: string,
    options: EmbeddedCorrectionOptions,
  ): Promise<CorrectionResult>;
  /** @param id of a correction or an import */
  undo(id: number): Promise<UndoResult>;
}

/** How many rows that build on a correction are listed when its undo is refused. */
const LISTED_BLOCKERS = 1_000;

/** @returns the functions, and what closes the connections that they have opened */
export function createCorrections(
  storage: Pick<Storage, 'openCorrections' | 'openImportLog'>,
  clock: Clock,
): { readonly corrections: EmbeddedCorrections; close(): Promise<void> } {
  let store: CorrectionStore | undefined;
  let log: ImportLog | undefined;
  const run = async (
    { reason, user, isDryRun }: EmbeddedCorrectionOptions,
    work: (opened: CorrectionStore, given: CorrectionOptions) => Awaitable<CorrectionResult>,
  ): Promise<CorrectionResult> => {
    store ??= storage.openCorrections('serve');
    return work(store, { reason, systemUser: user, nowSeconds: nowSeconds(clock), isDryRun });
  };
  return {
    corrections: {
      replaceIdentityCard: (old, current, options) =>
        run(options, (opened, given) =>
          opened.replaceIdentityCard(old, current, { ...given, releases: options.releases }),
        ),
      releaseIdentityCard: (former, options) =>
        run(options, (opened, given) => opened.releaseIdentityCard(former, given)),
      mergeMembers: (fromId, intoId, options) =>
        run(options, (opened, given) => opened.mergeMembers(fromId, intoId, given)),
      moveMember: (memberId, code, options) =>
        run(options, (opened, given) => opened.moveMember(memberId, code, given)),
      mergeCooperatives: (fromCode, intoCode, options) =>
        run(options, (opened, given) => opened.mergeCooperatives(fromCode, intoCode, given)),
      async undo(id) {
        log ??= storage.openImportLog('serve');
        return log.undo(id, nowSeconds(clock), LISTED_BLOCKERS);
      },
    },
    async close() {
      await store?.close();
      await log?.close();
    },
  };
}
