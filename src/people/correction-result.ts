/** Results of corrections, and their text for people. */

import { countEntities, ENTITY_NAMES } from '../journal/change-texts.ts';
import type { ChangedRows, NamedMember } from '../journal/correction-kinds.ts';
import { CHANGED_ENTITIES, type ChangedEntity } from '../registry/changes/tables.ts';
import { hideIdentityCards, mayContainIdentityCard } from '../values/identity-card.ts';
import { asMessage, Message, mapTexts, say, type Text } from '../values/message.ts';

/** A row that prevents a correction, for example because its reference exists in the other cooperative. */
export interface Collision {
  readonly entity: ChangedEntity;
  /** Label of the row: a member code, reference or account number. */
  readonly row: string;
  readonly message: Text;
}

/**
 * Two people that a correction would make one person, without personal data. If a number is replaced, these
 * are the person with that number and the present or former holder of the new number.
 */
export interface ComparedPeople {
  /** Ids of the memberships of each person. */
  readonly memberIds: readonly [replaced: readonly number[], holding: readonly number[]];
  /** Conflicting data of the two people, in words; empty if there is none. */
  readonly contradictions: readonly string[];
}

export interface CorrectionDone {
  readonly outcome: 'done';
  /** Id for the undo; null after a dry run. */
  readonly correctionId: number | null;
  /** Set after a dry run. Equal fingerprints mean equal values of the same rows. */
  readonly fingerprint?: string | undefined;
  /** Numbers of rows by entity, for entities with created, changed or removed rows. */
  readonly rows: { readonly [entity in ChangedEntity]?: ChangedRows };
  /**
   * Affected members, or owners of affected entries; personal data. Empty for other corrections, and after an
   * erasure.
   */
  readonly members: readonly NamedMember[];
  /** Points for the operator to check, without personal data. */
  readonly notes: readonly Text[];
  /** Set if the new national ID has, or had, another holder. */
  readonly compared?: ComparedPeople | undefined;
  readonly isFinal?: boolean;
  /** True if nothing was done because the earlier correction with this `correctionId` did the same. */
  readonly isRepeated?: boolean;
  /** Time during which other writers were locked out, in milliseconds. */
  readonly lockMs: number;
  /** Error in the refresh of the read model after the commit. */
  readonly errorAfterCommit?: unknown;
}

/** Result of a correction that changed nothing. */
export interface CorrectionRefused {
  readonly outcome: 'refused';
  /** Sentence without personal data. */
  readonly message: Text;
  /** All collisions; empty if the refusal has another reason. */
  readonly collisions: readonly Collision[];
  /** Set if the agreement `samePerson` would allow the correction to make these people one person. */
  readonly compared?: ComparedPeople | undefined;
}

export type CorrectionResult = CorrectionDone | CorrectionRefused;

// Results and refusals of corrections as text

const SHOWN_COLLISIONS = 20;

/** Hides national IDs, which some cooperatives use as codes. */
const withoutNumbers = (text: string): Text =>
  mayContainIdentityCard(text)
    ? new Message(hideIdentityCards(text, '{hidden}'), { hidden: asMessage('(hidden)') })
    : text;

/** Hides national IDs in all placeholders of a message. */
const hideIn = (text: Text): Message =>
  typeof text === 'string' ? asMessage(withoutNumbers(text)) : mapTexts(text, withoutNumbers);

function formatMember({
  id,
  cooperativeCode: cooperative,
  memberCode,
  fullName,
  fate,
}: NamedMember): Message {
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
