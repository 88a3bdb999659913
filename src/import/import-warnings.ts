/**
 * Warnings about an imported file. They come from `WARNING_STATEMENTS` (checks/find-warnings.ts),
 * `warnOfPeopleElsewhere` (checks/entries-of-another-cooperative.ts) and table/compare-totals.ts.
 */
import type { Text } from '../values/message.ts';

/**
 * Kinds of warnings (docs/import-reference.md#warnings). A file with a warning that `stops` is imported only
 * after the user has confirmed the warning.
 */
export const WARNINGS = {
  ended_status: { stops: true },
  many_changes: { stops: true },
  other_cooperative: { stops: true },
  moved: { stops: true },
  name_differs: { stops: true },
  near_duplicate: { stops: true },
  changed_id: { stops: true },
  newer_version: { stops: true },
  already_stored: { stops: true },
  removed: { stops: true },
  impossible_id: { stops: false },
  contradicted_id: { stops: false },
  born_after_registration: { stops: false },
  overpaid: { stops: false },
  beyond_amount: { stops: false },
  same_payment: { stops: false },
  same_entry: { stops: false },
  unusual_weight: { stops: false },
  before_registration: { stops: false },
  low_interest: { stops: false },
  after_death: { stops: false },
  other_name: { stops: false },
  end_before_start: { stops: false },
  totals_differ: { stops: false },
  totals_not_compared: { stops: false },
} as const;

export type WarningKind = keyof typeof WARNINGS;

export interface ImportWarning {
  readonly kind: WarningKind;
  readonly stops: boolean;
  /** Message for the operator, without personal data. */
  readonly message: Text;
  /** Number of lines. */
  readonly count: number;
  /** Lists the lines in order. Must be called before the file is written. */
  lines(): Iterable<number>;
}
