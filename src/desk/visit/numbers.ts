/** Numbers that stand for persons and searches in addresses, which a browser keeps: one set per session. */

/** When there are more, the oldest are forgotten: whoever follows an old link is asked to search again. */
const MOST_KEPT = 10_000;

export class Numbers<T extends string> {
  private readonly values = new Map<number, T>();
  private readonly numbers = new Map<T, number>();
  private readonly next: () => number;

  /** @param next one that no other session has: its addresses must not mean somebody else there */
  constructor(next: () => number) {
    this.next = next;
  }

  /** The same value has the same number as long as it is kept. */
  of(value: T): number {
    const known = this.numbers.get(value);
    if (known !== undefined) return known;
    const number = this.next();
    this.values.set(number, value);
    this.numbers.set(value, number);
    const [oldest] = this.values;
    if (this.values.size > MOST_KEPT && oldest !== undefined) {
      this.values.delete(oldest[0]);
      this.numbers.delete(oldest[1]);
    }
    return number;
  }

  find(number: number): T | undefined {
    return this.values.get(number);
  }
}
