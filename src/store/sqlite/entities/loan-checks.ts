/** Whether loans and payments agree with each other: for `check`, as they read every row. */
import type { CountCheck } from '../lists/count-checks.ts';

/** Each finds one that is wrong. */
export const LOAN_CHECKS: readonly CountCheck[] = [
  {
    name: 'paid amounts of loans',
    sql: `SELECT l.id, l.paid_amount_minor AS paid, l.opening_balance_minor AS opening_balance,
        coalesce(p.recorded, 0) AS recorded
      FROM loans l LEFT JOIN (SELECT loan_id, sum(amount_minor) AS recorded FROM payments
        WHERE status = 'recorded' GROUP BY loan_id) p ON p.loan_id = l.id
      WHERE l.paid_amount_minor <> l.opening_balance_minor + coalesce(p.recorded, 0) LIMIT 1`,
  },
  {
    name: 'cooperatives of loans',
    sql: `SELECT l.id, l.cooperative_id FROM loans l CROSS JOIN members m ON m.id = l.member_id
      WHERE l.cooperative_id <> m.cooperative_id LIMIT 1`,
  },
  {
    name: 'cooperatives of payments',
    sql: `SELECT p.id, p.cooperative_id FROM payments p CROSS JOIN loans l ON l.id = p.loan_id
      WHERE p.cooperative_id <> l.cooperative_id LIMIT 1`,
  },
];
