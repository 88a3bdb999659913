/**
 * Addresses from which keys are refused again and again (docs/operating.md#log). They are counted and named,
 * never refused: behind one address there may be others, with valid keys.
 */

/** So many refusals within a minute are worth a line in the log. */
export const OFTEN = 100;
const MINUTE_MS = 60_000;
/** An address with more than one in so many refusals of a minute is found, however many others there are. */
const MOST_ADDRESSES = 1_000;

export class RefusedAddresses {
  private readonly counts = new Map<string, number>();
  private readonly named = new Set<string>();
  private sinceMs = Number.NEGATIVE_INFINITY;

  /**
   * @param nowMs monotonic milliseconds
   * @returns whether the address now has been refused often, true once in a minute
   */
  count(address: string, nowMs: number): boolean {
    if (nowMs - this.sinceMs >= MINUTE_MS) {
      this.sinceMs = nowMs;
      this.counts.clear();
      this.named.clear();
    }
    const count = this.counts.get(address);
    if (count === undefined && this.counts.size >= MOST_ADDRESSES) this.countDown();
    else this.counts.set(address, (count ?? 0) + 1);
    if ((count ?? 0) + 1 < OFTEN || this.named.has(address)) return false;
    this.named.add(address);
    return true;
  }

  /** Takes one from each, as from the newcomer: only what comes often stays (Misra and Gries, 1982). */
  private countDown(): void {
    for (const [address, count] of this.counts) {
      if (count === 1) this.counts.delete(address);
      else this.counts.set(address, count - 1);
    }
  }
}
