// Reproducible pseudo-randomness for what is measured: one independent stream of numbers per label.

export interface Random {
  /** @returns an integer from low to high, both included */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** @returns a new array of the items in random order */
  shuffled<T>(items: readonly T[]): T[];
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
  const shuffled = <T>(items: readonly T[]): T[] => {
    const mixed = [...items];
    for (let last = mixed.length - 1; last > 0; last--) {
      const other = int(0, last);
      [mixed[last], mixed[other]] = [mixed[other] as T, mixed[last] as T];
    }
    return mixed;
  };
  return { int, chance: (probability) => unit() < probability, pick, shuffled };
}
