/** The types of messages that endpoints of webhooks receive (docs/webhooks.md#messages). */
import { EVENT_ENTITIES, EVENT_TYPES } from '../events.ts';
import { FieldError } from '../values/errors.ts';

/** Of messages that replace all events of an import, or of its undo. */
export const IMPORT_TYPES = ['import.completed', 'import.undone'] as const;
/** Events, those, and that the feed begins again. */
export const WEBHOOK_TYPES = [...EVENT_TYPES, ...IMPORT_TYPES, 'feed.restarted'] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

/** @param names types, or the types of one kind as `member.*` @param known all of them */
export function parseTypes<Type extends string>(
  names: readonly string[],
  known: readonly Type[],
): readonly Type[] | FieldError {
  const found = new Set<Type>();
  for (const name of names) {
    const kind = /^([a-z]+)\.\*$/.exec(name)?.[1];
    const named = known.filter((type) => type === name || type.split('.')[0] === kind);
    if (named.length === 0)
      return new FieldError(
        `Known types: ${[...EVENT_ENTITIES.map((entity) => `${entity}.*`), ...known].join(', ')}.`,
      );
    for (const type of named) found.add(type);
  }
  return [...found];
}
