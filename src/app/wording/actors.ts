/** Who made a change, for people. */
import { asMessage, type Message, say } from '../../domain/values/message.ts';
import type { Actor } from '../../store/contract/journal/history.ts';

/**
 * `key:7` → key 7; what is older than the history has no actor.
 * @param who made the import, correction or undo; null where that is not to be named
 */
export function formatActor(actor: Actor | null, who: string | null = null): Message {
  if (actor === null) return say('before the history');
  if (who !== null) return say('{actor}: {who}', { actor: formatActor(actor), who });
  const [type = '', ...rest] = actor.split(':');
  const name = rest.join(':');
  return type === 'undo'
    ? say('undo of {name}', { name })
    : say('{type} {name}', { type: asMessage(type), name });
}
