/** Many random histories, the same at each run; `make histories` tries others. */
import { testHistories } from './histories.ts';

testHistories(100, 20_261_122);
