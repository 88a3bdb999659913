/** Corrections as commands show them: text for people, JSON for programs. */
import { counted } from '../../domain/values/text.ts';
import {
  CHANGED_ENTITIES,
  type CorrectionDone,
  type CorrectionRefused,
  type CorrectionResult,
  type NamedMember,
} from '../../store/ports/journal/corrections.ts';
import { ENTITY_NAMES } from '../terminal/entity-names.ts';
import { hideIdentityCards } from '../terminal/hide-identity-cards.ts';
import { proposed } from '../terminal/proposed-command.ts';
import type { SettingOptions } from '../terminal/settings.ts';

/** Collisions shown of those found; the rest is counted. */
const SHOWN_COLLISIONS = 20;

/** Without the name: what a program prints may be kept. */
const describeMember = ({ id, cooperativeCode, memberCode, fate }: NamedMember) => ({
  id,
  cooperative_code: cooperativeCode,
  member_code: hideIdentityCards(memberCode),
  fate,
});

function formatMember({ id, cooperativeCode, memberCode, fullName, fate }: NamedMember): string {
  const [code, name] = [hideIdentityCards(memberCode), hideIdentityCards(fullName)];
  return `  member ${id}: ${cooperativeCode} ${code}, ${name}${fate === 'changes' ? '' : ` (${fate})`}\n`;
}

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

function formatRows({ rows, isFinal = false }: CorrectionDone): string {
  const lines = CHANGED_ENTITIES.flatMap((entity) => {
    const { created = 0, changed = 0, removed = 0 } = rows[entity] ?? {};
    return [
      ...(created > 0 ? [`  ${counted(created, ...ENTITY_NAMES[entity])} created\n`] : []),
      ...(changed > 0
        ? [`  ${counted(changed, ...ENTITY_NAMES[entity])} ${isFinal ? 'erased' : 'changed'}\n`]
        : []),
      ...(removed > 0 ? [`  ${counted(removed, ...ENTITY_NAMES[entity])} removed\n`] : []),
    ];
  });
  return lines.length === 0 ? '  No row changes.\n' : lines.join('');
}

function formatChanges(result: CorrectionDone): string {
  const notes = result.notes.map((note) => `  Note: ${note}\n`);
  const end = result.isFinal === true ? ['It cannot be undone.\n'] : [];
  return [...result.members.map(formatMember), formatRows(result), ...notes, ...end].join('');
}

/** What would be done, before anybody is asked. */
export const formatPlan = (result: CorrectionDone): string => `This would be done:\n${formatChanges(result)}`;

/** @param options of the command */
export function formatCorrection(result: CorrectionDone, options: SettingOptions): string {
  const { correctionId, lockMs } = result;
  const changes = formatChanges(result);
  if (correctionId === null) return `Nothing was changed. Without --dry-run:\n${changes}`;
  const done = `Correction ${correctionId} is done (locked for ${(lockMs / 1000).toFixed(3)} s)`;
  const undo = `To undo it: ${proposed(`imports undo ${correctionId}`, options)}\n`;
  const start = result.isRepeated === true ? 'Nothing was changed' : done;
  return `${start}:\n${changes}${result.isFinal === true ? '' : undo}`;
}

export function formatRefused({ message, collisions }: CorrectionRefused): string {
  const lines = collisions
    .slice(0, SHOWN_COLLISIONS)
    .map((each) => `  ${ENTITY_NAMES[each.entity][0]} ${hideIdentityCards(each.row)}: ${each.message}\n`);
  const rest = collisions.length - lines.length;
  const more = rest > 0 ? `  ${rest} more; --json lists all of them.\n` : '';
  return `${hideIdentityCards(message)} Nothing was changed.\n${lines.join('')}${more}`;
}
