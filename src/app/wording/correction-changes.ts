/** What a correction changes, or why it is refused, in sentences for people. */

import { hideIdentityCards, mayContainIdentityCard } from '../../domain/membership/identity-card.ts';
import { asMessage, Message, mapTexts, say, type Text } from '../../domain/values/message.ts';
import {
  CHANGED_ENTITIES,
  type CorrectionDone,
  type CorrectionRefused,
  type NamedMember,
} from '../../store/contract/journal/corrections.ts';
import { countEntities, ENTITY_NAMES } from './entity-names.ts';

/** Collisions shown of those found; the rest is counted. */
const SHOWN_COLLISIONS = 20;

/** Some cooperatives use national IDs as codes. */
const withoutNumbers = (text: string): Text =>
  mayContainIdentityCard(text)
    ? new Message(hideIdentityCards(text, '{hidden}'), { hidden: asMessage('(hidden)') })
    : text;

/** The same for all that stands in its places. */
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

/** What a correction changes, a line each. */
export const formatChanges = (result: CorrectionDone): Message[] => [
  ...result.members.map(formatMember),
  ...formatRows(result),
  ...result.notes.map((note) => say('  Note: {note}', { note: hideIn(note) })),
  ...(result.isFinal === true ? [say('It cannot be undone.')] : []),
];

/** @returns lines */
export function formatRefused({ message, collisions }: CorrectionRefused): Message[] {
  const shown = collisions.slice(0, SHOWN_COLLISIONS);
  const rest = collisions.length - shown.length;
  return [
    say('{message} Nothing was changed.', { message: hideIn(message) }),
    ...shown.map(({ entity, row, message: why }) =>
      say('  {entity} {row}: {message}', {
        entity: asMessage(ENTITY_NAMES[entity]),
        row: withoutNumbers(row),
        message: hideIn(why),
      }),
    ),
    ...(rest > 0 ? [say('  {rest} more; --json lists all of them.', { rest })] : []),
  ];
}
