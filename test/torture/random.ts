/** Chances that are the same in each run with the same seed. */

/** @returns a number from 0 up to 1 at each call */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
