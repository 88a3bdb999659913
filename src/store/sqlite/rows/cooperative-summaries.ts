/** The few thousand cooperatives as other resources show them, cached: a lookup reads no row of theirs. */
import type { CooperativeSummary } from '../../../domain/membership/cooperatives.ts';
import type { Connection } from '../engine/connection.ts';
import type { ReadSnapshot } from '../engine/read-snapshot.ts';

export interface CooperativeSummaries {
  /** Called by a read of the snapshot, outside a write. */
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
      let summary = cached.get(id);
      if (summary === undefined) {
        summary = select.get(id) as CooperativeSummary;
        cached.set(id, summary);
      }
      return summary;
    },
  };
}
