/**
 * Blocks of ids for which rows are counted, of each level: one block has 16 of the next smaller ones, so that
 * a row is found by adding up a few times 16 counts.
 */
export const BLOCK_SPANS = [65_536, 4_096, 256, 16] as const;
export const LARGE_BLOCK = BLOCK_SPANS[0];
export const SMALL_BLOCK = BLOCK_SPANS[3];
