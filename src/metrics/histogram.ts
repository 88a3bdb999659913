/** Counts of values by bucket. */
import { type Distribution, declarationOf, type MetricName } from './declarations.ts';

/** Observing allocates nothing: a lookup takes 100 µs, and is to take no more because it is counted. */
export class Histogram {
  private readonly bounds: readonly number[];
  /** By bucket, then the sum. */
  private readonly numbers: Float64Array;

  constructor(name: MetricName) {
    this.bounds = declarationOf(name).bounds ?? [];
    this.numbers = new Float64Array(this.bounds.length + 2);
  }

  observe(value: number): void {
    const { bounds, numbers } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    (numbers[bucket] as number)++;
    (numbers[bounds.length + 1] as number) += value;
  }

  read(): Distribution {
    return { counts: [...this.numbers.subarray(0, -1)], sum: this.numbers.at(-1) ?? 0 };
  }
}
