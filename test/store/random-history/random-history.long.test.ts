/** Random histories that nobody has seen before. */
import { testHistories } from './histories.ts';

testHistories(300);
