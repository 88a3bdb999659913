/** Results of corrections, and their text for people. */

import { countEntities, ENTITY_NAMES } from '../journal/change-texts.ts';
import type { ChangedRows, NamedMember } from '../journal/correction-kinds.ts';
import { CHANGED_ENTITIES, type ChangedEntity } from '../registry/changes/tables.ts';
import { hideIdentityCards, mayContainIdentityCard } from '../values/identity-card.ts';
import { asMessage, Message, mapTexts, say, type Text } from '../values/message.ts';

/** Two rows that cannot both exist where the correction would put them. */
export interface Collision {
  readonly entity: ChangedEntity;
  /** Label of the row that would move: a member code, reference or account number. */
  readonly row: string;
  readonly message: Text;
}

/**
 * The person whose number is replaced, and the current or former holder of the new number, whom the
 * correction would make one person. Without personal data.
 */
export interface ComparedPeople {
  /** Ids of the memberships of each person. */
  readonly memberIds: readonly [replaced: readonly number[], holding: readonly number[]];
  /** Contradictions between the two in words; empty if there are none. */
  readonly contradictions: readonly string[];
}

export interface CorrectionDone {
  readonly outcome: 'done';
  /** Id for the undo; null after a dry run. */
  readonly correctionId: number | null;
  /** Set after a dry run. Equal fingerprints mean the same values of the same rows. */
  readonly fingerprint?: string | undefined;
  /** Counts by entity with created, changed or removed rows. */
  readonly rows: { readonly [entity in ChangedEntity]?: ChangedRows };
  /**
   * Persons or members affected, or the owners of affected entries: personal data. Empty for other
   * corrections, and after an erasure.
   */
  readonly members: readonly NamedMember[];
  /** Points for the operator to check, without personal data. */
  readonly notes: readonly Text[];
  /** Both people, where a new national ID had another holder. */
  readonly compared?: ComparedPeople | undefined;
  readonly isFinal?: boolean;
  /** True if nothing was done because an earlier correction, with this id, has done the same. */
  readonly isRepeated?: boolean;
  /** Time during which other writers were locked out, in milliseconds. */
  readonly lockMs: number;
  /** Error in the refresh of the read model after the commit. */
  readonly errorAfterCommit?: unknown;
}

/** Nothing was changed. */
export interface CorrectionRefused {
  readonly outcome: 'refused';
  /** Without personal data. */
  readonly message: Text;
  /** All collisions; empty if the refusal has another reason. */
  readonly collisions: readonly Collision[];
  /** People whom the correction would make one, if `samePerson` confirms it. */
  readonly compared?: ComparedPeople | undefined;
}

export type CorrectionResult = CorrectionDone | CorrectionRefused;

// Results and refusals of corrections as text

/** Limit of collisions shown; the rest is only counted. */
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

/** @returns lines */
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
