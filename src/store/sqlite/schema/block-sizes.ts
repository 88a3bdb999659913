/** Blocks of ids for which rows are counted: a page is found by adding up a few hundred counts. */
export const SMALL_BLOCK = 256;
export const LARGE_BLOCK = 65_536;
