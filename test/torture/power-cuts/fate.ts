/** What a power cut does to changes that were not synced. */
import type { Fate } from './disk.ts';

/** One cut: of what was not synced nothing is left, all of it, what came first, or some by chance. */
export function createFate(random: () => number): Fate {
  const kind = Math.floor(random() * 5);
  const chance = random();
  const share = random();
  return {
    of(index, count) {
      if (kind === 0) return 'lost';
      if (kind === 1) return 'kept';
      const limit = Math.floor(chance * (count + 1));
      if (kind === 2) return index < limit ? 'kept' : index === limit ? 'torn' : 'lost';
      if (random() < chance) return kind === 3 ? 'kept' : 'torn';
      return 'lost';
    },
    keepsSector: () => random() < share,
  };
}
