/**
 * Random histories of all operations, each step checked by what it did to the rows: a few, always the same.
 * With HISTORY_RUNS=500 they are others, as in the long tests. A failure prints its seed and path:
 * HISTORY_SEED=1 HISTORY_PATH=2 tells it step by step and makes it smaller.
 */
import { testHistories } from './histories.ts';

testHistories(14, 3);
