/** The events of one import, or of the undo of one, taken together: they follow each other. */
import type { Visible } from '../../../domain/access/visible.ts';
import { actorCode, type EventType, type RegistryEvent, typeOfCode } from '../../../domain/events.ts';
import type { ImportRange } from '../../contract/events.ts';
import type { Connection } from '../engine/connection.ts';
import { isInGroupsSql, toGroupsParameter } from '../lists/list-pages.ts';

export interface ImportEvents {
  findImport(event: RegistryEvent): ImportRange | undefined;
  /** Adds to the counts what is seen of the events from one number through another. */
  addCounts(counts: Map<EventType, number>, first: number, last: number, visible: Visible): void;
}

/** Both are called inside a read snapshot. */
export function openImportEvents(db: Connection): ImportEvents {
  const selectRange = db.prepare<[actor: number], ImportRange>(
    'SELECT first_sequence AS first, last_sequence AS last FROM operation_events WHERE actor = ?',
  );
  const isImport = db.prepare<[id: number]>('SELECT 1 FROM imported_files WHERE operation_id = ?');
  const countTypes = db.prepareTuples<
    [{ first: number; last: number; cooperatives: string | null }],
    [type: number, count: number]
  >(
    `SELECT type, count(*) FROM events WHERE sequence BETWEEN @first AND @last
       AND ${isInGroupsSql('cooperative_id')} GROUP BY type`,
    'as many events as its caller asks for',
  );
  return {
    findImport({ actor }) {
      const [kind, id] = actor.split(':');
      if (kind !== 'import' && (kind !== 'undo' || isImport.get(Number(id)) === undefined)) return undefined;
      return selectRange.get(actorCode(actor));
    },
    addCounts(counts, first, last, visible) {
      const cooperatives = toGroupsParameter(visible ?? undefined);
      for (const [code, count] of countTypes.all({ first, last, cooperatives })) {
        const type = typeOfCode(code);
        counts.set(type, (counts.get(type) ?? 0) + count);
      }
    },
  };
}
