/** Runs one correction: its transaction, its record, and what follows the commit. */
import { type CorrectionKind, parseReason } from '../../../domain/corrections.ts';
import { FieldError, RegistryError } from '../../../domain/values/errors.ts';
import type {
  Collision,
  CorrectionDone,
  CorrectionOptions,
  CorrectionRefused,
  CorrectionResult,
  NamedMember,
} from '../../ports/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { toUnavailable } from '../engine/errors.ts';
import { nameMember } from '../journal/labels.ts';
import { beginOperation, endOperation } from '../journal/operations.ts';
import { tidyUp } from '../journal/tidy-up.ts';
import { type ChangedCounts, type Touched, track } from '../journal/track.ts';
import type { ReadModelFormat } from '../read-model/columns.ts';

/** What a correction does, decided inside its transaction. */
export interface CorrectionPlan {
  readonly touched: Touched;
  /** Changes the touched rows. @param correctionId of the operation */
  readonly work: (correctionId: number) => void;
  /** Those that the operator means, to be shown. */
  readonly members?: readonly Pick<NamedMember, 'id' | 'fate'>[];
  /** Kept with the correction, so without personal data. */
  readonly notes?: readonly string[];
  /** For an erasure: the history keeps no values. */
  readonly keepsNoValues?: boolean;
}

export const refuse = (message: string, collisions: readonly Collision[] = []): CorrectionRefused => ({
  ...{ outcome: 'refused', message, collisions },
});

export interface Correction {
  readonly kind: CorrectionKind;
  /** Anything that JSON can hold, without personal data: it is shown by `imports show`. */
  readonly options: unknown;
  /** Reads the registry, inside the transaction. */
  readonly decide: () => CorrectionPlan | CorrectionRefused;
}

export interface CorrectionScope {
  readonly db: Connection;
  readonly format: () => ReadModelFormat;
  /** Of a clock that never steps back. */
  readonly monotonicMs: () => number;
  /** Milliseconds, for another process's lock. */
  readonly waitMs: number;
}

/** Ends a transaction of which nothing is to be kept. */
class TakenBack extends Error {
  readonly result: CorrectionResult;
  constructor(result: CorrectionResult) {
    super('Nothing of it is kept.');
    this.result = result;
  }
}

/** @throws RegistryError `invalid` for the reason, `unavailable` */
export function runCorrection(
  { db, format, monotonicMs, waitMs }: CorrectionScope,
  correction: Correction,
  options: CorrectionOptions,
): CorrectionResult {
  const reason = acceptReason(options.reason);
  let lockedAtMs = 0;
  const result = locked(db, (): CorrectionResult => {
    lockedAtMs = monotonicMs();
    const plan = correction.decide();
    if ('outcome' in plan) throw new TakenBack(plan);
    const { notes = [] } = plan;
    const { kind, options: kept } = correction;
    const { systemUser, nowSeconds } = options;
    // Before anything is changed: other tables refer to it.
    const id = beginOperation(db, { kind, options: kept, notes, reason, systemUser }, nowSeconds);
    const members = (plan.members ?? []).map((member) => nameMember(db, member));
    const rows = applyPlan(db, plan, id, options);
    const correctionId = options.isDryRun === true ? null : id;
    const done: CorrectionDone = { outcome: 'done', correctionId, rows, members, notes, lockMs: 0 };
    if (options.isDryRun === true) throw new TakenBack(done);
    return plan.keepsNoValues === true ? { ...done, members: [] } : done;
  });
  if (result.outcome === 'refused') return result;
  const done = { ...result, lockMs: monotonicMs() - lockedAtMs };
  if (done.correctionId === null) return done;
  const errorAfterCommit = tidyUp(db, format(), options.nowSeconds);
  db.waitForLock(waitMs);
  return errorAfterCommit === undefined ? done : { ...done, errorAfterCommit };
}

function acceptReason(text: string): string {
  const reason = parseReason(text);
  if (reason instanceof FieldError)
    throw new RegistryError('invalid', 'Invalid input.', { fields: { reason: [reason.message] } });
  return reason;
}

function locked(db: Connection, work: () => CorrectionResult): CorrectionResult {
  try {
    return db.transaction.immediate(work);
  } catch (error) {
    if (error instanceof TakenBack) return error.result;
    throw toUnavailable(error, 'Nothing was changed');
  }
}

function applyPlan(
  db: Connection,
  { touched, work, keepsNoValues = false }: CorrectionPlan,
  id: number,
  { nowSeconds }: CorrectionOptions,
): ChangedCounts {
  const by = { actor: `correction:${id}`, nowSeconds } as const;
  const rows = track(db, touched, by, () => work(id), keepsNoValues);
  const changed = Object.values(rows).reduce((sum, each) => sum + each.changed + each.removed, 0);
  endOperation(db, id, { changed });
  return rows;
}
