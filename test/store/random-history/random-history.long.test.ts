/** Random histories, the same at each run; `HISTORY_SEED` and `HISTORY_RUNS` try others. */
import { testHistories } from './histories.ts';

testHistories(12, 20_261_122);
