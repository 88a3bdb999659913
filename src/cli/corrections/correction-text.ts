/** Corrections as commands show them: text for people, JSON for programs. */
import { asMessage, type Message, say } from '../../domain/values/message.ts';
import {
  CHANGED_ENTITIES,
  type CorrectionDone,
  type CorrectionRefused,
  type CorrectionResult,
  type NamedMember,
} from '../../store/ports/journal/corrections.ts';
import { countEntities, ENTITY_NAMES } from '../terminal/entity-names.ts';
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

function formatMember({
  id,
  cooperativeCode: cooperative,
  memberCode,
  fullName,
  fate,
}: NamedMember): Message {
  const [code, name] = [hideIdentityCards(memberCode), hideIdentityCards(fullName)];
  const values = { id, cooperative, code, name };
  return fate === 'changes'
    ? say('  member {id}: {cooperative} {code}, {name}', values)
    : say('  member {id}: {cooperative} {code}, {name} ({fate})', { ...values, fate: asMessage(fate) });
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

function formatRows({ rows, isFinal = false }: CorrectionDone): Message[] {
  const lines = CHANGED_ENTITIES.flatMap((entity) => {
    const { created = 0, changed = 0, removed = 0 } = rows[entity] ?? {};
    const count = (n: number) => ({ rows: countEntities(entity, n) });
    return [
      ...(created > 0 ? [say('  {rows} created', count(created))] : []),
      ...(changed > 0 && isFinal ? [say('  {rows} erased', count(changed))] : []),
      ...(changed > 0 && !isFinal ? [say('  {rows} changed', count(changed))] : []),
      ...(removed > 0 ? [say('  {rows} removed', count(removed))] : []),
    ];
  });
  return lines.length === 0 ? [say('  No row changes.')] : lines;
}

const formatChanges = (result: CorrectionDone): Message[] => [
  ...result.members.map(formatMember),
  ...formatRows(result),
  ...result.notes.map((note) => say('  Note: {note}', { note: asMessage(note) })),
  ...(result.isFinal === true ? [say('It cannot be undone.')] : []),
];

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

/** @returns lines */
export function formatRefused({ message, collisions }: CorrectionRefused): Message[] {
  const shown = collisions.slice(0, SHOWN_COLLISIONS);
  const rest = collisions.length - shown.length;
  return [
    say('{message} Nothing was changed.', { message: asMessage(hideIdentityCards(message)) }),
    ...shown.map(({ entity, row, message: why }) =>
      say('  {entity} {row}: {message}', {
        entity: asMessage(ENTITY_NAMES[entity]),
        row: hideIdentityCards(row),
        message: asMessage(why),
      }),
    ),
    ...(rest > 0 ? [say('  {rest} more; --json lists all of them.', { rest })] : []),
  ];
}
