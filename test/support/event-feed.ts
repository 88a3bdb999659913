/** The sequence of changes as it is stored. */
import assert from 'node:assert/strict';
import {
  actorOfCode,
  entityOfType,
  fieldsOfBits,
  typeOfCode,
} from '../../src/registry/changes/event-types.ts';
import type { Connection } from './sqlite.ts';

interface StoredEvent {
  readonly sequence: number;
  readonly type: number;
  readonly row_id: number;
  readonly cooperative_id: number;
  readonly fields: number;
  readonly at: number;
  readonly actor: number;
}

/** Reads the events after one, as texts, and sees that no number is missing. */
export function readEvents(db: Connection, after: number): string[] {
  const events = db.raw.prepare('SELECT * FROM events WHERE sequence > ? ORDER BY sequence').all(after);
  return (events as StoredEvent[]).map((event, i) => {
    assert.equal(event.sequence, after + 1 + i);
    const fields = fieldsOfBits(entityOfType(event.type), event.fields);
    const where = `${event.row_id} of ${event.cooperative_id}`;
    return `${typeOfCode(event.type)} ${where} [${fields}] by ${actorOfCode(event.actor)}`;
  });
}

export const lastSequence = (db: Connection): number =>
  db.raw.prepare('SELECT coalesce(max(sequence), 0) FROM events').pluck().get() as number;
