/** Sets a pair of members aside: somebody has looked, and they are two people. No row changes. */
import { say } from '../../../domain/values/message.ts';
import type { CorrectionOptions, CorrectionResult } from '../../contract/journal/corrections.ts';
import { DISMISSAL_KIND, type DismissalOptions, personPair, readDismissed } from '../duplicates/dismissed.ts';
import type { OperationScope } from '../journal/command-transaction.ts';
import { nameMember } from '../journal/labels.ts';
import { findMember } from './members-merge.ts';
import { type CorrectionPlan, refuse, runCorrection } from './run.ts';

export function dismissDuplicate(
  scope: OperationScope,
  ids: DismissalOptions,
  options: CorrectionOptions,
): CorrectionResult {
  const { db } = scope;
  const [one, other] = [findMember(db, ids.one), findMember(db, ids.other)];
  if ('outcome' in one) return one;
  if ('outcome' in other) return other;
  if (one.identity_card === other.identity_card)
    return refuse('Both have one national ID, and so are one person.');
  const members = [ids.one, ids.other].map((id) => ({ id, fate: 'stays' as const }));
  const dismissedBy = readDismissed(db).get(personPair(one.identity_card, other.identity_card));
  if (dismissedBy !== undefined) {
    const named = members.map((member) => nameMember(db, member));
    return {
      outcome: 'done',
      correctionId: dismissedBy,
      rows: {},
      members: named,
      lockMs: 0,
      notes: [say('The pair was set aside before, by correction {id}.', { id: dismissedBy })],
      isRepeated: true,
    };
  }
  const plan: CorrectionPlan = { touched: {}, members, work: () => undefined };
  return runCorrection(scope, { kind: DISMISSAL_KIND, options: ids, decide: () => plan }, options);
}
