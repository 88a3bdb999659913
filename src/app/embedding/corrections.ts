/** Corrections of who is who for programs that embed the registry: what the commands do, as functions. */

import { setImmediate as endOfIteration } from 'node:timers/promises';
import { parseReason, parseUserName } from '../../domain/corrections.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { type Clock, nowSeconds } from '../../runtime/clock.ts';
import type {
  CorrectionStore,
  CorrectionResult as StoredResult,
} from '../../store/contract/journal/corrections.ts';
import type { Journal, UndoResult } from '../../store/contract/journal/operations.ts';
import type { Storage } from '../../store/contract/storage.ts';
import {
  type Agreements,
  CORRECTIONS,
  type Correction,
  parsersOf,
  prepareCorrection,
} from '../operations/corrections.ts';
import { checkOptions, type Id, toId, toNationalId, toParsed } from './arguments.ts';

export interface EmbeddedCorrectionOptions {
  /** Why, for the history: 1 to 500 characters, without national IDs. */
  readonly reason: string;
  /** Who, as the program names them: 1 to 100 characters, without national IDs. */
  readonly user: string;
  /** Does everything and takes it back: the result is what would have happened. */
  readonly isDryRun?: boolean | undefined;
}

export interface EmbeddedReplacementOptions extends EmbeddedCorrectionOptions {
  /** A former number of somebody else may be taken; where it is not one, the replaced number is not kept. */
  readonly releases?: boolean | undefined;
  /** Whoever has the new number, or had it, is the same person: refused without it, with `compared`. */
  readonly samePerson?: boolean | undefined;
  /** Only this membership gets the new number. */
  readonly memberId?: Id | undefined;
}

/** Its sentences are English. */
export type CorrectionResult = StoredResult<string>;

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
    options: EmbeddedReplacementOptions,
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

const inEnglish = (result: StoredResult): CorrectionResult =>
  result.outcome === 'done'
    ? { ...result, notes: result.notes.map(String) }
    : {
        ...result,
        message: String(result.message),
        collisions: result.collisions.map((each) => ({ ...each, message: String(each.message) })),
      };

export interface CorrectionDependencies {
  readonly storage: Pick<Storage, 'openCorrections' | 'openJournal'>;
  readonly clock: Clock;
  readonly zone: TimeZone;
}

/** @returns the functions, and what closes the connections that they have opened */
export function createCorrections({ storage, clock, zone }: CorrectionDependencies): {
  readonly corrections: EmbeddedCorrections;
  close(): Promise<void>;
} {
  let store: CorrectionStore | undefined;
  let log: Journal | undefined;
  const make = async (
    correction: Correction,
    options: EmbeddedCorrectionOptions & Agreements,
    given: { readonly [name: string]: unknown },
  ): Promise<CorrectionResult> => {
    const agreements = correction.agreements.map((name) => [name, 'boolean'] as const);
    checkOptions(options ?? {}, { ...OPTIONS, ...Object.fromEntries(agreements) });
    const now = nowSeconds(clock);
    const how = {
      reason: toParsed('reason', options.reason, parseReason),
      systemUser: toParsed('user', options.user, parseUserName),
      nowSeconds: now,
      isDryRun: options.isDryRun,
      ...Object.fromEntries(correction.agreements.map((name) => [name, options[name]])),
    };
    const parsers = parsersOf(zone, now);
    const toNumber = (name: string) => toNationalId(name, given[name]);
    const { run } = await prepareCorrection(correction, {
      isGiven: (name) => given[name] !== undefined,
      number: toNumber,
      holder: toNumber,
      member: (name) => toId(name, given[name]),
      code: (name) => toParsed(name, given[name], parsers.code),
      memberCode: (name) => toParsed(name, given[name], parsers.memberCode),
      day: (name) => toParsed(name, given[name], parsers.day),
    });
    store ??= storage.openCorrections('serve');
    // What was read before in this iteration has a snapshot, which an erasure cannot clear.
    await endOfIteration();
    return inEnglish(run(store, how));
  };

  return {
    corrections: {
      async replaceIdentityCard(old, current, options) {
        const { memberId, ...others } = { ...options };
        return make(CORRECTIONS.replaceIdentityCard, others, { old, current, memberId });
      },
      releaseIdentityCard: (former, options) => make(CORRECTIONS.releaseIdentityCard, options, { former }),
      mergeMembers: (fromId, intoId, options) => make(CORRECTIONS.mergeMembers, options, { fromId, intoId }),
      moveMember: (memberId, code, options) => make(CORRECTIONS.moveMember, options, { memberId, code }),
      async transferMember(memberId, transfer, options) {
        checkOptions(options ?? {}, OPTIONS);
        checkOptions(transfer ?? {}, { to: 'string!', memberCode: 'string!', on: 'string!' });
        return make(CORRECTIONS.transferMember, options, { memberId, ...transfer });
      },
      mergeCooperatives: (fromCode, intoCode, options) =>
        make(CORRECTIONS.mergeCooperatives, options, { fromCode, intoCode }),
      recordDeath: (nid, on, options) => make(CORRECTIONS.recordDeath, options, { nid, on }),
      erasePerson: (nid, options) => make(CORRECTIONS.erasePerson, options, { nid }),
      async undo(id, options) {
        const known = toId('id', id);
        checkOptions(options ?? {}, { user: 'string!' });
        const systemUser = toParsed('user', options.user, parseUserName);
        log ??= storage.openJournal('serve');
        return log.undo(known, LISTED_BLOCKERS, { systemUser, nowSeconds: nowSeconds(clock) });
      },
    },
    async close() {
      store?.close();
      log?.close();
    },
  };
}
