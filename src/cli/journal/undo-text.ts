/** The undo of an operation as it is shown to people. */

import { formatActor } from '../../app/wording/actors.ts';
import { ENTITY_NAMES } from '../../app/wording/entity-names.ts';
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import { asMessage, type Message, say, type Written } from '../../domain/values/message.ts';
import type { UndoBlocker, UndoResult } from '../../store/contract/journal/operations.ts';

type Undone = Extract<UndoResult, { outcome: 'undone' }>;
type Refused = Extract<UndoResult, { outcome: 'refused' }>;

/** An import or a correction. */
export interface Undoing {
  readonly id: number;
  readonly isCorrection: boolean;
}

const changesOf = ({ isCorrection }: Undoing, { removed, restored }: Undone): readonly Message[] =>
  isCorrection
    ? [
        ...(removed === 0 ? [] : [say('{n|# added row|# added rows} removed', { n: removed })]),
        say('{n|# changed or removed row|# changed or removed rows} put back', { n: restored }),
      ]
    : [say('{n|# row|# rows} removed', { n: removed }), say('{n} put back as they were', { n: restored })];

export function describeUndoing(
  undoing: Undoing,
  result: Undone,
  stage: 'plan' | 'dry run' | 'done',
): Message {
  const { id, isCorrection } = undoing;
  const changes = changesOf(undoing, result);
  if (stage === 'dry run') return say('Nothing was changed. Without --dry-run: {changes}.', { changes });
  if (stage === 'plan') {
    const planned = { id, removed: result.removed, restored: result.restored };
    return isCorrection
      ? say(
          'Undoing correction {id} would remove {removed|# row|# rows} and put {restored|# row|# rows} back.',
          planned,
        )
      : say(
          'Undoing import {id} would remove {removed|# row|# rows} and put {restored|# row|# rows} back.',
          planned,
        );
  }
  const values = { id, changes, locked: (result.lockMs / 1000).toFixed(3) };
  return isCorrection
    ? say('Correction {id} is undone: {changes} (locked for {locked} s).', values)
    : say('Import {id} is undone: {changes} (locked for {locked} s).', values);
}

/** @param at when */
export const describeUndoneBefore = ({ id, isCorrection }: Undoing, at: Written): Message =>
  isCorrection
    ? say('Correction {id} was undone before, at {at}.', { id, at })
    : say('Import {id} was undone before, at {at}.', { id, at });

/**
 * A line for each of the blockers that were listed, and how many more there are.
 * @param isCorrection whether the operation with this id is one
 */
export function describeRefusal(
  undoing: Undoing,
  refused: Refused,
  isCorrection: (id: number) => boolean,
): Message[] {
  const { id } = undoing;
  const { count, blockers } = refused;
  const rest = count - blockers.length;
  return [
    undoing.isCorrection
      ? say('Nothing was undone: other rows build on correction {id}.', { id })
      : say('Nothing was undone: other rows build on import {id}.', { id }),
    ...blockers.map((blocker) => say('  {blocker}', { blocker: describeBlocker(blocker, undoing) })),
    ...(rest > 0 ? [say('  {rest} more; --json lists all of them.', { rest })] : []),
    ...firstToUndo(undoing, refused, isCorrection),
  ];
}

/** The newest first, as it may build on the older. */
function firstToUndo(
  { id, isCorrection }: Undoing,
  { first, obstacle }: Refused,
  isCorrectionToo: (id: number) => boolean,
): Message[] {
  if (obstacle === 'erased') {
    return [
      isCorrection
        ? say('An erasure cannot be undone, and so correction {id} cannot be undone either.', { id })
        : say('An erasure cannot be undone, and so import {id} cannot be undone either.', { id }),
    ];
  }
  const operations = first.map((each, i) => {
    const operation = formatActor(`${isCorrectionToo(each) ? 'correction' : 'import'}:${each}`);
    return i === 0 ? operation : say('then {operation}', { operation });
  });
  return [
    ...(operations.length === 0 ? [] : [say('Undo {operations} first.', { operations })]),
    ...(obstacle === null
      ? []
      : [say('What no import has written cannot be undone: correct the rows of the file instead.')]),
  ];
}

/** What no two rows of a cooperative share. */
function describeTaken(kind: UndoBlocker['kind'], values: { row: Message; by: Message }): Message {
  switch (kind) {
    case 'cooperatives':
      return say('{row}, from {by}, has a code that would be put back', values);
    case 'members':
      return say('{row}, from {by}, has a member code or national ID that would be put back', values);
    case 'accounts':
      return say('{row}, from {by}, has an account number that would be put back', values);
    default:
      return say('{row}, from {by}, has a reference that would be put back', values);
  }
}

function describeBlocker(
  { kind, row: name, reason, actor }: UndoBlocker,
  { isCorrection }: Undoing,
): Message {
  const row = say('{entity} {name}', {
    entity: asMessage(ENTITY_NAMES[kind]),
    name: hideIdentityCards(name),
  });
  const by = formatActor(actor);
  if (reason === 'changed') return say('{row} was changed since, by {by}', { row, by });
  if (reason === 'erased') {
    return kind === 'members'
      ? say('a member was erased since, by {by}', { by })
      : say('{row} belongs to a person who was erased since, by {by}', { row, by });
  }
  if (reason === 'replaced') return say('it was replaced, by {by}', { by });
  if (reason === 'overpaid')
    return say('{row} would have more than 12 digits paid: payments would count again', { row });
  if (reason === 'taken') return describeTaken(kind, { row, by });
  return isCorrection
    ? say('{row}, from {by}, belongs to a row that the correction created', { row, by })
    : say('{row}, from {by}, belongs to a row that the import created', { row, by });
}
