/** Corrections of who is who for programs that embed the registry: what the commands do, as functions. */

import { setImmediate as endOfIteration } from 'node:timers/promises';
import { parseReason, parseUserName } from '../../domain/corrections.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import { formatDate, parsePastDate, startOfDay, type TimeZone } from '../../domain/values/date-time.ts';
import { MAX_LENGTH, parseNamedCode, parseText } from '../../domain/values/text.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type {
  CorrectionOptions,
  CorrectionResult,
  CorrectionStore,
  Transfer,
} from '../../store/ports/journal/corrections.ts';
import type { ImportLog, UndoResult } from '../../store/ports/journal/operations.ts';
import type { Storage } from '../../store/ports/storage.ts';
import { checkOptions, type Id, type OptionTypes, toId, toNationalId, toParsed } from './arguments.ts';

export interface EmbeddedCorrectionOptions {
  /** Why, for the history: 1 to 500 characters, without national IDs. */
  readonly reason: string;
  /** Who, as the program names them: 1 to 100 characters, without national IDs. */
  readonly user: string;
  /** Does everything and takes it back: the result is what would have happened. */
  readonly isDryRun?: boolean | undefined;
}

export interface EmbeddedTransfer {
  /** Code of the other cooperative. */
  readonly to: string;
  /** Of the member there. */
  readonly memberCode: string;
  /** First day there, `YYYY-MM-DD`. */
  readonly on: string;
}

/**
 * The corrections of docs/correcting.md. Each is one transaction on the calling thread. They do not wait
 * while another process has the lock: they reject with a RegistryError `unavailable`, and may be repeated.
 * A wrong argument is an `invalid` one, which names it.
 */
export interface EmbeddedCorrections {
  replaceIdentityCard(
    old: string,
    current: string,
    options: EmbeddedCorrectionOptions & { readonly releases?: boolean | undefined },
  ): Promise<CorrectionResult>;
  releaseIdentityCard(former: string, options: EmbeddedCorrectionOptions): Promise<CorrectionResult>;
  mergeMembers(fromId: Id, intoId: Id, options: EmbeddedCorrectionOptions): Promise<CorrectionResult>;
  moveMember(memberId: Id, code: string, options: EmbeddedCorrectionOptions): Promise<CorrectionResult>;
  /** Ends a membership, which keeps its past, and begins one in another cooperative. */
  transferMember(
    memberId: Id,
    transfer: EmbeddedTransfer,
    options: EmbeddedCorrectionOptions,
  ): Promise<CorrectionResult>;
  mergeCooperatives(
    fromCode: string,
    intoCode: string,
    options: EmbeddedCorrectionOptions,
  ): Promise<CorrectionResult>;
  /** @param on day of the death, `YYYY-MM-DD` */
  recordDeath(nid: string, on: string, options: EmbeddedCorrectionOptions): Promise<CorrectionResult>;
  /** Removes what says who the person is. It cannot be undone. */
  erasePerson(nid: string, options: EmbeddedCorrectionOptions): Promise<CorrectionResult>;
  /** @param id of a correction or an import */
  undo(id: Id, options: Pick<EmbeddedCorrectionOptions, 'user'>): Promise<UndoResult>;
}

/** How many rows that build on a correction are listed when its undo is refused. */
const LISTED_BLOCKERS = 1_000;

const OPTIONS = { reason: 'string!', user: 'string!', isDryRun: 'boolean' } as const;

const toCode = (name: string, given: unknown): string => toParsed(name, given, parseNamedCode);

export interface CorrectionDependencies {
  readonly storage: Pick<Storage, 'openCorrections' | 'openImportLog'>;
  readonly clock: Clock;
  readonly zone: TimeZone;
}

/** @returns the functions, and what closes the connections that they have opened */
export function createCorrections({ storage, clock, zone }: CorrectionDependencies): {
  readonly corrections: EmbeddedCorrections;
  close(): Promise<void>;
} {
  let store: CorrectionStore | undefined;
  let log: ImportLog | undefined;
  const run = async (
    options: EmbeddedCorrectionOptions,
    work: (opened: CorrectionStore, given: CorrectionOptions) => Awaitable<CorrectionResult>,
    types: OptionTypes = OPTIONS,
  ): Promise<CorrectionResult> => {
    checkOptions(options ?? {}, types);
    const given = {
      reason: toParsed('reason', options.reason, parseReason),
      systemUser: toParsed('user', options.user, parseUserName),
      nowSeconds: nowSeconds(clock),
      isDryRun: options.isDryRun,
    };
    store ??= storage.openCorrections('serve');
    // What was read before in this iteration has a snapshot, which an erasure cannot clear.
    await endOfIteration();
    return work(store, given);
  };
  const toPastDate = (given: unknown): string =>
    toParsed('on', given, (text) => parsePastDate(text, formatDate(nowSeconds(clock), zone)));

  function toTransfer(memberId: unknown, given: unknown): Transfer {
    checkOptions(given ?? {}, { to: 'string!', memberCode: 'string!', on: 'string!' });
    const { to, memberCode, on } = given as EmbeddedTransfer;
    const day = toPastDate(on);
    return {
      memberId: toId('memberId', memberId),
      to: toCode('to', to),
      on: day,
      startsAt: startOfDay(day, zone),
      memberCode: toParsed('memberCode', memberCode, (text) => parseText(text, MAX_LENGTH.memberCode)),
    };
  }

  return {
    corrections: {
      replaceIdentityCard: (old, current, options) =>
        run(
          options,
          (opened, given) =>
            opened.replaceIdentityCard(toNationalId('old', old), toNationalId('current', current), {
              ...given,
              releases: options.releases,
            }),
          { ...OPTIONS, releases: 'boolean' },
        ),
      releaseIdentityCard: (former, options) =>
        run(options, (opened, given) => opened.releaseIdentityCard(toNationalId('former', former), given)),
      mergeMembers: (fromId, intoId, options) =>
        run(options, (opened, given) =>
          opened.mergeMembers(toId('fromId', fromId), toId('intoId', intoId), given),
        ),
      moveMember: (memberId, code, options) =>
        run(options, (opened, given) =>
          opened.moveMember(toId('memberId', memberId), toCode('code', code), given),
        ),
      transferMember: (memberId, transfer, options) =>
        run(options, (opened, given) => opened.transferMember(toTransfer(memberId, transfer), given)),
      mergeCooperatives: (fromCode, intoCode, options) =>
        run(options, (opened, given) =>
          opened.mergeCooperatives(toCode('fromCode', fromCode), toCode('intoCode', intoCode), given),
        ),
      recordDeath: (nid, on, options) =>
        run(options, (opened, given) => opened.recordDeath(toNationalId('nid', nid), toPastDate(on), given)),
      erasePerson: (nid, options) =>
        run(options, (opened, given) => opened.erasePerson(toNationalId('nid', nid), given)),
      async undo(id, options) {
        const known = toId('id', id);
        checkOptions(options ?? {}, { user: 'string!' });
        const systemUser = toParsed('user', options.user, parseUserName);
        log ??= storage.openImportLog('serve');
        return log.undo(known, LISTED_BLOCKERS, { systemUser, nowSeconds: nowSeconds(clock) });
      },
    },
    async close() {
      await store?.close();
      await log?.close();
    },
  };
}
