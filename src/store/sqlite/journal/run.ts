/** Runs one correction: its transaction, its row among the imports, and what follows the commit. */
import { type CorrectionKind, parseReason } from '../../../domain/corrections.ts';
import { FieldError, RegistryError, refuseFields } from '../../../domain/values/errors.ts';
import type {
  Collision,
  CorrectionDone,
  CorrectionOptions,
  CorrectionRefused,
  CorrectionResult,
  NamedMember,
} from '../../ports/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { isBusy, isDiskFull } from '../engine/errors.ts';
import type { ReadModelFormat } from '../read-model/columns.ts';
import { nameMember } from './labels.ts';
import { tidyUp } from './tidy-up.ts';
import { type ChangedCounts, type Touched, type TrackOptions, track } from './track.ts';

/** What a correction does, decided inside its transaction. */
export interface CorrectionPlan {
  readonly touched: Touched;
  /** Changes the touched rows. @param correctionId of the row in `imports` */
  readonly work: (correctionId: number) => void;
  /** Those that the operator means, to be shown. */
  readonly members?: readonly Pick<NamedMember, 'id' | 'fate'>[];
  /** Kept with the correction, so without personal data. */
  readonly notes?: readonly string[];
  readonly keepsNoValues?: TrackOptions['keepsNoValues'];
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
  const reason = parseReason(options.reason);
  if (reason instanceof FieldError) refuseFields({ reason: [reason.message] });
  let lockedAtMs = 0;
  const result = locked(db, (): CorrectionResult => {
    lockedAtMs = monotonicMs();
    const plan = correction.decide();
    if ('outcome' in plan) throw new TakenBack(plan);
    const { notes = [] } = plan;
    const id = insertRecord(db, correction, notes, { ...options, reason: reason as string });
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
  // Any kind whose rows are in the read model.
  const errorAfterCommit = tidyUp({ db, kind: 'production', format: format() }, options.nowSeconds);
  db.waitForLock(waitMs);
  return errorAfterCommit === undefined ? done : { ...done, errorAfterCommit };
}

function locked(db: Connection, work: () => CorrectionResult): CorrectionResult {
  try {
    return db.transaction.immediate(work);
  } catch (error) {
    if (error instanceof TakenBack) return error.result;
    const unavailable = (message: string) => new RegistryError('unavailable', message, { cause: error });
    if (isBusy(error))
      throw unavailable('Another process is writing to the registry. Nothing was changed; try again.');
    if (isDiskFull(error)) throw unavailable('The disk is full. Nothing was changed.');
    throw error;
  }
}

const lastChange = (db: Connection): number =>
  db.raw.prepare('SELECT coalesce(max(id), 0) FROM main.changes').pluck().get() as number;

/** Before anything is changed: other tables refer to it. */
function insertRecord(
  db: Connection,
  { kind, options }: Correction,
  notes: readonly string[],
  { reason, systemUser, nowSeconds }: CorrectionOptions,
): number {
  const { lastInsertRowid } = db.raw
    .prepare(
      `INSERT INTO main.imports (file_name, sha256, kind, options, notes, reason, system_user, imported_at,
         created, changed, unchanged, kept, refused_rows,
         first_row, last_row, first_account, last_account, first_change, last_change)
       VALUES ('', '', @kind, @options, @notes, @reason, @systemUser, @nowSeconds,
         0, 0, 0, 0, 0, 1, 0, 1, 0, @before + 1, @before)`,
    )
    .run({
      ...{
        kind,
        options: JSON.stringify(options),
        notes: JSON.stringify(notes),
        reason,
        systemUser,
        nowSeconds,
      },
      before: lastChange(db),
    });
  return Number(lastInsertRowid);
}

function applyPlan(
  db: Connection,
  { touched, work, keepsNoValues = false }: CorrectionPlan,
  id: number,
  { nowSeconds }: CorrectionOptions,
): ChangedCounts {
  const actor = `correction:${id}` as const;
  const rows = track(db, touched, { actor, nowSeconds, keepsNoValues }, () => work(id));
  const changed = Object.values(rows).reduce((sum, each) => sum + each.changed + each.removed, 0);
  db.raw
    .prepare('UPDATE main.imports SET changed = ?, last_change = ? WHERE id = ?')
    .run(changed, lastChange(db), id);
  return rows;
}
