/** The few thousand cooperatives as other resources show them, cached: a lookup reads no row of theirs. */
import type { CooperativeSummary } from '../../domain/cooperatives.ts';
import type { Connection } from './connection/connection.ts';
import type { ReadSnapshot } from './connection/read-snapshot.ts';

export interface CooperativeSummaries {
  /** Called outside a write, after the snapshot was taken. */
  get(id: number): CooperativeSummary;
  /** Called by each write of a cooperative. */
  invalidate(): void;
}

export function openCooperativeSummaries(db: Connection, snapshot: ReadSnapshot): CooperativeSummaries {
  const select = db.prepare<[number], CooperativeSummary>(
    'SELECT id, code, name FROM cooperatives WHERE id = ?',
  );
  const cached = new Map<number, CooperativeSummary>();
  const invalidate = () => cached.clear();
  snapshot.onOutsideCommit(invalidate);
  return {
    invalidate,
    get(id) {
      let reference = cached.get(id);
      if (reference === undefined) {
        reference = select.get(id) as CooperativeSummary;
        cached.set(id, reference);
      }
      return reference;
    },
  };
}
