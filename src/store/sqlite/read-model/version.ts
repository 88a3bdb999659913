/** Which rules have written a column of the read model: what others have written is computed again. */
import type { TimeZone } from '../../../domain/values/date-time.ts';
import type { ReadModelFormat } from './columns.ts';

/**
 * Two characters for all rules that decide what is stored: the window, the loan history's length and order,
 * what is summed, how it is shown. A test compares what is stored for a sample with a fingerprint: whoever
 * changes a rule makes it fail, and takes the next version here.
 */
export const RULES_VERSION = '02';

/** Loans and savings are stored as they are sent, with date-times in the registry's time zone. */
export const createReadModelFormat = (zone: TimeZone): ReadModelFormat => ({
  version: RULES_VERSION + zone.suffix,
  zone,
});
