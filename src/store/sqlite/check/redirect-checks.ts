/** Whether former numbers and merged members lead to what is there: for `check`. */
import type { CountCheck } from '../lists/count-checks.ts';

/** Each finds a row that is wrong; none shows a national ID. */
export const REDIRECT_CHECKS: readonly CountCheck[] = [
  {
    name: 'replaced national IDs',
    sql: `SELECT r.correction_id FROM replaced_identity_cards r WHERE r.ended_by IS NULL AND (
        EXISTS (SELECT 1 FROM members m WHERE m.identity_card = r.old)
        OR NOT EXISTS (SELECT 1 FROM members m WHERE m.identity_card = r.new)
        OR EXISTS (SELECT 1 FROM former_identity_cards n WHERE n.old = r.new))
      LIMIT 1`,
  },
  {
    name: 'merged members',
    sql: `SELECT r.id, r.into_id FROM former_members r WHERE (
        EXISTS (SELECT 1 FROM members m WHERE m.id = r.id)
        OR NOT EXISTS (SELECT 1 FROM members m WHERE m.id = r.into_id))
      LIMIT 1`,
  },
];
