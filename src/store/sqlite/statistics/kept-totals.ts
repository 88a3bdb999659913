/** The sums of each cooperative, kept until something changes that they depend on. */
import { type CooperativeTotals, type Month, monthsUntil } from '../../../domain/statistics.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import type { Connection } from '../engine/connection.ts';
import { openChangedSince, PARTS, type Position } from './changed-since.ts';
import { openCooperativeTotals } from './cooperative-totals.ts';

type Totals = { -readonly [part in keyof CooperativeTotals]?: CooperativeTotals[part] };

/** Its methods are called in one snapshot, `follow` first. */
export class KeptTotals {
  private readonly changes: ReturnType<typeof openChangedSince>;
  private readonly compute: ReturnType<typeof openCooperativeTotals>;
  private readonly zone: TimeZone;
  private readonly kept = new Map<number, Totals>();
  private at: Position | undefined;
  private months: readonly Month[] = [];

  /** @param zone in which months and years begin */
  constructor(db: Connection, zone: TimeZone) {
    this.changes = openChangedSince(db);
    this.compute = openCooperativeTotals(db, zone);
    this.zone = zone;
  }

  /**
   * Forgets what is out of date in the snapshot.
   * @param now epoch seconds
   * @returns the last event, and whether anything may differ from what was last computed
   */
  follow(now: number): { readonly sequence: number; readonly isChanged: boolean } {
    const { at: before, kept } = this;
    const after = this.changes.position();
    const isSame =
      before?.epoch === after.epoch && before.sequence === after.sequence && before.change === after.change;
    if (!isSame) this.forgetChanged(before, after);
    this.at = after;
    const months = monthsUntil(now, this.zone);
    const isSameMonth = months[0]?.from === this.months[0]?.from;
    if (!isSameMonth) for (const totals of kept.values()) delete totals.production;
    this.months = months;
    return { sequence: after.sequence, isChanged: !isSame || !isSameMonth };
  }

  private forgetChanged(
    before: Position | undefined,
    after: ReturnType<KeptTotals['changes']['position']>,
  ): void {
    const areKnown =
      before !== undefined &&
      this.changes.since(before, after, (id, parts) => {
        const totals = this.kept.get(id);
        if (totals !== undefined) for (const part of parts) delete totals[part];
      });
    if (!areKnown) this.kept.clear();
  }

  has(id: number): boolean {
    const totals = this.kept.get(id);
    return totals !== undefined && PARTS.every((part) => totals[part] !== undefined);
  }

  /** Computes what is missing. */
  of(id: number): CooperativeTotals {
    const totals = this.kept.get(id) ?? {};
    totals.members ??= this.compute.members(id);
    totals.production ??= this.compute.production(id, this.months);
    totals.loans ??= this.compute.loans(id);
    totals.savings ??= this.compute.savings(id);
    this.kept.set(id, totals);
    return totals as CooperativeTotals;
  }
}
