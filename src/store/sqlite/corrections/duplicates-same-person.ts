/** Records that memberships which contradict each other are of one person. No row changes. */
import { say } from '../../../domain/values/message.ts';
import type { CorrectionOptions, CorrectionResult } from '../../contract/journal/corrections.ts';
import { ACCEPTANCE_KIND, type AcceptanceOptions, openAccepted } from '../duplicates/accepted.ts';
import { contradictionsWithin, openMemberships } from '../duplicates/find-contradictions.ts';
import type { OperationScope } from '../journal/command-transaction.ts';
import { nameMember } from '../journal/labels.ts';
import { refuseUnknown } from './persons-deceased.ts';
import { type CorrectionPlan, refuse, runCorrection } from './run.ts';

export function acceptContradictions(
  scope: OperationScope,
  identityCard: string,
  options: CorrectionOptions,
): CorrectionResult {
  const { db } = scope;
  const ids = db.values<number>('SELECT id FROM main.members WHERE identity_card = ? ORDER BY id', [
    identityCard,
  ]);
  if (ids.length === 0) return refuseUnknown(db, identityCard);
  const memberships = openMemberships(db)(ids);
  if (contradictionsWithin(memberships).length === 0)
    return refuse('The memberships of this person do not contradict each other.');
  const members = ids.map((id) => ({ id, fate: 'stays' as const }));
  const acceptedBy = openAccepted(db)(ids);
  if (acceptedBy !== undefined)
    return {
      outcome: 'done',
      correctionId: acceptedBy,
      rows: {},
      members: members.map((member) => nameMember(db, member)),
      lockMs: 0,
      notes: [say('The person was checked before, by correction {id}.', { id: acceptedBy })],
      isRepeated: true,
    };
  const plan: CorrectionPlan = { touched: {}, members, seen: memberships, work: () => undefined };
  const kept: AcceptanceOptions = { members: ids };
  return runCorrection(scope, { kind: ACCEPTANCE_KIND, options: kept, decide: () => plan }, options);
}
