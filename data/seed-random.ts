// Reproducible pseudo-randomness for the seed generator: one independent stream of numbers per label.

export interface Random {
  /** @returns a number in [0, 1) */
  unit(): number;
  /** @returns an integer from low to high, both included */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Picks the item of one of the pairs [item, weight], with a probability proportional to its weight. */
  weighted<T>(choices: readonly (readonly [T, number])[]): T;
  /** @returns a new array of the items in random order */
  shuffled<T>(items: readonly T[]): T[];
  /** @returns `count` distinct integers from low to high, ascending; all of them when there are fewer */
  distinct(count: number, low: number, high: number): number[];
}

function hashLabel(label: string): number {
  let hash = 0x811c9dc5;
  for (const character of label) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}

/** mulberry32: 32 bits of state and only integer operations, so it is the same on every machine. */
function unitStream(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

export function createRandom(label: string): Random {
  const unit = unitStream(hashLabel(label));
  const int = (low: number, high: number) => low + Math.floor(unit() * (high - low + 1));
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new Error(`nothing to pick from in ${label}`);
    return items[int(0, items.length - 1)] as T;
  };
  const weighted = <T>(choices: readonly (readonly [T, number])[]): T => {
    let left = unit() * choices.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [item, weight] of choices) {
      left -= weight;
      if (left < 0) return item;
    }
    return pick(choices)[0];
  };
  const shuffled = <T>(items: readonly T[]): T[] => {
    const mixed = [...items];
    for (let last = mixed.length - 1; last > 0; last--) {
      const other = int(0, last);
      [mixed[last], mixed[other]] = [mixed[other] as T, mixed[last] as T];
    }
    return mixed;
  };
  const distinct = (count: number, low: number, high: number): number[] => {
    const range = Array.from({ length: Math.max(0, high - low + 1) }, (_, index) => low + index);
    return shuffled(range)
      .slice(0, count)
      .sort((left, right) => left - right);
  };
  return { unit, int, chance: (probability) => unit() < probability, pick, weighted, shuffled, distinct };
}
