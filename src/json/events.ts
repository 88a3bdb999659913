/** An event as followers read it, and as receivers of webhooks get it (docs/api.md#events). */
import { EVENT_TYPES, type RegistryEvent } from '../domain/events.ts';
import { array, choiceOf, integer, object, type Static, string } from './schema.ts';
import { instant, plain, serializeObject } from './serializer.ts';

const EVENT_DATA = object({
  id: string({ description: 'Of the cooperative, member, loan or payment.' }),
  cooperative_id: string({ description: 'The cooperative that it belongs to; itself for a cooperative.' }),
  fields_changed: array(string(), { description: 'Empty for what was created or deleted.' }),
});

export const EVENT = object(
  {
    type: choiceOf(EVENT_TYPES),
    timestamp: string({ format: 'date-time', description: 'When it was changed.' }),
    sequence: integer({ minimum: 1, description: 'Rises by one from event to event.' }),
    actor: string({
      pattern: '^(key|import|undo|correction):[0-9]+$',
      description: 'Who changed it: a key, an import, the undo of one, or a correction, by its id.',
    }),
    data: EVENT_DATA,
  },
  { title: 'Event' },
);

const serializeData = serializeObject<Static<typeof EVENT_DATA>, RegistryEvent>({
  id: plain(({ id }) => String(id)),
  cooperative_id: plain(({ cooperativeId }) => String(cooperativeId)),
  fields_changed: ({ fieldsChanged }) => (fieldsChanged.length === 0 ? '[]' : JSON.stringify(fieldsChanged)),
});

export const serializeEvent = serializeObject<Static<typeof EVENT>, RegistryEvent>({
  type: plain(({ type }) => type),
  timestamp: instant(({ at }) => at),
  sequence: ({ sequence }) => String(sequence),
  actor: plain(({ actor }) => actor),
  data: serializeData,
});
