/** Who made a change, for people. */
import { asMessage, type Message, say } from '../../domain/values/message.ts';
import type { Actor } from '../../store/ports/journal/history.ts';

/** `key:7` → key 7; what is older than the history has no actor. */
export function formatActor(actor: Actor | null): Message {
  if (actor === null) return say('before the history');
  const [type = '', ...rest] = actor.split(':');
  const name = rest.join(':');
  return type === 'undo'
    ? say('undo of {name}', { name })
    : say('{type} {name}', { type: asMessage(type), name });
}
