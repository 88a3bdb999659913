/** Results of corrections, and their text for people. */

import { countEntities, ENTITY_NAMES } from '../journal/change-texts.ts';
import type { AffectedMember, ChangedRows } from '../journal/operations.ts';
import { CHANGED_ENTITIES, type ChangedEntity } from '../registry/changes/tables.ts';
import { hideIdentityCards, mayContainIdentityCard } from '../values/identity-card.ts';
import { asMessage, Message, mapTexts, say, type Text } from '../values/message.ts';

/** Row that prevents a correction, for example because the other cooperative has a row with its reference. */
export interface Collision {
  readonly entity: ChangedEntity;
  /** Label of the row: a member code, reference or account number. */
  readonly row: string;
  readonly message: Text;
}

/**
 * Two people whom a correction would make one person, without personal data. If a national ID is replaced,
 * the first person has the old ID, and the second has or had the new ID.
 */
export interface ComparedPeople {
  readonly memberIds: readonly [replaced: readonly number[], holding: readonly number[]];
  readonly contradictions: readonly string[];
}

export interface CorrectionDone {
  readonly outcome: 'done';
  /** Id for the undo; null after a rollback: a dry run, or changes that were not confirmed. */
  readonly correctionId: number | null;
  /** Set after a rollback. Equal fingerprints mean that the same rows would change to the same values. */
  readonly fingerprint?: string | undefined;
  readonly rows: { readonly [entity in ChangedEntity]?: ChangedRows };
  /** Members whom the correction names. They are personal data. Empty after an erasure. */
  readonly members: readonly AffectedMember[];
  /** Facts that the operator should check, without personal data. */
  readonly notes: readonly Text[];
  /** Set if another person has, or had, the new national ID. */
  readonly compared?: ComparedPeople | undefined;
  readonly isFinal?: boolean;
  /** True if nothing was changed, because the correction with this id has made the same changes before. */
  readonly isRepeated?: boolean;
  /** Milliseconds for which other processes could not write. */
  readonly lockMs: number;
  /** For example, an error in the refresh of the read model. */
  readonly errorAfterCommit?: unknown;
}

export interface CorrectionRefused {
  readonly outcome: 'refused';
  /** Sentence without personal data. */
  readonly message: Text;
  readonly collisions: readonly Collision[];
  /** People whom the correction makes one person if the operator agrees with `samePerson`. */
  readonly compared?: ComparedPeople | undefined;
}

export type CorrectionResult = CorrectionDone | CorrectionRefused;

const SHOWN_COLLISIONS = 20;

/** Hides national IDs, which some cooperatives use as codes. */
const withoutNumbers = (text: string): Text =>
  mayContainIdentityCard(text)
    ? new Message(hideIdentityCards(text, '{hidden}'), { hidden: asMessage('(hidden)') })
    : text;

const hideIn = (text: Text): Message =>
  typeof text === 'string' ? asMessage(withoutNumbers(text)) : mapTexts(text, withoutNumbers);

function formatMember({
  id,
  cooperativeCode: cooperative,
  memberCode,
  fullName,
  fate,
}: AffectedMember): Message {
  const [code, name] = [withoutNumbers(memberCode), withoutNumbers(fullName)];
  const values = { id, cooperative, code, name };
  return fate === 'changes'
    ? say('  member {id}: {cooperative} {code}, {name}', values)
    : say('  member {id}: {cooperative} {code}, {name} ({fate})', { ...values, fate: asMessage(fate) });
}

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

export const formatChanges = (result: CorrectionDone): Message[] => [
  ...result.members.map(formatMember),
  ...formatRows(result),
  ...result.notes.map((note) => say('  Note: {note}', { note: hideIn(note) })),
  ...(result.isFinal === true ? [say('It cannot be undone.')] : []),
];

export function formatRefused({ message, collisions }: CorrectionRefused): Message[] {
  const rest = collisions.length - SHOWN_COLLISIONS;
  return [
    say('{message} Nothing was changed.', { message: hideIn(message) }),
    ...collisions.slice(0, SHOWN_COLLISIONS).map(({ entity, row, message: reason }) =>
      say('  {entity} {row}: {message}', {
        entity: asMessage(ENTITY_NAMES[entity]),
        row: withoutNumbers(row),
        message: hideIn(reason),
      }),
    ),
    ...(rest > 0 ? [say('  {rest} more; --json lists all of them.', { rest })] : []),
  ];
}
