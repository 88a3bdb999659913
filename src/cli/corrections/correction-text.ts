/** Corrections as commands show them: text for people, JSON for programs. */

import { formatChanges } from '../../app/wording/correction-changes.ts';
import { hideIdentityCards } from '../../app/wording/hide-identity-cards.ts';
import { type Message, say } from '../../domain/values/message.ts';
import type { CorrectionDone, CorrectionResult, NamedMember } from '../../store/ports/journal/corrections.ts';
import { proposed } from '../terminal/proposed-command.ts';
import type { SettingOptions } from '../terminal/settings.ts';

/** Without the name: what a program prints may be kept. */
const describeMember = ({ id, cooperativeCode, memberCode, fate }: NamedMember) => ({
  id,
  cooperative_code: cooperativeCode,
  member_code: hideIdentityCards(memberCode),
  fate,
});

/** The same for what was done and what a dry run would do. */
export const describeCorrection = (result: CorrectionResult, isDryRun: boolean) =>
  result.outcome === 'done'
    ? {
        outcome: result.outcome,
        dry_run: isDryRun,
        correction_id: result.correctionId,
        final: result.isFinal === true,
        rows: result.rows,
        members: result.members.map(describeMember),
        notes: result.notes,
        lock_seconds: Number((result.lockMs / 1000).toFixed(3)),
      }
    : {
        outcome: result.outcome,
        dry_run: isDryRun,
        correction_id: null,
        message: hideIdentityCards(result.message),
        collisions: result.collisions,
      };

/** What would be done, before anybody is asked; a line each. */
export const formatPlan = (result: CorrectionDone): Message[] => [
  say('This would be done:'),
  ...formatChanges(result),
];

/** @param options of the command. @returns lines */
export function formatCorrection(result: CorrectionDone, options: SettingOptions): Message[] {
  const { correctionId: id, lockMs } = result;
  const changes = formatChanges(result);
  if (id === null) return [say('Nothing was changed. Without --dry-run:'), ...changes];
  const locked = (lockMs / 1000).toFixed(3);
  return [
    result.isRepeated === true
      ? say('Nothing was changed:')
      : say('Correction {id} is done (locked for {locked} s):', { id, locked }),
    ...changes,
    ...(result.isFinal === true
      ? []
      : [say('To undo it: {command}', { command: proposed(`imports undo ${id}`, options) })]),
  ];
}
