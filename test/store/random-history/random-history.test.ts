/**
 * Random histories of all operations, each step checked by what it did to the rows: a few, always the same. A
 * failure prints its seed and path: HISTORY_SEED=1 HISTORY_PATH=2 tells it step by step.
 */
import { testHistories } from './histories.ts';

testHistories(2, 3);
