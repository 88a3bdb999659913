/** The few thousand cooperatives as other resources show them, cached: a lookup reads no row of theirs. */
import type { CooperativeReference } from '../../domain/cooperatives.ts';
import type { Connection } from './connection/connection.ts';
import type { ReadSnapshot } from './connection/read-snapshot.ts';

export interface CooperativeReferences {
  /** Called outside a write, after the snapshot was begun. */
  get(id: number): CooperativeReference;
  /** Called by each write of a cooperative. */
  invalidate(): void;
}

export function openCooperativeReferences(db: Connection, snapshot: ReadSnapshot): CooperativeReferences {
  const select = db.prepare<[number], CooperativeReference>(
    'SELECT id, code, name FROM cooperatives WHERE id = ?',
  );
  const cached = new Map<number, CooperativeReference>();
  const invalidate = () => cached.clear();
  snapshot.onOutsideCommit(invalidate);
  return {
    invalidate,
    get(id) {
      let reference = cached.get(id);
      if (reference === undefined) {
        reference = select.get(id) as CooperativeReference;
        cached.set(id, reference);
      }
      return reference;
    },
  };
}
