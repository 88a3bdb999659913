/**
 * Which sums of which cooperatives are out of date since a moment: by the events, and for what belonged to
 * another cooperative or to an erased person, of which events do not tell, by the history.
 */
import { entityOfType, fieldsOfBits, typeOfCode } from '../../../domain/events.ts';
import type { CooperativeTotals } from '../../../domain/statistics.ts';
import type { Connection } from '../engine/connection.ts';

export type Part = keyof CooperativeTotals;
export const PARTS: readonly Part[] = ['members', 'production', 'loans', 'savings'];

/** How far the sums have followed. */
export interface Position {
  readonly epoch: string;
  /** Of the last event; 0 when nothing has happened yet. */
  readonly sequence: number;
  /** Id of the last change of a value. */
  readonly change: number;
}

interface Extent extends Position {
  readonly first: number | null;
}

type EventRow = [cooperativeId: number, type: number, fields: number];
type MovedRow = { readonly old: number | null; readonly new: number | null };

const SINCE = 'what happened since the last statistics, outside the event loop';

/** Both are called in one snapshot. */
export function openChangedSince(db: Connection) {
  const extent = db.prepare<[], Extent>(
    `SELECT epoch, (SELECT min(sequence) FROM events) AS first,
       (SELECT coalesce(max(sequence), 0) FROM events) AS sequence,
       (SELECT coalesce(max(id), 0) FROM changes) AS change FROM feed WHERE id = 1`,
    'the ends of the keys',
  );
  const events = db.prepareTuples<[after: number], EventRow>(
    'SELECT DISTINCT cooperative_id, type, fields FROM events WHERE sequence > ?',
    SINCE,
  );
  const moved = db.prepare<[after: number], MovedRow>(
    `SELECT DISTINCT old, new FROM changes WHERE id > ? AND field = 'cooperative_id'`,
    SINCE,
  );

  return {
    position: (): Extent => extent.get() as Extent,

    /**
     * @param report is called with each cooperative and its parts that are out of date
     * @returns whether that is all; else everything is out of date
     */
    since(before: Position, { epoch, first, sequence }: Extent, report: Report): boolean {
      const isKept = epoch === before.epoch && sequence >= before.sequence;
      if (!isKept || (first !== null && first > before.sequence + 1)) return false;
      for (const [id, type, fields] of events.iterate(before.sequence)) report(id, partsOf(type, fields));
      for (const { old, new: now } of moved.all(before.change)) {
        // An erasure has cleared it.
        if (old === null && now === null) return false;
        for (const id of [old, now]) if (id !== null) report(id, PARTS);
      }
      return true;
    },
  };
}

type Report = (cooperativeId: number, parts: readonly Part[]) => void;

const SUMMARIES: { readonly [field: string]: Part } = {
  production_summary: 'production',
  savings_summary: 'savings',
};

function partsOf(type: number, fields: number): readonly Part[] {
  const entity = entityOfType(type);
  if (entity === 'loan') return ['loans'];
  // A payment that changes a loan also appends an event of the loan.
  if (entity !== 'member') return [];
  if (typeOfCode(type) === 'member.created') return ['members'];
  if (typeOfCode(type) === 'member.deleted') return PARTS;
  return [...new Set(fieldsOfBits('member', fields).map((field) => SUMMARIES[field] ?? 'members'))];
}
