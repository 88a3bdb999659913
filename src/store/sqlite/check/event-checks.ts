/** Whether the sequence of changes is complete and its rows can be read: for `check`. */
import {
  EVENT_ACTIONS,
  EVENT_ENTITIES,
  EVENT_FIELDS,
  EVENT_TYPES,
  typeCode,
} from '../../../domain/events.ts';
import type { CountCheck } from '../lists/count-checks.ts';

const UPDATED = EVENT_ACTIONS.indexOf('updated');
/** The first number that has a bit of no field. */
const BEYOND_FIELDS = EVENT_ENTITIES.map(
  (entity, i) => `WHEN ${i} THEN ${2 ** EVENT_FIELDS[entity].length}`,
).join(' ');

/** In the order of types. */
const ENTITIES = EVENT_ENTITIES.map((entity) => `'${entity}s'`).join(', ');
/** Told of by an event of the member, who may have been merged or moved since. */
const PARTS = "'production', 'savings'";
/** Of the newest change `c` of a row by a key: its event is not there, and was not too old. */
const IS_UNTOLD = `c.at >= coalesce((SELECT at FROM events ORDER BY sequence LIMIT 1), 0)
  AND NOT EXISTS (SELECT 1 FROM events e WHERE e.at = c.at
    AND iif(c.entity IN (${PARTS}), e.type = ${typeCode('member', 'updated')}, e.row_id = c.row_id
      AND json_array(${ENTITIES}) ->> (e.type / ${EVENT_ACTIONS.length}) = c.entity))`;

/** From the newest on: by the index of entities it would look for the event of every change. */
const LAST_BY_KEY = `SELECT id FROM changes WHERE actor GLOB 'key:*' AND +entity IN (${ENTITIES}, ${PARTS})
  ORDER BY id DESC LIMIT 1`;

/** Each finds what is wrong. */
export const EVENT_CHECKS: readonly CountCheck[] = [
  {
    name: 'sequence of events',
    sql: `SELECT * FROM (
        SELECT min(sequence) AS first, max(sequence) AS last, count(*) AS events FROM events)
      WHERE events <> coalesce(last - first + 1, 0)
        OR coalesce(last, 0) < (SELECT max(last_sequence) FROM operation_events)
        OR (SELECT ${IS_UNTOLD} FROM changes c WHERE c.id = (${LAST_BY_KEY}))`,
  },
  {
    name: 'epoch of events',
    sql: "SELECT count(*) AS epochs FROM feed WHERE epoch <> '' HAVING epochs <> 1",
  },
  {
    name: 'events of operations',
    sql: `SELECT o.actor FROM operation_events o
      CROSS JOIN events e ON e.sequence IN (o.first_sequence, o.last_sequence)
      WHERE e.actor <> o.actor LIMIT 1`,
  },
  {
    name: 'rows of events',
    sql: `SELECT sequence FROM events WHERE type NOT BETWEEN 0 AND ${EVENT_TYPES.length - 1}
        OR row_id < 1 OR cooperative_id < 1 OR actor < 0 OR fields < 0
        OR (fields > 0 AND type % ${EVENT_ACTIONS.length} <> ${UPDATED})
        OR fields >= CASE type / ${EVENT_ACTIONS.length} ${BEYOND_FIELDS} END
        OR (type <= ${typeCode('cooperative', 'deleted')} AND row_id <> cooperative_id)
      LIMIT 1`,
  },
];
