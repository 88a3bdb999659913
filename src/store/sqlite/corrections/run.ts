/** Runs one correction: its transaction, its record, and what follows the commit. */
import { type CorrectionKind, parseReason } from '../../../domain/corrections.ts';
import { FieldError, invalidFields } from '../../../domain/values/errors.ts';
import type { Text } from '../../../domain/values/message.ts';
import type {
  Collision,
  ComparedPeople,
  CorrectionOptions,
  CorrectionRefused,
  CorrectionResult,
  NamedMember,
} from '../../contract/journal/corrections.ts';
import type { Connection } from '../engine/connection.ts';
import { type OperationScope, type Outcome, perform } from '../journal/command-transaction.ts';
import { nameMember } from '../journal/labels.ts';
import { beginOperation, createdRows, endOperation } from '../journal/operations.ts';
import { type ChangedCounts, type Touched, track } from '../journal/track.ts';

/** What a correction does, decided inside its transaction. */
export interface CorrectionPlan {
  readonly touched: Touched;
  /** Changes the touched rows, and keeps which it creates. @param correctionId of the operation */
  readonly work: (correctionId: number) => void;
  /** Those that the operator means, to be shown. */
  readonly members?: readonly Pick<NamedMember, 'id' | 'fate'>[];
  /** Kept with the correction, so without personal data. */
  readonly notes?: readonly Text[];
  /** What of it is known only now, and kept beside the options. */
  readonly options?: object;
  readonly compared?: ComparedPeople;
  /** What somebody sees of them, besides the values that change. */
  readonly seen?: unknown;
  /** For an erasure: the history keeps no values. */
  readonly keepsNoValues?: boolean;
}

export const refuse = (message: Text, collisions: readonly Collision[] = []): CorrectionRefused => ({
  outcome: 'refused',
  message,
  collisions,
});

/** Done, with what its plan lets somebody see. */
type Corrected = readonly [result: CorrectionResult, seen?: unknown];

export interface Correction {
  readonly kind: CorrectionKind;
  /** Anything that JSON can hold, without personal data: it is shown by `imports show`. */
  readonly options: object;
  /** Reads the registry, inside the transaction. */
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
  // Of an erasure that is done nobody is named any more.
  return { ...result, ...performed, members: correction.kind === 'persons_erase' ? [] : result.members };
}

/** The members that a correction merges (merge.ts) and moves (move.ts); none where it does neither. */
const STAGED = `CREATE TEMP TABLE pairs (from_id INTEGER PRIMARY KEY, into_id INTEGER NOT NULL UNIQUE);
  CREATE TEMP TABLE moving (id INTEGER PRIMARY KEY);`;

/** What is refused is rolled back, and these tables with it. */
function correct(db: Connection, correction: Correction, options: CorrectionOptions): Corrected {
  db.exec(STAGED);
  const plan = correction.decide();
  if ('outcome' in plan) return [plan];
  const { notes = [], compared, seen } = plan;
  const { systemUser, nowSeconds, reason } = options;
  // Before anything is changed: other tables refer to it.
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
