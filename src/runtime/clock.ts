/** Time, passed in as a dependency, so that tests can set it. */

export interface Clock {
  /** Wall time in epoch milliseconds; it may step back. */
  now(): number;
  /** Milliseconds of a clock that never steps back, from an arbitrary start. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Whole epoch seconds of now: the precision in which the registry keeps instants. */
export const nowSeconds = (clock: Clock): number => Math.floor(clock.now() / 1000);
