/** Runs a correction: the transaction, its record, and the steps after the commit. */

import { type OperationScope, type Outcome, perform } from '../../journal/command-transaction.ts';
import { beginOperation, createdRows, endOperation } from '../../journal/operations.ts';
import { type ChangedCounts, type Touched, track } from '../../journal/track.ts';
import {
  type CorrectionKind,
  type CorrectionOptions,
  type NamedMember,
  parseReason,
} from '../../registry/changes/correction-kinds.ts';
import { nameMember } from '../../registry/changes/labels.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { FieldError, invalidFields } from '../../values/errors.ts';
import type { Text } from '../../values/message.ts';
import type { Collision, ComparedPeople, CorrectionRefused, CorrectionResult } from '../correction-types.ts';

/** Effects of a correction, decided inside its transaction. */
export interface CorrectionPlan {
  readonly touched: Touched;
  /**
   * Changes the touched rows, and records the rows that it creates.
   * @param correctionId id of the operation
   */
  readonly work: (correctionId: number) => void;
  /** Members that the operator named, for display. */
  readonly members?: readonly Pick<NamedMember, 'id' | 'fate'>[];
  /** Stored with the correction, so without personal data. */
  readonly notes?: readonly Text[];
  /** Options known only after the decision, stored with the others. */
  readonly options?: object;
  readonly compared?: ComparedPeople;
  /** Values shown to the operator besides those that change; part of the fingerprint. */
  readonly seen?: unknown;
  /** True for an erasure: the history keeps no values. */
  readonly keepsNoValues?: boolean;
}

export const refuse = (message: Text, collisions: readonly Collision[] = []): CorrectionRefused => ({
  outcome: 'refused',
  message,
  collisions,
});

/** Result, with the `seen` values of the plan. */
type Corrected = readonly [result: CorrectionResult, seen?: unknown];

export interface Correction {
  readonly kind: CorrectionKind;
  /** JSON values without personal data, as `imports show` displays them. */
  readonly options: object;
  /** Reads the registry inside the transaction. */
  readonly decide: () => CorrectionPlan | CorrectionRefused;
}

/** @throws RegistryError `invalid` for the reason, `unavailable` */
export function runCorrection(
  scope: OperationScope,
  correction: Correction,
  options: CorrectionOptions,
): CorrectionResult {
  const reason = acceptReason(options.reason);
  const { isDryRun = false, agreed, nowSeconds } = options;
  const work = (): Outcome<CorrectionResult> => {
    const [done, seen] = correct(scope.db, correction, { ...options, reason });
    if (done.outcome === 'refused') return { result: done, isKept: false };
    return { result: done, isKept: !isDryRun, shown: [done.rows, done.members, done.notes, seen] };
  };
  const { result, ...performed } = perform(scope, 'Nothing was changed', nowSeconds, work, agreed);
  if (result.outcome === 'refused') return result;
  if (performed.fingerprint !== undefined) return { ...result, ...performed, correctionId: null };
  // After an erasure, nobody is named any more.
  return { ...result, ...performed, members: correction.kind === 'persons_erase' ? [] : result.members };
}

/** Temporary tables of members to merge (merge-pairs.ts) and move (move.ts); they may stay empty. */
const STAGED = `CREATE TEMP TABLE pairs (from_id INTEGER PRIMARY KEY, into_id INTEGER NOT NULL UNIQUE);
  CREATE TEMP TABLE moving (id INTEGER PRIMARY KEY);`;

/** After a refusal, the rollback drops the temporary tables too. */
function correct(db: Connection, correction: Correction, options: CorrectionOptions): Corrected {
  db.exec(STAGED);
  const plan = correction.decide();
  if ('outcome' in plan) return [plan];
  const { notes = [], compared, seen } = plan;
  const { systemUser, nowSeconds, reason } = options;
  // Recorded before any change, because other tables refer to the operation.
  const { kind, options: kept } = correction;
  const recorded = { kind, options: { ...kept, ...plan.options }, notes, reason, systemUser };
  const id = beginOperation(db, recorded, nowSeconds);
  const before = (plan.members ?? []).map((member) => nameMember(db, member));
  const rows = applyPlan(db, plan, id, options);
  db.exec('DROP TABLE temp.pairs; DROP TABLE temp.moving');
  const begun = createdRows(db, id).get('members');
  const members =
    begun === undefined ? before : [...before, nameMember(db, { id: begun.first, fate: 'begins' })];
  const done = { outcome: 'done', correctionId: id, rows, members, notes, lockMs: 0 } as const;
  return [compared === undefined ? done : { ...done, compared }, seen];
}

function acceptReason(text: string): string {
  const reason = parseReason(text);
  if (reason instanceof FieldError) throw invalidFields({ reason: [reason.message] });
  return reason;
}

function applyPlan(
  db: Connection,
  { touched, work, keepsNoValues = false }: CorrectionPlan,
  id: number,
  { nowSeconds }: CorrectionOptions,
): ChangedCounts {
  const by = { actor: `correction:${id}`, nowSeconds } as const;
  const run = () => {
    work(id);
    return createdRows(db, id);
  };
  const rows = track(db, touched, by, run, keepsNoValues);
  const changed = Object.values(rows).reduce((sum, each) => sum + each.changed + each.removed, 0);
  const created = Object.values(rows).reduce((sum, each) => sum + each.created, 0);
  endOperation(db, id, { created, changed });
  return rows;
}
